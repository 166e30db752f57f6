// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests which files are read as calibrations, whatever they hold.
#include <sys/stat.h>
#include <unistd.h>

#include <opencv2/core.hpp>  // before gstcheck.h, which defines fail

#include "gst/sgmstereo/rectification/calibrationfile.h"
#include "tests/check/common/messagelog.h"
#include "tests/check/common/testcase.h"
#include "tests/check/sgmstereo/calibratedcameras.h"

using namespace check;
using cudavision::calibration_file_text;

namespace {

constexpr std::size_t max_bytes = std::size_t{4} << 20;

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += text;
  return all;
}

std::string indented_lines(int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  return all;
}

/// Returns texts in which the parser calls itself at least `levels` times, some of which hide that.
std::vector<std::string> nested_texts(int levels) {
  const std::string yaml = "%YAML:1.0\n---\n", xml = "<?xml version=\"1.0\"?>\n<opencv_storage>\n";
  std::vector<std::string> texts;
  for (const std::string& text :
       {"a: " + times(levels, "["), "a: " + times(levels, "{b: "), times(levels, "- "),
        times(levels, "-"), times(levels, "a: "), times(levels, "- a: "),
        "a: " + times(levels, "[ \"]\", "), "a: " + times(levels, "[ ']', "),
        "a:\n" + times(levels, " [ # ]\n"), "a:\n" + times(levels, " [ \r ]\n"),
        "a: " + times(levels, "[ !] b, "), "a: " + times(levels, "{ b]: "),
        "a]: [ c, " + times(levels, "d[, [")})
    texts.push_back(yaml + text + "\n");
  texts.push_back(yaml + indented_lines(std::min(levels, 2500)));
  for (const std::string& text :
       {times(levels, "["), times(levels, "{\"b\": "), times(levels, "[\"]\", "),
        times(levels, "[\"\\\"\", "), times(levels, "[ /*\n]*/ "), times(levels, "[ // ]\"\n"),
        times(levels, "{\"b\\\": ")})
    texts.push_back("{\"a\": " + text + "\n");
  for (const std::string& text :
       {times(levels, "<a>"), times(levels, "<a> <!-- </a> -->"), times(levels, "<a b=\"c\">\n")})
    texts.push_back(xml + text + "\n");
  return texts;
}

}  // namespace

// Opening a pipe would wait for a writer, and /dev/zero has no end.
TEST(test_files_that_are_not_regular) {
  Folder folder;
  const std::string pipe = folder.path("pipe.yml");
  fail_unless_equals_int(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& name : {pipe, std::string("/dev/zero"), std::string(g_get_tmp_dir())}) {
    expect_words(error_of([&] { read(name); }), {name, "not a regular file", "name a file with"});
    expect_words(error_of([&] { read(name, name); }), {name, "not a regular file"});
  }
  unlink(pipe.c_str());
}

TEST(test_large_files) {
  Folder folder;
  std::string text = calibration_file_text(CalibratedCameras().write(folder));
  text += "# ";
  text.append(max_bytes - text.size() - 1, 'x');
  text += '\n';
  read(folder.write("large.yml", text));
  expect_words(error_of([&] { read(folder.write("larger.yml", text + "\n")); }),
               {"larger.yml", "larger than the 4 MiB", "name a file with"});
}

// Without the check, the parser overflows the stack.
TEST(test_nested_texts) {
  for (const int levels : {80000, 600})
    for (const std::string& text : nested_texts(levels)) {
      Folder folder;
      expect_words(error_of([&] { read(folder.write("nested.yml", text.substr(0, max_bytes))); }),
                   {"nested.yml", "levels deep", "name a file with"});
    }
}

// Without these checks, OpenCV 4.6 reads past the end of these texts.
TEST(test_texts_that_end_early) {
  Folder folder;
  const std::string xml = calibration_file_text(CalibratedCameras().write(folder, "whole.xml"));
  for (std::size_t i = 5; i + 1 < xml.find_last_not_of('\n'); i += i < 400 ? 1 : 97)
    expect_words(error_of([&] { read(folder.write("cut.xml", xml.substr(0, i))); }), {"cut.xml"});
  for (const char* text :
       {"<?xml version=\"1.0\"?>\n<opencv_storage>\n<M1 type_id=", "<?xml", "<?xml version=\"1.0\"",
        "<?xml version=\"1.0\"?>\n<opencv_storage>\n<M1 a=b></M1></opencv_storage>"})
    expect_words(error_of([&] { read(folder.write("cut.xml", text)); }),
                 {"that OpenCV can read (line "});
  for (const char* name : {"stereo.yml", "stereo.xml", "stereo.json"}) {
    std::string text = calibration_file_text(CalibratedCameras().write(folder, name));
    text[text.size() / 2] = '\0';
    expect_words(error_of([&] { read(folder.write(name, text)); }),
                 {name, "bytes of value 0", "name a file with"});
  }
}

// Even long files of programs are not nested deeply, with two ends of lines and with a byte order
// mark.
TEST(test_texts_of_programs) {
  Folder folder;
  const std::string pairs = times(5000, "[-1.5, 2e-07], ") + "[0, 0]";
  for (const char* name : {"stereo.yml", "stereo.xml", "stereo.json"}) {
    calibration_file_text(CalibratedCameras().write(folder, name));
    calibration_file_text(write(folder, name, [](cv::FileStorage& storage) {
      storage << "corners"
              << "[";
      for (int i = 0; i < 1000; ++i)
        storage << std::vector<double>{-1.5, 2.5e-7} << "{"
                << "name"
                << "left.png"
                << "}";
      storage << "]";
    }));
  }
  for (const std::string& text :
       {"{\"path\": \"a/b\", \"corners\": [" + pairs + "]}", "corners: [" + pairs + "]\n",
        "corners:\r\n  [" + pairs + "]\r\n"}) {
    fail_unless(calibration_file_text(folder.write("pairs", text)) == text);
    fail_unless(calibration_file_text(folder.write("pairs", "\xef\xbb\xbf" + text)) == text);
  }
}
