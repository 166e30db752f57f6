// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests for leaks, with GStreamer's leak tracer and by the size of the process.
#define GST_USE_UNSTABLE_API
#include <gst/gst.h>
#include <gst/gsttracer.h>

#include "tests/check/common/faults/memoryuse.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

// gst_init(), which main() calls later, reads this variable.
[[maybe_unused]] const gboolean traced = g_setenv("GST_TRACERS", "leaks", TRUE);

Owned<GstTracer> leak_tracer() {
  Owned<GstTracer> found;
  GList* tracers = gst_tracing_get_active_tracers();
  for (GList* l = tracers; l != nullptr; l = l->next)
    if (found == nullptr && std::string(G_OBJECT_TYPE_NAME(l->data)) == "GstLeaksTracer")
      found.reset(GST_TRACER(gst_object_ref(l->data)));
  g_list_free_full(tracers, gst_object_unref);
  return found;
}

std::string unless_leak_tracer() {
  return leak_tracer() ? "" : "GStreamer's leak tracer (plug-in coretracers) is not installed";
}

class Tracking {
 public:
  Tracking() : tracer_(leak_tracer()) { g_signal_emit_by_name(tracer_, "activity-start-tracking"); }
  ~Tracking() { g_signal_emit_by_name(tracer_, "activity-stop-tracking"); }

  std::string left() {
    GstStructure* checkpoint = nullptr;
    g_signal_emit_by_name(tracer_, "activity-get-checkpoint", &checkpoint);
    fail_unless(checkpoint != nullptr);
    std::vector<std::string> created = names(checkpoint, "objects-created-list");
    for (const std::string& removed : names(checkpoint, "objects-removed-list"))
      for (auto it = created.begin(); it != created.end(); ++it)
        if (*it == removed) {
          created.erase(it);
          break;
        }
    gst_structure_free(checkpoint);
    std::string all;
    for (const std::string& name : created)
      all += name + "\n";
    return all;
  }

 private:
  static std::vector<std::string> names(const GstStructure* checkpoint, const char* field) {
    std::vector<std::string> found;
    const GValue* list = gst_structure_get_value(checkpoint, field);
    for (guint i = 0; list != nullptr && i < gst_value_list_get_size(list); ++i) {
      const GstStructure* entry = gst_value_get_structure(gst_value_list_get_value(list, i));
      const gchar* type = gst_structure_get_string(entry, "type-name");
      const gchar* address = gst_structure_get_string(entry, "address");
      found.push_back(std::string(type ? type : "?") + " " + (address ? address : "?"));
    }
    return found;
  }

  const Owned<GstTracer> tracer_;
};

std::string objects_left_by(const std::function<void()>& live, bool threads) {
  Tracking tracking;
  live();
  std::string left = tracking.left();
  if (threads)
    comes_true([&] { return (left = tracking.left()).empty(); });
  return left;
}

/// Expects that all objects made by the second call of live() are freed. The first call warms up.
void expect_nothing_left(const std::function<void()>& live, bool threads = false) {
  live();
  // Ends the tracking before the test can fail, because active tracking would block the next test.
  const std::string left = objects_left_by(live, threads);
  fail_unless(left.empty(), "objects still alive:\n%s", left.c_str());
}

void live_fully() {
  FilterHarness filter(tested().everything);
  for (const char* name : {"GRAY8", "NV12", "RGBA", "P010_10LE"}) {
    const FormatSpec& format = format_named(name);
    filter.accept_caps(format, 40, 30, colorimetry(format, false));
    for (const Property& property : {tested().working, tested().halfway, tested().idle}) {
      filter.set(property);
      filter.process(make_picture(format, 40, 30, Content::natural, 1), odd_layout);
    }
    filter.push(gst_buffer_new());
    filter.set(tested().wrong);
    filter.process(make_picture(format, 40, 30, Content::natural, 1));
    filter.set(tested().mended);
    filter.flush();
  }
  filter.send_caps("video/x-raw, format=AYUV, width=8, height=8, framerate=25/1");
  gst_element_set_state(filter.element(), GST_STATE_NULL);
  gst_element_set_state(filter.element(), GST_STATE_PLAYING);
}

void live_fully_in_stereo() {
  for (const char* output : {"disparity", "depth", "confidence"}) {
    StereoHarness stereo({{"output", output}, {"focal-length", "50"}, {"baseline", "100"}});
    stereo.open("depth");
    stereo.open("confidence");
    stereo.open("rectified");
    stereo.open("points");
    StereoFrames left = frames_from(0, 5), right = frames_from(0, 7);
    left[1].gap = true;
    right.erase(right.begin() + 2);
    stereo.run(left, right);
    stereo.flush();
    stereo.accept_gray(40, 30);
    const Picture picture = noise_picture(gray(), 40, 30, 1);
    stereo.process(picture, picture);
    stereo.set("p1", "200");
    stereo.process(picture, picture);
    stereo.set("colormap", "jet");
    stereo.set("p1", "20");
    stereo.process(picture, picture);
    stereo.close("confidence");
    stereo.process(picture, picture);
    gst_harness_push(stereo.left(), to_buffer(picture));  // is still unpaired at the end
    gst_element_set_state(stereo.element(), GST_STATE_NULL);
    gst_element_set_state(stereo.element(), GST_STATE_PLAYING);
  }
  StereoHarness packed(Properties(1, {"frame-packing", "side-by-side"}), false);
  packed.send_caps(packed.left(), caps_of(gray(), 31, 16));
  packed.run(frames_from(0, 3), {});
  packed.flush();
  StereoHarness broken;
  broken.accept_gray(32, 16);
  gst_harness_push(broken.left(), gst_buffer_new_allocate(nullptr, 3, nullptr));
  gst_harness_push(broken.right(), small_frame({0}));
  comes_true([&] { return broken.messages().count(GST_MESSAGE_ERROR) > 0; });
}

}  // namespace

TEST(test_stereo_leaves_nothing, .unless(unless_leak_tracer())) {
  // The thread of a GstTask drops its last reference only after the task was joined.
  expect_nothing_left(live_fully_in_stereo, true);
}

TEST(test_stereo_frees_buffers) {
  BufferCount buffers;
  StereoHarness stereo;
  stereo.accept_gray(32, 16);
  for (int i = 0; i < 50; ++i) {
    stereo.process(buffers.track(small_frame({0})), buffers.track(small_frame({0})));
    // The element releases the frames before it pushes the map.
    fail_unless_equals_int(buffers.alive(), 0);
  }
}

TEST(test_many_stereo_pairs, .unless(unless_sanitized())) {
  StereoHarness stereo(Properties(1, {"num-disparities", "32"}));
  stereo.accept_gray(32, 16);
  guint64 number = 0;
  const auto run = [&](int pairs) {
    for (int i = 0; i < pairs; ++i, ++number) {
      stereo.process_at(number * 40 * GST_MSECOND);
      if (number % 1000 == 0)
        stereo.messages().clear();
    }
  };
  run(full_run() ? 3000 : 1000);
  const int pairs = full_run() ? 20000 : 2000;
  expect_no_leak([&] { run(pairs); }, 1 << 20, G_MAXINT64, std::to_string(pairs) + " pairs");
}

TEST(test_no_object_is_left, .for_each_element().unless(unless_leak_tracer())) {
  expect_nothing_left(live_fully);
}

TEST(test_no_object_is_left_after_failed_start, .for_each_element().unless(unless_leak_tracer())) {
  expect_nothing_left([] {
    expect_failed_start(make_tested({{"backend", "cuda"}, {"cuda-device-id", "4095"}}).get());
  });
}

TEST(test_element_is_finalised, .for_each_element()) {
  bool gone = false;
  Owned<GstElement> element = make_tested();
  g_object_weak_ref(
      G_OBJECT(element.get()), +[](gpointer flag, GObject*) { *static_cast<bool*>(flag) = true; },
      &gone);
  gst_element_set_state(element, GST_STATE_PLAYING);
  gst_element_set_state(element, GST_STATE_NULL);
  element.reset();
  fail_unless(gone);
}

TEST(test_buffers_are_freed, .for_each_element()) {
  BufferCount buffers;
  const FormatSpec& format = format_named("I420");
  FilterHarness filter(tested().everything);
  filter.accept_caps(format, 40, 30, colorimetry(format, false));
  for (int i = 0; i < 10; ++i) {
    filter.set(i % 2 == 0 ? tested().working : tested().idle);
    filter.process(buffers.track(to_buffer(Picture(format, 40, 30))));
    fail_unless_equals_int(buffers.alive(), 0);
  }
}

TEST(test_many_frames, .for_each_element().unless(unless_sanitized())) {
  FilterHarness filter(tested().everything);
  if (tested().messages > 0)
    filter.set("message-interval", "40000000");
  filter.accept_caps(gray(), 32, 24);
  const Picture picture = make_picture(gray(), 32, 24, Content::natural, 1);
  const Owned<GstBuffer> frame(to_buffer(picture));
  const Picture expected = result(picture);
  guint64 number = 0;
  const auto run = [&](int frames) {
    for (int i = 0; i < frames; ++i, ++number) {
      const Owned<GstBuffer> out = filter.process(at(number * GST_MSECOND, gst_buffer_copy(frame)));
      if (number % 1000 == 0) {
        expect_picture(from_buffer(out, gray(), 32, 24), expected,
                       "frame " + std::to_string(number));
        filter.messages().clear();
      }
    }
  };
  run(full_run() ? 20000 : 2000);
  const int frames = full_run() ? 100000 : 8000;
  expect_no_leak([&] { run(frames); }, 1 << 20, 1 << 20, std::to_string(frames) + " frames");
}
