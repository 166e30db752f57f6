// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests cudasgmstereo with frames of changing size or depth, and with a camera that ends.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

/// A pipeline with cudasgmstereo e. Counts frames by their caps, at the elements count and count2.
class Pipeline {
 public:
  explicit Pipeline(const std::string& description)
      : pipeline_(new_pipeline(description)), messages_(pipeline_) {
    set_property(element("e").get(), "backend", test_backend());
    for (const char* name : {"count", "count2"})
      if (const Owned<GstElement> counted = element(name))
        gst_pad_add_probe(pad_of(counted, "sink").get(), GST_PAD_PROBE_TYPE_BUFFER, count, this,
                          nullptr);
  }
  ~Pipeline() { gst_element_set_state(pipeline_, GST_STATE_NULL); }

  Owned<GstElement> element(const char* name) const { return element_in(pipeline_, name); }

  void play() { gst_element_set_state(pipeline_, GST_STATE_PLAYING); }

  std::string run() {
    play();
    constexpr auto ends = static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    wait_until([&] { return messages_.count(ends) > 0; }, "EOS or an error");
    return messages_.text(GST_MESSAGE_ERROR);
  }

  void run_to_eos() {
    const std::string error = run();
    fail_unless(error.empty(), "%s", error.c_str());
  }

  int frames(const std::string& caps, const std::string& at = "count") {
    const std::lock_guard lock(mutex_);
    return counts_[at + " " + caps];
  }

  void wait_for(int number, const std::string& caps) {
    std::unique_lock lock(mutex_);
    int& count = counts_["count " + caps];
    const int goal = count + number;
    const bool came = changed_.wait_for(lock, std::chrono::seconds(watchdog_seconds),
                                        [&] { return count >= goal; });
    lock.unlock();
    const std::string error = messages_.text(GST_MESSAGE_ERROR);
    fail_unless(came && error.empty(), "%s: %s", caps.c_str(),
                error.empty() ? "no frames" : error.c_str());
  }

  std::string warning() { return messages_.text(GST_MESSAGE_WARNING); }

  guint64 dropped(const char* property) const {
    guint64 number = 0;
    g_object_get(element("e").get(), property, &number, nullptr);
    return number;
  }

 private:
  static GstPadProbeReturn count(GstPad* pad, GstPadProbeInfo*, gpointer data) {
    auto* self = static_cast<Pipeline*>(data);
    const Owned<GstCaps> caps = current_caps(pad);
    const GstStructure* structure = gst_caps_get_structure(caps, 0);
    gint width = 0, height = 0;
    gst_structure_get_int(structure, "width", &width);
    gst_structure_get_int(structure, "height", &height);
    const std::string name = std::string(GST_ELEMENT_NAME(GST_PAD_PARENT(pad))) + " " +
                             gst_structure_get_string(structure, "format") + " " +
                             std::to_string(width) + "×" + std::to_string(height);
    const std::lock_guard lock(self->mutex_);
    ++self->counts_[name];
    self->changed_.notify_all();
    return GST_PAD_PROBE_OK;
  }

  const Owned<GstElement> pipeline_;
  MessageLog messages_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> counts_;
};

/// The short frame interval makes a change take little running time.
std::string gray_caps(int width, int height, const char* format = "GRAY8") {
  return std::string("video/x-raw,format=") + format + ",width=" + std::to_string(width) +
         ",height=" + std::to_string(height) + ",framerate=1000/1";
}

const std::string small = gray_caps(64, 32), large = gray_caps(96, 48);
const char* const small_map = "GRAY16_LE 64×32";
const char* const large_map = "GRAY16_LE 96×48";
const std::string matching = "cudasgmstereo name=e num-disparities=32 ! fakesink name=count ";

std::string source(int frames, const std::string& caps) {
  return "videotestsrc num-buffers=" + std::to_string(frames) + " ! " + caps + " ! ";
}

void set_caps(const Pipeline& pipeline, const char* element, const std::string& text) {
  g_object_set(pipeline.element(element).get(), "caps", caps_from(text).get(), nullptr);
}

/// A videoscale with frames of 48×16 feeds one pad, a camera with frames of 32×16 the other pad.
class ScalerBesideCamera {
 public:
  explicit ScalerBesideCamera(bool scaler_left) : bin_(gst_pipeline_new(nullptr)) {
    const Owned<GstElement> element = make_element("cudasgmstereo", {{"num-disparities", "32"}});
    GstElement* scaler = gst_element_factory_make("videoscale", nullptr);
    gst_bin_add_many(GST_BIN(bin_.get()), scaler, element.get(), nullptr);
    fail_unless(
        gst_element_link_pads(scaler, "src", element, scaler_left ? "sink_left" : "sink_right"));
    scaler_.reset(gst_harness_new_with_element(scaler, "sink", nullptr));
    camera_.reset(
        gst_harness_new_with_element(element, scaler_left ? "sink_right" : "sink_left", "src"));
    gst_pad_add_probe(pad_of(element, scaler_left ? "sink_left" : "sink_right").get(),
                      GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, query_arrived, this, nullptr);
    gst_element_set_state(bin_, GST_STATE_PLAYING);
  }
  ~ScalerBesideCamera() { gst_element_set_state(bin_, GST_STATE_NULL); }

  void start_scaler() { start(scaler_, 48); }
  /// Waits until the scaler has queried the caps that it may send.
  void wait_for_scaler() {
    wait_until([&] { return asked_.load(); }, "the scaler to ask for caps");
  }
  void start_camera() { start(camera_, 32); }
  /// The pads are live. At such late running times, a frame does not wait for its partner.
  void push_to_scaler(GstClockTime time) { push(scaler_, 48, GST_SECOND * 100 + time); }
  void push_to_camera(GstClockTime time) { push(camera_, 32, GST_SECOND * 100 + time); }
  Map pull() {
    Map map(wait_for_buffer(camera_));
    fail_unless(map != nullptr, "no map came out");
    return map;
  }

 private:
  static void start(GstHarness* harness, int width) {
    fail_unless(send_caps(harness->srcpad, caps_of(gray(), width, 16)));
  }
  static void push(GstHarness* harness, int width, GstClockTime time) {
    const Picture picture = noise_picture(gray(), width, 16, 1);
    fail_unless_equals_int(gst_harness_push(harness, at(time, to_buffer(picture))), GST_FLOW_OK);
  }

  static GstPadProbeReturn query_arrived(GstPad*, GstPadProbeInfo* info, gpointer self) {
    GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
    GstCaps* filter = nullptr;
    if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS)
      gst_query_parse_caps(query, &filter);
    if (filter != nullptr)
      static_cast<ScalerBesideCamera*>(self)->asked_ = true;
    return GST_PAD_PROBE_OK;
  }

  std::atomic<bool> asked_{false};
  const Owned<GstElement> bin_;
  Owned<GstHarness> scaler_;
  Owned<GstHarness> camera_;
};

}  // namespace

// Both cameras change at the same time, or the right camera ten frames later.
TEST(test_concats, .times(4)) {
  const int later = index == 3 ? 10 : 0;
  Pipeline pipeline(matching + source(20, small) + "l. " + source(20 + 2 * later, large) + "l. " +
                    source(20 + later, small) + "r. " + source(20 + later, large) +
                    "r. concat name=l ! e.sink_left concat name=r ! e.sink_right");
  pipeline.run_to_eos();
  fail_unless_equals_int(pipeline.frames(small_map), 20);
  fail_unless_equals_int(pipeline.frames(large_map), 20 + later);
  fail_unless_equals_uint64(pipeline.dropped("dropped-left"), later);
  fail_unless_equals_uint64(pipeline.dropped("dropped-right"), later);
}

TEST(test_two_capsfilters, .times(2)) {
  const std::string other = index == 0 ? large : gray_caps(64, 32, "GRAY16_LE");
  const char* const other_map = index == 0 ? large_map : small_map;
  Pipeline pipeline(matching + "videotestsrc ! capsfilter name=l caps=" + small +
                    " ! e.sink_left videotestsrc ! capsfilter name=r caps=" + small +
                    " ! e.sink_right");
  pipeline.play();
  pipeline.wait_for(10, small_map);
  for (int i = 0; i < 8; ++i) {
    const bool left_first = i % 4 < 2;
    set_caps(pipeline, left_first ? "l" : "r", i % 2 == 0 ? other : small);
    set_caps(pipeline, left_first ? "r" : "l", i % 2 == 0 ? other : small);
    pipeline.wait_for(10, i % 2 == 0 ? other_map : small_map);
  }
}

// Pairs of unequal size are no error while the cameras change, unless the change takes too long.
TEST(test_unequal_pairs) {
  PlayingStereo stereo;
  const auto send = [&](GstHarness* harness, int width, GstClockTime time) {
    fail_unless(stereo.send_caps(harness, caps_of(gray(), width, 16)));
    const Picture picture = noise_picture(gray(), width, 16, 1);
    fail_unless_equals_int(gst_harness_push(harness, at(time, to_buffer(picture))), GST_FLOW_OK);
  };
  guint64 dropped = 0;
  const auto expect_dropped_pair = [&] {
    ++dropped;
    wait_until([&] { return stereo.number("dropped-right") == dropped; }, "a pair is dropped");
    fail_unless_equals_uint64(stereo.number("dropped-left"), dropped);
    fail_unless_equals_int(stereo.messages().complaints(), 0);
  };
  // Tests two changes, because each change restarts the timer.
  for (GstClockTime begin : {GST_SECOND, 20 * GST_SECOND}) {
    for (GstClockTime time = begin; time < begin + 5 * GST_SECOND; time += GST_SECOND) {
      send(stereo.left(), 48, time);
      send(stereo.right(), 32, time);
      expect_dropped_pair();
    }
    send(stereo.left(), 48, begin + 5 * GST_SECOND);
    send(stereo.right(), 48, begin + 5 * GST_SECOND);
    const Map map = stereo.pull();
    fail_unless_equals_uint64(map.pts(), begin + 5 * GST_SECOND);
    fail_unless(map.discont());
  }
  for (GstClockTime time = 40; time < 45; ++time) {
    send(stereo.left(), 48, time * GST_SECOND);
    send(stereo.right(), 32, time * GST_SECOND);
    expect_dropped_pair();
  }
  send(stereo.left(), 48, 45 * GST_SECOND);
  send(stereo.right(), 32, 45 * GST_SECOND);
  stereo.expect_error({"48×16", "32×16", "videoscale"});
}

// If the stream ends before the last pairs match, the element warns.
TEST(test_unequal_pairs_at_the_end) {
  Pipeline pipeline(matching + source(20, small) + "l. " + source(20, large) + "l. " +
                    source(40, small) + "e.sink_right concat name=l ! e.sink_left");
  set_property(pipeline.element("e").get(), "diagnostics-interval", "0");
  pipeline.run_to_eos();
  fail_unless_equals_int(pipeline.frames(small_map), 20);
  fail_unless_equals_uint64(pipeline.dropped("dropped-left"), 20);
  expect_words(pipeline.warning(), {"96×48", "64×32"});
}

// If the pictures differ in size or depth, the error names both values, in any order of caps.
TEST(test_two_different_pictures, .times(20)) {
  struct Case {
    std::string left, right;
    std::vector<std::string> words;
  };
  for (const Case& c : {Case{small, large, {"64×32", "96×48", "videoscale"}},
                        Case{small, gray_caps(64, 32, "GRAY16_LE"), {"8 bits", "16 bits"}}}) {
    Pipeline pipeline(matching + source(1, c.left) + "queue ! e.sink_left " + source(1, c.right) +
                      (index % 2 == 0 ? "queue ! " : "") + "e.sink_right");
    expect_words(pipeline.run(), c.words);
    fail_unless_equals_int(pipeline.frames(small_map) + pipeline.frames(large_map), 0);
  }
}

TEST(test_adapters, .times(20)) {
  const bool left_adapts = index % 2 == 0;
  const char* const queue = index % 4 < 2 ? "queue ! " : "";
  for (const auto& [other, adapter] :
       {std::pair{large, "videoscale ! "},
        std::pair{large, "videoconvert ! videoscale ! videoconvert ! "},
        std::pair{gray_caps(64, 32, "GRAY16_LE"), "videoconvert ! "}}) {
    Pipeline pipeline(matching + source(1, left_adapts ? other : small) +
                      (left_adapts ? adapter : "") + queue + "e.sink_left " +
                      source(1, left_adapts ? small : other) + (left_adapts ? "" : adapter) +
                      "queue ! e.sink_right");
    pipeline.run_to_eos();
    fail_unless_equals_int(pipeline.frames(small_map), 1);
  }
}

// A scaler does not choose its size before the other camera's size is known.
TEST(test_scaler_waits) {
  for (bool scaler_left : {true, false}) {
    ScalerBesideCamera frames(scaler_left);
    std::thread scaler([&] {
      frames.start_scaler();
      frames.push_to_scaler(0);
    });
    frames.wait_for_scaler();
    frames.start_camera();
    frames.push_to_camera(0);
    fail_unless_equals_uint64(frames.pull().pts(), 100 * GST_SECOND);
    scaler.join();
  }
}

// If one thread feeds both pads, the scaler must choose a size at once and renegotiate later.
TEST(test_scaler_is_asked_again) {
  for (bool scaler_left : {true, false}) {
    ScalerBesideCamera frames(scaler_left);
    frames.start_scaler();
    frames.push_to_scaler(0);
    frames.start_camera();
    frames.push_to_camera(0);  // differs in size from the scaler's frame
    frames.push_to_scaler(40 * ms);
    frames.push_to_camera(40 * ms);
    fail_unless_equals_uint64(frames.pull().pts(), 100 * GST_SECOND + 40 * ms);
  }
}

// A recording that shares a tee with the element gets all frames of its camera.
TEST(test_recording_beside, .times(2)) {
  const bool left_ends = index == 0;
  Pipeline pipeline(matching + source(400, small) + "tee name=t ! queue ! e.sink_" +
                    (left_ends ? "right" : "left") + " t. ! queue ! fakesink name=count2 " +
                    source(40, small) + "queue ! e.sink_" + (left_ends ? "left" : "right"));
  pipeline.run_to_eos();
  fail_unless_equals_int(pipeline.frames("GRAY8 64×32", "count2"), 400);
  fail_unless_equals_int(pipeline.frames(small_map), 40);
  // The element may lag behind the recording.
  const char* counter = left_ends ? "dropped-right" : "dropped-left";
  wait_until([&] { return pipeline.dropped(counter) == 360; }, "all later frames are dropped");
}
