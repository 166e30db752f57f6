// SPDX-License-Identifier: LGPL-2.1-or-later
// Gives cudasgmstereo calibration files that are damaged, endless or not regular files; see life.h.
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/check/common/filterharness.h"
#include "tests/fuzz/actions.h"
#include "tests/fuzz/life.h"

using namespace check;

namespace {

constexpr char json[] = R"({"image_width": 80, "image_height": 60,
"M1": [[70.0, 0, 39.0], [0, 70.0, 30.0], [0, 0, 1]], "D1": [-0.3, 0.1, 0.0, 0.0, 0.0],
"M2": [[71.0, 0, 40.0], [0, 71.0, 29.0], [0, 0, 1]], "D2": [-0.2, 0.1, 0.0, 0.0, 0.0],
"R": [[0.9998, 0.0, 0.019999], [0.0, 1.0, 0.0], [-0.019999, 0.0, 0.9998]],
"T": [-60.0, 2.0, 1.0]})";

constexpr char yaml[] = R"(%YAML:1.0
---
image_size: [ 80, 60 ]
M1: !!opencv-matrix
   rows: 3
   cols: 3
   dt: d
   data: [ 70., 0., 39., 0., 70., 30., 0., 0., 1. ]
D1: [ -0.3, 0.1, 0., 0., 0. ]
M2: !!opencv-matrix
   rows: 3
   cols: 3
   dt: d
   data: [ 71., 0., 40., 0., 71., 29., 0., 0., 1. ]
D2: [ -0.2, 0.1, 0., 0., 0. ]
R: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
T: [ -60., 2., 1. ]
)";

constexpr char xml[] = R"(<?xml version="1.0"?>
<opencv_storage>
<image_size>80 60</image_size>
<M1 type_id="opencv-matrix"><rows>3</rows><cols>3</cols><dt>d</dt>
<data>70. 0. 39. 0. 70. 30. 0. 0. 1.</data></M1>
<D1>-0.3 0.1 0. 0. 0.</D1>
<M2 type_id="opencv-matrix"><rows>3</rows><cols>3</cols><dt>d</dt>
<data>71. 0. 40. 0. 71. 29. 0. 0. 1.</data></M2>
<D2>-0.2 0.1 0. 0. 0.</D2>
<R>1 0 0 0 1 0 0 0 1</R>
<T>-60. 2. 1.</T>
</opencv_storage>
)";

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i)
    all += text;
  return all;
}

class CalibrationLife final : public fuzz::Life {
 public:
  CalibrationLife(unsigned seed, BufferCount& buffers) : Life(seed, buffers) {
    gchar* folder = g_dir_make_tmp("fuzz-calibration-XXXXXX", nullptr);
    folder_ = folder;
    g_free(folder);
    file_ = folder_ + "/calibration";
  }

  ~CalibrationLife() override {
    g_chmod(file_.c_str(), 0600);
    g_remove(file_.c_str());
    g_rmdir(folder_.c_str());
  }

  void run() override {
    static const fuzz::Action<CalibrationLife> actions[] = {
        {"a good file", 1, &CalibrationLife::good},
        {"a damaged file", 20, &CalibrationLife::damaged},
        {"nested brackets", 3, &CalibrationLife::nested},
        {"an endless number or name", 2, &CalibrationLife::long_token},
        {"a FIFO", 1, &CalibrationLife::fifo},
        {"a device, a folder or a file of the system", 3, &CalibrationLife::other_file},
        {"a huge file", 1, &CalibrationLife::huge},
        {"a link to itself", 1, &CalibrationLife::loop},
        {"a list of names", 2, &CalibrationLife::list}};
    for (int step = 0; step < 4; ++step) {
      value_ = file_;
      g_remove(file_.c_str());
      act(*this, *this, actions);
      start();
    }
  }

 private:
  void write(const std::string& text) {
    fail_unless(g_file_set_contents(file_.c_str(), text.data(), text.size(), nullptr));
  }

  void good() {
    must_work_ = true;
    write(one_of({json, yaml, xml}));
  }

  void damaged() {
    std::string text = one_of({json, yaml, xml});
    for (int i = below(4); i >= 0; --i)
      damage(text);
    write(text);
  }

  void damage(std::string& text) {
    if (text.empty())
      return;
    const auto anywhere = [&] { return any_number() % text.size(); };
    const std::size_t at = anywhere();
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, anywhere());
        break;
      case 2:
        text.insert(at, text.substr(anywhere(), 40));
        break;
      case 3:
        text.insert(at, one_of({"1e999", "nan", ".inf", "-", "99999999999", "[", "]", "{", "}", ":",
                                "<", ">", "&#0;", "\"", "!!binary", "%", "\t", "\r", "\n"}));
        break;
      case 4:
        text.insert(at, 1, '\0');
        break;
      default:
        text.resize(at);
    }
  }

  void nested() {
    const int depth = one_of({30, 1000, 80000, 1000000});
    const bool list = below(2) == 0;
    const std::string open = repeated(list ? "[" : "{a:", depth),
                      close = below(2) == 0 ? repeated(list ? "]" : "}", depth) : "";
    switch (below(4)) {
      case 0:
        return write("{\"M1\": " + open + close + "}");
      case 1:
        return write("%YAML:1.0\n---\nM1: " + open + close + "\n");
      case 2:
        return write("M1: " + open + close + "\n");
      default:
        write("<?xml version=\"1.0\"?>\n<opencv_storage>" + repeated("<a>", depth));
    }
  }

  void long_token() {
    const std::string token(one_of({5000, 2000000}), one_of({'1', 'a', ' ', '\n', '"'}));
    write(one_of({"{\"M1\": ", "%YAML:1.0\n---\nM1: ", "%YAML:1.0\n---\n"}) + token);
  }

  void fifo() { fail_unless(mkfifo(file_.c_str(), 0600) == 0); }

  void other_file() {
    value_ =
        one_of({"/dev/zero", "/dev/urandom", "/dev/null", "/dev/tty", "/dev/stdin", "/", "/proc",
                "/proc/self/mem", "/proc/self/cmdline", "/proc/kmsg", "/nowhere", ",", ",,,"});
  }

  void huge() {
    write(json);
    fail_unless(truncate(file_.c_str(), off_t(1) << 40) == 0);
  }

  void loop() { fail_unless(symlink(file_.c_str(), file_.c_str()) == 0); }

  void list() {
    damaged();
    value_ = one_of({file_ + "," + file_, file_ + ",/dev/zero", "/nowhere," + file_});
  }

  void start() {
    const Owned<GstElement> element = make_element("cudasgmstereo");
    MessageLog messages(element);
    if (must_work_ || below(2) == 0) {
      set_property(element, "calibration", value_);
    } else {
      set_property(element, "calibration-left", value_);
      set_property(element, "calibration-right", value_);
    }
    const bool works = gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE;
    fail_unless(works || messages.count(GST_MESSAGE_ERROR) == 1,
                "episode %u: no start, but %d errors", seed(), messages.count(GST_MESSAGE_ERROR));
#ifdef CUDAVISION_TEST_HAVE_OPENCV
    fail_unless(works || !must_work_, "episode %u: %s", seed(),
                messages.text(GST_MESSAGE_ERROR).c_str());
#endif
    must_work_ = false;
    gst_element_set_state(element, GST_STATE_NULL);
  }

  std::string folder_, file_;
  std::string value_;  ///< current value of the property
  bool must_work_ = false;
};

}  // namespace

TEST(fuzz_calibration) {
  fuzz::run_episodes<CalibrationLife>();
}
