// SPDX-License-Identifier: LGPL-2.1-or-later
// Nothing that was made is left: GStreamer objects by its own leak tracer, memory by the process's
// size over 100 000 frames.
#define GST_USE_UNSTABLE_API
#include <gst/gst.h>
#include <gst/gsttracer.h>

#include <atomic>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

GstTracer* leak_tracer() {
  GstTracer* found = nullptr;
  GList* tracers = gst_tracing_get_active_tracers();
  for (GList* l = tracers; l != nullptr; l = l->next)
    if (found == nullptr && std::string(G_OBJECT_TYPE_NAME(l->data)) == "GstLeaksTracer")
      found = GST_TRACER(gst_object_ref(l->data));
  g_list_free_full(tracers, gst_object_unref);
  return found;
}

std::string unless_leak_tracer() {
  GstTracer* tracer = leak_tracer();
  if (tracer == nullptr)
    return "GStreamer's leak tracer (plug-in coretracers) is not installed";
  gst_object_unref(tracer);
  return "";
}

/// What the tracer saw being made and not being freed while it was alive, one line each.
class Tracking {
 public:
  Tracking() : tracer_(leak_tracer()) { g_signal_emit_by_name(tracer_, "activity-start-tracking"); }
  ~Tracking() {
    g_signal_emit_by_name(tracer_, "activity-stop-tracking");
    gst_object_unref(tracer_);
  }

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

  GstTracer* tracer_;
};

/// A life with everything in it: frames of several formats, messages, an error, a flush, a restart.
void live_fully() {
  FilterHarness filter(subject().everything);
  for (const char* name : {"GRAY8", "NV12", "RGBA", "P010_10LE"}) {
    const FormatSpec& format = format_named(name);
    filter.accept_caps(format, 40, 30, colorimetry(format, false));
    for (const Property& property : {subject().working, subject().halfway, subject().idle}) {
      filter.set(property);
      filter.process(make_picture(format, 40, 30, Content::natural, 1), odd_layout);
    }
    filter.push(gst_buffer_new());
    filter.set(subject().wrong);
    filter.process(make_picture(format, 40, 30, Content::natural, 1));
    filter.set(subject().mended);
    gst_harness_push_event(filter.harness(), gst_event_new_flush_start());
    gst_harness_push_event(filter.harness(), gst_event_new_flush_stop(TRUE));
  }
  filter.send_caps("video/x-raw, format=AYUV, width=8, height=8, framerate=25/1");
  gst_element_set_state(filter.element(), GST_STATE_NULL);
  gst_element_set_state(filter.element(), GST_STATE_PLAYING);
}

/// The same of the element with two inputs: pairs and packed frames, frames without partners, gaps,
/// refusals, a flush, an end, a restart, and an error.
void live_fully_in_stereo() {
  // All pads begin to flush before one of them stops: GstAggregator's thread must be at rest.
  const auto send_flush = [](StereoHarness& stereo) {
    for (const auto make :
         {gst_event_new_flush_start, +[] { return gst_event_new_flush_stop(TRUE); }})
      for (GstHarness* harness : {stereo.left(), stereo.right()}) {
        if (harness == nullptr)
          continue;
        GstEvent* event = make();
        gst_event_set_seqnum(event, 4711);
        gst_harness_push_event(harness, event);
      }
  };
  for (const char* output : {"disparity", "depth", "confidence"}) {
    StereoHarness stereo({{"output", output}, {"focal-length", "50"}, {"baseline", "100"}});
    StereoFrames left = frames_from(0, 5), right = frames_from(0, 7);
    left[1].gap = true;
    right.erase(right.begin() + 2);
    stereo.run(left, right);
    send_flush(stereo);
    stereo.accept_gray(40, 30);
    const Picture picture = noise_picture(format_named("GRAY8"), 40, 30, 1);
    stereo.process(picture, picture);
    stereo.set("p1", "200");
    stereo.process(picture, picture);
    stereo.set("colormap", "jet");
    stereo.set("p1", "20");
    stereo.process(picture, picture);
    gst_harness_push(stereo.left(), to_buffer(picture));  // waits at the end
    gst_element_set_state(stereo.element(), GST_STATE_NULL);
    gst_element_set_state(stereo.element(), GST_STATE_PLAYING);
  }
  StereoHarness packed(Properties(1, {"frame-packing", "side-by-side"}), false);
  packed.send_caps(packed.left(), caps_of(format_named("GRAY8"), 31, 16));
  packed.run(frames_from(0, 3), {});
  send_flush(packed);
  StereoHarness broken;
  broken.accept_gray(32, 16);
  gst_harness_push(broken.left(), gst_buffer_new_allocate(nullptr, 3, nullptr));
  gst_harness_push(broken.right(), small_frame({0}));
  for (int i = 0; i < 1000 && broken.messages().count(GST_MESSAGE_ERROR) == 0; ++i)
    g_usleep(1000);
}

}  // namespace

GST_START_TEST(test_stereo_leaves_nothing) {
  live_fully_in_stereo();
  Tracking tracking;
  live_fully_in_stereo();
  // The thread that a GstTask ran in lets go of it when the task has been joined already.
  std::string left = tracking.left();
  for (int i = 0; i < 400 && !left.empty(); ++i) {
    g_usleep(5000);
    left = tracking.left();
  }
  fail_unless(left.empty(), "left behind:\n%s", left.c_str());
}
GST_END_TEST

GST_START_TEST(test_stereo_frees_buffers) {
  static std::atomic<int> alive;
  alive = 0;
  const auto watched = [](GstBuffer* buffer) {
    ++alive;
    gst_mini_object_weak_ref(
        GST_MINI_OBJECT(buffer), +[](gpointer, GstMiniObject*) { --alive; }, nullptr);
    return buffer;
  };
  StereoHarness stereo;
  stereo.accept_gray(32, 16);
  for (int i = 0; i < 50; ++i) {
    stereo.process(watched(small_frame({0})), watched(small_frame({0})));
    // They go before the map does.
    fail_unless_equals_int(alive, 0);
  }
}
GST_END_TEST

GST_START_TEST(test_many_stereo_pairs) {
  StereoHarness stereo(Properties(1, {"num-disparities", "32"}));
  stereo.accept_gray(32, 16);
  std::size_t before = 0;
  constexpr int warm_up = 3000, pairs = 20000;
  for (int i = 0; i < warm_up + pairs; ++i) {
    if (i == warm_up)
      before = resident_bytes();
    const StereoFrame frame{static_cast<GstClockTime>(i) * 40 * GST_MSECOND};
    stereo.process(small_frame(frame), small_frame(frame));
    if (i % 1000 == 0)
      stereo.messages().clear();
  }
  const long long grown = static_cast<long long>(resident_bytes()) - static_cast<long long>(before);
  fail_unless(grown < 1 << 20, "20000 pairs left %lld bytes", grown);
}
GST_END_TEST

GST_START_TEST(test_no_object_is_left) {
  live_fully();  // what is made once and kept (types' quarks, debug categories, a CUDA library)
  Tracking tracking;
  live_fully();
  const std::string left = tracking.left();
  fail_unless(left.empty(), "left behind:\n%s", left.c_str());
}
GST_END_TEST

GST_START_TEST(test_no_object_is_left_after_failed_start) {
  const auto fail_to_start = [] {
    GstElement* element = make_subject({{"backend", "cuda"}, {"cuda-device-id", "4095"}});
    MessageLog messages;
    gst_element_set_bus(element, messages.bus());
    fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED),
                           GST_STATE_CHANGE_FAILURE);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, nullptr);
    gst_object_unref(element);
  };
  fail_to_start();
  Tracking tracking;
  fail_to_start();
  const std::string left = tracking.left();
  fail_unless(left.empty(), "left behind:\n%s", left.c_str());
}
GST_END_TEST

GST_START_TEST(test_element_is_finalised) {
  GstElement* element = make_subject();
  gst_object_ref_sink(element);
  bool gone = false;
  g_object_weak_ref(
      G_OBJECT(element), +[](gpointer flag, GObject*) { *static_cast<bool*>(flag) = true; }, &gone);
  gst_element_set_state(element, GST_STATE_PLAYING);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_object_unref(element);
  fail_unless(gone);
}
GST_END_TEST

// The element keeps none of the frames that it was given or has given away.
GST_START_TEST(test_buffers_are_freed) {
  static int alive;
  alive = 0;
  const FormatSpec& format = format_named("I420");
  FilterHarness filter(subject().everything);
  filter.accept_caps(format, 40, 30, colorimetry(format, false));
  for (int i = 0; i < 10; ++i) {
    filter.set(i % 2 == 0 ? subject().working : subject().idle);
    GstBuffer* in = to_buffer(Picture(format, 40, 30));
    ++alive;
    gst_mini_object_weak_ref(
        GST_MINI_OBJECT(in), +[](gpointer, GstMiniObject*) { --alive; }, nullptr);
    gst_buffer_unref(filter.process(in));
    fail_unless_equals_int(alive, 0);
  }
}
GST_END_TEST

GST_START_TEST(test_hundred_thousand_frames) {
  const FormatSpec& format = format_named("GRAY8");
  FilterHarness filter(subject().everything);
  if (subject().messages > 0)
    filter.set("message-interval", "40000000");
  filter.accept_caps(format, 32, 24);
  const Picture picture = make_picture(format, 32, 24, Content::natural, 1);
  GstBuffer* frame = to_buffer(picture);
  const Picture expected = result(picture);
  std::size_t process_before = 0;
  long long card_before = 0;
  constexpr int warm_up = 20000, frames = 100000;
  for (int i = 0; i < warm_up + frames; ++i) {
    if (i == warm_up) {
      card_before = card_bytes();  // first: asking the driver's library takes memory of its own
      process_before = resident_bytes();
    }
    GstBuffer* in = gst_buffer_copy(frame);
    GST_BUFFER_PTS(in) = static_cast<GstClockTime>(i) * GST_MSECOND;
    GstBuffer* out = filter.process(in);
    if (i % 10000 == 0)
      expect_picture(from_buffer(out, format, 32, 24), expected, "frame " + std::to_string(i));
    gst_buffer_unref(out);
    if (i % 1000 == 0)
      filter.messages().clear();
  }
  const long long grown =
      static_cast<long long>(resident_bytes()) - static_cast<long long>(process_before);
  fail_unless(grown < 1 << 20, "100000 frames left %lld bytes", grown);
  fail_unless(card_bytes() - card_before < 1 << 20, "100000 frames left %lld bytes on the card",
              card_bytes() - card_before);
  gst_buffer_unref(frame);
}
GST_END_TEST

static Suite* check_leaks_suite() {
  Suite* suite = suite_create("leaks");
  for_each_subject(suite, "leaks", [&](TCase* tc) {
    tcase_set_timeout(tc, 300);
    ADD_TEST_UNLESS(tc, test_no_object_is_left, unless_leak_tracer());
    ADD_TEST_UNLESS(tc, test_no_object_is_left_after_failed_start, unless_leak_tracer());
    tcase_add_test(tc, test_element_is_finalised);
    tcase_add_test(tc, test_buffers_are_freed);
    ADD_TEST_UNLESS(tc, test_hundred_thousand_frames, unless_sanitized());
  });
  TCase* stereo = tcase_create("cudasgmstereo leaks");
  suite_add_tcase(suite, stereo);
  tcase_set_timeout(stereo, 300);
  ADD_TEST_UNLESS(stereo, test_stereo_leaves_nothing, unless_leak_tracer());
  tcase_add_test(stereo, test_stereo_frees_buffers);
  ADD_TEST_UNLESS(stereo, test_many_stereo_pairs, unless_sanitized());
  return suite;
}

int main(int argc, char** argv) {
  // GStreamer reads it while it is initialised.
  g_setenv("GST_TRACERS", "leaks", TRUE);
  gst_check_init(&argc, &argv);
  return gst_check_run_suite(check_leaks_suite(), "check_leaks", __FILE__);
}
