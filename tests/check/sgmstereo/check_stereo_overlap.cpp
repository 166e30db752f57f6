// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the order of pairs and events in cudasgmstereo with several pairs in flight.
#include <gst/video/gstvideopool.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "tests/check/common/streams/overlap.h"
#include "tests/check/common/streams/padsharness.h"

using namespace check;

namespace {

constexpr int pair_count = 24;

struct Cameras {
  std::atomic<int> left{0}, right{0};  ///< frames pushed so far
  std::atomic<bool> done{false};
};

/// Withholds pair n's buffer until pair n + 1 waits, so that pairs overlap on any device.
struct PatientPool {
  GstVideoBufferPool parent;
  const Cameras* cameras;
  int given;
};
struct PatientPoolClass {
  GstVideoBufferPoolClass parent_class;
};
GType patient_pool_get_type();
G_DEFINE_TYPE(PatientPool, patient_pool, GST_TYPE_VIDEO_BUFFER_POOL)

GstFlowReturn acquire_patiently(GstBufferPool* pool, GstBuffer** buffer,
                                GstBufferPoolAcquireParams* params) {
  auto* self = reinterpret_cast<PatientPool*>(pool);
  const GstFlowReturn flow =
      GST_BUFFER_POOL_CLASS(patient_pool_parent_class)->acquire_buffer(pool, buffer, params);
  if (flow != GST_FLOW_OK)
    return flow;
  const int needed = ++self->given + 1;
  const Cameras& cameras = *self->cameras;
  comes_true([&] { return cameras.done || (cameras.left >= needed && cameras.right >= needed); });
  return flow;
}

void patient_pool_class_init(PatientPoolClass* klass) {
  GST_BUFFER_POOL_CLASS(klass)->acquire_buffer = acquire_patiently;
}
void patient_pool_init(PatientPool*) {}

/// An element whose downstream offers a PatientPool, and the record of its output.
class StereoOverlap {
 public:
  /// `buffers`: maximum number of buffers of the pool (0: unlimited).
  explicit StereoOverlap(int frames_in_flight, guint buffers = 0, const Properties& more = {})
      : buffers_(buffers),
        stereo_(
            joined(joined(stereo_cameras, {{"frames-in-flight", std::to_string(frames_in_flight)}}),
                   more)) {
    answer_queries(stereo_.element(), GST_QUERY_ALLOCATION,
                   [this](GstQuery* query) { offer_pool(query); });
    g_object_set(stereo_.element(), "emit-signals", TRUE, nullptr);
    g_signal_connect(stereo_.element(), "samples-selected", G_CALLBACK(count_pair), this);
    const Owned<GstPad> src = pad_of(stereo_.element(), "src");
    gst_pad_add_probe(src,
                      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER |
                                                   GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
                      note, this, nullptr);
  }

  PadsHarness& stereo() { return stereo_; }

  /// Pushes frames from two threads. make(n) returns an event to push before pair n, or nullptr.
  using MakeEvent = std::function<GstEvent*(int pair)>;
  void feed(int first, int count, const MakeEvent& make = {}) {
    cameras_.done = false;
    std::thread left([&] { feed_from(stereo_.left(), cameras_.left, first, count, make); });
    std::thread right([&] { feed_from(stereo_.right(), cameras_.right, first, count, make); });
    left.join();
    right.join();
    cameras_.done = true;
  }
  /// Pushes caps, frames and EOS, and waits until EOS has come out.
  void feed_to_end(int count, const MakeEvent& make = {}) {
    stereo_.accept_gray();
    feed(0, count, make);
    stereo_.send_to_all(gst_event_new_eos);
    wait_until([&] { return ends_with("eos"); }, "EOS");
  }

  std::string sinks() {
    const std::lock_guard lock(mutex_);
    return arrivals_;
  }
  void expect(const std::string& expected) {
    const std::string got = sinks();
    fail_unless(got == expected, "%s", got.c_str());
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    arrivals_.clear();
  }
  int max_in_flight() const { return max_in_flight_; }
  using Look = std::function<void(int pair, GstBuffer* buffer)>;
  void on_pair(Look look) { look_ = std::move(look); }
  void answer(int pair, GstFlowReturn flow) {
    ending_pair_ = pair;
    ending_flow_ = flow;
  }
  GstFlowReturn last_flow() const { return last_flow_; }

 private:
  void offer_pool(GstQuery* query) {
    GstCaps* caps = nullptr;
    gst_query_parse_allocation(query, &caps, nullptr);
    GstVideoInfo info;
    if (!gst_video_info_from_caps(&info, caps))
      return;
    const Owned<GstBufferPool> pool(
        GST_BUFFER_POOL(gst_object_ref_sink(g_object_new(patient_pool_get_type(), nullptr))));
    auto* patient = reinterpret_cast<PatientPool*>(pool.get());
    patient->cameras = &cameras_;
    patient->given = started_;
    gst_query_add_allocation_pool(query, pool, static_cast<guint>(info.size), 0, buffers_);
  }

  void feed_from(GstHarness* camera, std::atomic<int>& pushed, int first, int count,
                 const MakeEvent& make) {
    for (int i = first; i < first + count; ++i) {
      if (GstEvent* event = make ? make(i) : nullptr)
        gst_harness_push_event(camera, event);
      const GstFlowReturn flow = gst_harness_push(camera, small_frame({i * 40 * ms}));
      if (flow != GST_FLOW_OK)
        last_flow_ = flow;
      ++pushed;
    }
  }

  static void count_pair(GstElement*, GstSegment*, guint64, guint64, guint64, GstStructure*,
                         gpointer self) {
    ++static_cast<StereoOverlap*>(self)->started_;
  }

  static GstPadProbeReturn note(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* self = static_cast<StereoOverlap*>(data);
    const std::lock_guard lock(self->mutex_);
    std::string what;
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
      const auto pair =
          static_cast<int>(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) / (40 * ms));
      what = std::to_string(pair);
      const int in_flight = self->started_ - ++self->out_;
      self->max_in_flight_ = std::max<int>(self->max_in_flight_, in_flight);
      if (self->look_)
        self->look_(pair, GST_PAD_PROBE_INFO_BUFFER(info));
      if (pair == self->ending_pair_) {
        gst_buffer_unref(GST_PAD_PROBE_INFO_BUFFER(info));
        GST_PAD_PROBE_INFO_FLOW_RETURN(info) = self->ending_flow_;
        self->arrivals_ += (self->arrivals_.empty() ? "" : " ") + what;
        return GST_PAD_PROBE_HANDLED;
      }
    } else {
      what = GST_EVENT_TYPE_NAME(GST_PAD_PROBE_INFO_EVENT(info));
      if (what == "stream-start" || what == "caps" || what == "segment")
        what.clear();
    }
    if (!what.empty())
      self->arrivals_ += (self->arrivals_.empty() ? "" : " ") + what;
    return GST_PAD_PROBE_OK;
  }

  bool ends_with(const std::string& what) {
    const std::string all = sinks();
    return all.size() >= what.size() && all.substr(all.size() - what.size()) == what;
  }

  const guint buffers_;
  Cameras cameras_;
  std::atomic<int> started_{0}, out_{0}, max_in_flight_{0}, ending_pair_{-1};
  std::atomic<GstFlowReturn> ending_flow_{GST_FLOW_OK}, last_flow_{GST_FLOW_OK};
  Look look_;
  std::mutex mutex_;
  std::string arrivals_;
  PadsHarness stereo_;  // destroyed first, which stops the thread that uses the other members
};

/// Values of frames-in-flight; most tests run for each of them.
constexpr int limits[] = {1, 2, 3, 8};

}  // namespace

TEST(test_pairs_overlap, .times(std::size(limits))) {
  StereoOverlap overlap(limits[index]);
  overlap.feed_to_end(pair_count);
  overlap.expect(numbers(0, pair_count) + " eos");
  fail_unless_equals_int(overlap.max_in_flight(), limits[index] - 1);
  fail_unless_equals_int(overlap.stereo().messages().complaints(), 0);
}

TEST(test_maps_are_the_same) {
  std::vector<std::vector<std::uint8_t>> expected;
  for (int limit : limits) {
    PadsHarness stereo({{"frames-in-flight", std::to_string(limit)}, {"temporal-alpha", "0.5"}});
    const std::vector<Map> maps =
        stereo.run(frames_from(0, pair_count), frames_from(0, pair_count));
    fail_unless_equals_int(maps.size(), pair_count);
    std::vector<std::vector<std::uint8_t>> bytes;
    for (const Map& map : maps)
      bytes.push_back(bytes_of(map));
    if (expected.empty())
      expected = bytes;
    fail_unless(bytes == expected, "%d in flight", limit);
  }
}

TEST(test_events_keep_their_place, .times(std::size(limits))) {
  StereoOverlap overlap(limits[index]);
  overlap.feed_to_end(12, [](int pair) {
    return pair == 5
               ? gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("test"))
               : nullptr;
  });
  overlap.expect("0 1 2 3 4 custom-downstream custom-downstream 5 6 7 8 9 10 11 eos");
}

// New caps and segments follow the pairs in flight, and later pairs overlap again.
TEST(test_new_caps_and_segments, .times(std::size(limits))) {
  StereoOverlap overlap(limits[index]);
  overlap.feed_to_end(20, [](int pair) -> GstEvent* {
    if (pair == 7) {
      GstSegment segment;
      gst_segment_init(&segment, GST_FORMAT_TIME);
      segment.base = GST_SECOND;
      return gst_event_new_segment(&segment);
    }
    if (pair == 13)
      return gst_event_new_caps(
          caps_from(caps_of(gray(), 32, 16, ", pixel-aspect-ratio=2/1")).get());
    return nullptr;
  });
  overlap.expect(numbers(0, 20) + " eos");
  // At most seven consecutive pairs have no event between them.
  fail_unless_equals_int(overlap.max_in_flight(), std::min(limits[index], 7) - 1);
  fail_unless_equals_int(overlap.stereo().messages().complaints(), 0);
}

// Pairs in flight may hold all buffers of downstream's pool.
TEST(test_small_pool_of_downstream, .times(3)) {
  StereoOverlap overlap(8, static_cast<guint>(index) + 1);
  std::thread consumer([&] {
    while (GstBuffer* buffer = wait_for_buffer_or_eos(overlap.stereo().left()))
      gst_buffer_unref(buffer);
  });
  overlap.feed_to_end(pair_count);
  consumer.join();
  overlap.expect(numbers(0, pair_count) + " eos");
}

TEST(test_requested_pads, .times(std::size(limits))) {
  StereoOverlap overlap(limits[index]);
  PadsHarness& stereo = overlap.stereo();
  stereo.open_all();
  stereo.accept_gray();
  overlap.feed(0, 8);
  stereo.close("depth");
  overlap.feed(8, 8);
  stereo.open("depth");
  overlap.feed(16, 8);
  stereo.send_to_all(gst_event_new_eos);
  for (const auto& [pad, harness] : stereo.opened()) {
    std::string numbers_of_pad;
    while (GstBuffer* buffer = wait_for_buffer_or_eos(harness)) {
      const Map map(buffer);
      numbers_of_pad += (numbers_of_pad.empty() ? "" : " ") + std::to_string(map.pts() / (40 * ms));
    }
    // Frames may still be waiting in the element when the pad is released or requested.
    if (pad == "depth") {
      const int first = std::atoi(numbers_of_pad.c_str());
      fail_unless(first > 8 && first <= 17 && numbers_of_pad == numbers(first, 24 - first),
                  "depth: %s", numbers_of_pad.c_str());
    } else {
      fail_unless(numbers_of_pad == numbers(0, 24), "%s: %s", pad.c_str(), numbers_of_pad.c_str());
    }
  }
  fail_unless_equals_int(stereo.messages().complaints(), 0);
}

// Once downstream has refused a pair, the later pairs in flight are dropped.
TEST(test_answers_of_downstream, .times(2 * std::size(limits))) {
  const int limit = limits[index / 2];
  const GstFlowReturn answer = index % 2 == 0 ? GST_FLOW_EOS : GST_FLOW_ERROR;
  StereoOverlap overlap(limit);
  overlap.stereo().accept_gray();
  overlap.answer(5, answer);
  overlap.feed(0, pair_count);
  wait_until([&] { return overlap.last_flow() == answer; }, "the answer upstream");
  const std::string sinks = overlap.sinks();
  fail_unless(sinks.substr(0, 11) == numbers(0, 6), "%s", sinks.c_str());
  fail_unless(sinks.find(" 6") == std::string::npos, "%s", sinks.c_str());
}

TEST(test_flush, .times(std::size(limits))) {
  StereoOverlap overlap(limits[index]);
  overlap.stereo().accept_gray();
  const GstSegment segment = new_segment();
  for (int round = 0; round < 5; ++round) {
    std::thread feeder([&] { overlap.feed(0, pair_count); });
    g_usleep(3000 * static_cast<gulong>(round + 1));
    overlap.stereo().send_to_all([] { return gst_event_new_flush_start(); });
    feeder.join();
    overlap.forget();
    overlap.stereo().send_to_all([] { return gst_event_new_flush_stop(TRUE); });
    for (GstHarness* harness : overlap.stereo().harnesses())
      gst_harness_push_event(harness, gst_event_new_segment(&segment));
    overlap.feed(100, 3);
    wait_until([&] { return overlap.sinks() == "100 101 102"; }, "the pairs after the flush alone");
  }
  fail_unless_equals_int(overlap.stereo().messages().complaints(), 0);
}

// Every third pair is inspected. All pairs stay in order, and each inspected pair has a message.
TEST(test_inspected_pairs, .times(std::size(limits))) {
  StereoOverlap overlap(limits[index], 0, {{"diagnostics-interval", "120000000"}});
  overlap.feed_to_end(13);
  overlap.expect(numbers(0, 13) + " eos");
  fail_unless_equals_int(overlap.stereo().messages().count(GST_MESSAGE_ELEMENT), 5);
}

// When downstream wants other caps, the pairs in flight keep the old caps.
TEST(test_reconfiguration, .times(std::size(limits))) {
  StereoOverlap overlap(limits[index]);
  GstHarness* src = overlap.stereo().left();
  overlap.stereo().accept_downstream("video/x-raw, format=GRAY16_LE");
  overlap.on_pair([&](int pair, GstBuffer* buffer) {
    const Owned<GstCaps> caps(gst_pad_get_current_caps(src->sinkpad));
    GstVideoInfo info;
    fail_unless(gst_video_info_from_caps(&info, caps));
    fail_unless_equals_uint64(gst_buffer_get_size(buffer), info.size);
    if (pair == 3 || pair == 15) {
      overlap.stereo().accept_downstream(pair == 3 ? "video/x-raw, format=GRAY8"
                                                   : "video/x-raw, format=GRAY16_LE");
      gst_pad_push_event(src->sinkpad, gst_event_new_reconfigure());
    }
  });
  overlap.feed_to_end(pair_count);
  overlap.expect(numbers(0, pair_count) + " eos");
  fail_unless_equals_int(overlap.stereo().messages().complaints(), 0);
}

// If src is unlinked during a negotiation, later pairs are not affected.
TEST(test_linked_again, .times(1, std::size(limits))) {
  StereoOverlap overlap(limits[index]);
  GstHarness* src = overlap.stereo().left();
  overlap.answer(6, GST_FLOW_NOT_LINKED);
  overlap.on_pair([&](int pair, GstBuffer*) {
    if (pair == 5)
      gst_pad_push_event(src->sinkpad, gst_event_new_reconfigure());
  });
  overlap.feed_to_end(pair_count);
  const std::string sinks = overlap.sinks();
  fail_unless(sinks.find(numbers(16, 8) + " eos") != std::string::npos, "%s", sinks.c_str());
  fail_unless_equals_int(overlap.last_flow(), GST_FLOW_OK);
}

// Pairs in flight keep the old caps, so a new peer of src gets only the pairs after them.
TEST(test_new_peer, .times(2 * std::size(limits))) {
  const int limit = limits[index / 2], count = index % 2 == 0 ? pair_count : 8;
  const PickySink next("video/x-raw, format=RGB");
  StereoOverlap overlap(limit);
  overlap.stereo().open("depth");
  const Owned<GstPad> src = pad_of(overlap.stereo().element(), "src");
  on_buffers(pad_of(overlap.stereo().element(), "depth").get(), [&](GstBuffer* buffer) {
    if (GST_BUFFER_PTS(buffer) != 5 * 40 * ms)
      return;
    gst_pad_unlink(src, Owned<GstPad>(gst_pad_get_peer(src)).get());
    gst_pad_link(src, next.pad());
  });
  overlap.feed_to_end(count);
  const int first = 5 + limit;
  const std::string later = first < count ? " " + numbers(first, count - first) : "";
  overlap.expect(numbers(0, 6) + later + " eos");
  fail_unless_equals_int(overlap.last_flow(), GST_FLOW_OK);
  fail_unless_equals_int(overlap.stereo().messages().complaints(), 0);
}
