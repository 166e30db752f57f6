// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests streams of which several frames are in flight at once, where a pool of upstream or of
// downstream limits their number: each waits for a buffer, and none is lost.
#include <gst/video/video.h>

#include "tests/check/common/overlap.h"

using namespace check;

namespace {

constexpr guint64 frame_count = 60;

/// Returns a pool that has at most as many buffers for these caps.
Owned<GstBufferPool> pool_of(guint buffers, GstCaps* caps, gsize size) {
  Owned<GstBufferPool> pool(gst_video_buffer_pool_new());
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(size), 0, buffers);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  return pool;
}

/// Returns a frame in a buffer of the pool; waits for one.
GstBuffer* frame_of(GstBufferPool* pool, Overlap& overlap, guint64 number) {
  GstBuffer* buffer = nullptr;
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  // ThreadSanitizer does not see that the pool orders threads; a mutex of the receiver does as
  // well.
  overlap.receiver().frame_count();
  const Owned<GstBuffer> frame(overlap.frame(number));
  const std::vector<std::uint8_t> bytes = bytes_of(frame);
  fail_unless_equals_int(gst_buffer_fill(buffer, 0, bytes.data(), bytes.size()), bytes.size());
  return at(number * frame_duration, buffer, frame_duration);
}

}  // namespace

// Downstream's pool has fewer buffers than frames may be in flight.
TEST(test_small_pool_of_downstream, .for_each_element().times(1, 3)) {
  FilterHarness filter{{"frames-in-flight", "8"}};
  answer_queries(filter.element(), GST_QUERY_ALLOCATION, [&](GstQuery* query) {
    GstCaps* caps = nullptr;
    gst_query_parse_allocation(query, &caps, nullptr);
    GstVideoInfo info;
    gst_video_info_from_caps(&info, caps);
    const auto buffers = static_cast<guint>(index);
    gst_query_add_allocation_pool(query, pool_of(buffers, caps, info.size).get(),
                                  static_cast<guint>(info.size), 0, buffers);
  });
  Receiver receiver(filter);
  receiver.keep_no_frames();
  receiver.set_delay(500);
  const FormatSpec& gray = format_named("GRAY8");
  filter.accept_caps(gray, 24, 16);
  receiver.forget();
  for (guint64 i = 0; i < frame_count; ++i)
    fail_unless_equals_int(
        filter.push(
            at(i * frame_duration, to_buffer(make_picture(gray, 24, 16, Content::natural, 1)))),
        GST_FLOW_OK);
  filter.send_eos();
  const std::string arrivals = receiver.arrivals();
  fail_unless(arrivals == numbers(0, frame_count) + " eos", "%s", arrivals.c_str());
}

namespace {

/// Expects that all frames pass whose buffers come from a pool of so many.
void expect_to_pass_from_pool(guint buffers, Overlap& overlap) {
  const Owned<GstBufferPool> pool =
      pool_of(buffers, current_caps(overlap.filter().source_pad()).get(),
              gst_buffer_get_size(Owned<GstBuffer>(overlap.frame(0)).get()));
  gst_buffer_pool_set_active(pool, TRUE);
  overlap.receiver().set_delay(500);
  for (guint64 i = 0; i < frame_count; ++i)
    fail_unless_equals_int(overlap.filter().push(frame_of(pool, overlap, i)), GST_FLOW_OK);
  overlap.drain();
  overlap.expect(numbers(0, frame_count) + " drain");
  gst_buffer_pool_set_active(pool, FALSE);
}

}  // namespace

// Upstream's pool has fewer buffers than frames may be in flight.
TEST(test_small_pool_of_upstream, .for_each_element().times(1, 3)) {
  Overlap overlap(8);
  expect_to_pass_from_pool(static_cast<guint>(index), overlap);
  overlap.expect_pictures();
}

// The same, where upstream's buffers go downstream themselves.
TEST(test_small_pool_of_unchanged_frames, .for_each_element().times(1, 3)) {
  Overlap overlap(8, {tested().idle});
  overlap.receiver().keep_no_frames();
  expect_to_pass_from_pool(static_cast<guint>(index), overlap);
}

// While downstream holds the first frame, upstream finds a buffer in the pool that the element has
// offered for each frame that may be in flight, and one to fill meanwhile.
TEST(test_offered_pool, .for_each_element()) {
  for (guint64 limit : {1, 3, 8, 16}) {
    Overlap overlap(static_cast<int>(limit));
    const Owned<GstCaps> caps = current_caps(overlap.filter().source_pad());
    const Owned<GstQuery> query(gst_query_new_allocation(caps, TRUE));
    fail_unless(gst_pad_peer_query(overlap.filter().source_pad(), query));
    fail_unless_equals_int(gst_query_get_n_allocation_pools(query), 1);
    GstBufferPool* offered = nullptr;
    guint size = 0, minimum = 0, maximum = 0;
    gst_query_parse_nth_allocation_pool(query, 0, &offered, &size, &minimum, &maximum);
    const Owned<GstBufferPool> pool(offered);
    fail_unless(pool != nullptr);
    // Upstream may offer the element a pool of its own instead, with so many buffers more.
    const guint64 accepted = limit > 1 ? limit : 0;
    fail_unless_equals_int(minimum, accepted);
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, size, minimum, maximum);
    fail_unless(gst_buffer_pool_set_config(pool, config));
    fail_unless(gst_buffer_pool_set_active(pool, TRUE));

    overlap.receiver().close();
    std::atomic<guint64> filled{0};
    Feeder feeder(overlap.filter(), 0, 20, [&](guint64 number) {
      GstBuffer* frame = frame_of(pool, overlap, number);
      ++filled;
      return frame;
    });
    wait_until([&] { return feeder.pushed() == accepted && filled == accepted + 1; }, "buffers");
    overlap.receiver().open();
    fail_unless_equals_int(feeder.finish(), GST_FLOW_OK);
    overlap.expect(numbers(0, 20));
    overlap.expect_pictures();
    gst_buffer_pool_set_active(pool, FALSE);
  }
}
