// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests frames in flight with small pools, with CUDA memory, and with changing CUDA contexts.
#include <gst/video/video.h>

#include "tests/check/common/faults/memoryuse.h"
#include "tests/check/common/pictures/cudaframes.h"
#include "tests/check/common/pipelines.h"
#include "tests/check/common/streams/overlap.h"

using namespace check;

namespace {

constexpr guint64 frame_count = 60;

Owned<GstBufferPool> pool_of(guint buffers, GstCaps* caps, gsize size) {
  Owned<GstBufferPool> pool(gst_video_buffer_pool_new());
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(size), 0, buffers);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  return pool;
}

GstBuffer* frame_of(GstBufferPool* pool, Overlap& overlap, guint64 number) {
  GstBuffer* buffer = nullptr;
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  // This locks a mutex, because ThreadSanitizer does not see that the pool orders the threads.
  overlap.receiver().frame_count();
  const Owned<GstBuffer> frame(overlap.frame(number));
  const std::vector<std::uint8_t> bytes = bytes_of(frame);
  fail_unless_equals_int(gst_buffer_fill(buffer, 0, bytes.data(), bytes.size()), bytes.size());
  return at(number * frame_duration, buffer, frame_duration);
}

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

/// tested() with frames in flight, and numbered frames for it in CUDA memory.
class CudaOverlap {
 public:
  CudaOverlap(int frames_in_flight, const char* format, bool to_cuda)
      : format_(format_named(format)),
        to_cuda_(to_cuda),
        filter_(
            joined(tested().everything, {{"frames-in-flight", std::to_string(frames_in_flight)}})) {
    if (to_cuda)
      filter_.accept_downstream(cuda_feature);
    fail_unless(filter_.send_caps(cuda_caps_of(picture(0))));
  }

  FilterHarness& filter() { return filter_; }
  Receiver& receiver() { return receiver_; }

  GstBuffer* frame(CudaUploader& uploader, guint64 number) const {
    return at(number * frame_duration, uploader.upload(picture(number)).release());
  }
  void push(CudaUploader& uploader, guint64 number) {
    fail_unless_equals_int(filter_.push(frame(uploader, number)), GST_FLOW_OK);
  }

  void expect_frames(guint64 count) {
    filter_.send_eos();
    std::vector<Owned<GstBuffer>> frames = receiver_.take_frames();
    fail_unless_equals_int(frames.size(), count);
    FilterHarness downloader{tested().idle};
    if (to_cuda_)
      fail_unless(downloader.send_caps(cuda_caps_of(picture(0))));
    for (guint64 i = 0; i < count; ++i) {
      const Picture expected = result(picture(i));
      const std::string what = "frame " + std::to_string(i);
      fail_unless_equals_uint64(GST_BUFFER_PTS(frames[i].get()), i * frame_duration);
      fail_unless(is_cuda_memory(frames[i]) == to_cuda_, "%s: the wrong memory", what.c_str());
      const Owned<GstBuffer> out =
          to_cuda_ ? downloader.process(gst_buffer_ref(frames[i])) : std::move(frames[i]);
      expect_picture(from_buffer(out, format_, expected.width, expected.height), expected, what);
    }
    fail_unless_equals_int(filter_.messages().complaints(), 0);
  }

 private:
  Picture picture(guint64 number) const {
    return make_picture(format_, 61, 37, Content::natural, static_cast<unsigned>(number));
  }

  const FormatSpec& format_;
  const bool to_cuda_;
  FilterHarness filter_;
  Receiver receiver_{filter_};
};

void for_each_kind(const std::function<void(const char* format, bool to_cuda)>& test) {
  for (const char* format : {"NV12", "GRAY8", "P010_10LE"})
    for (bool to_cuda : {false, true})
      test(format, to_cuda);
}

}  // namespace

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
  filter.accept_caps(gray(), 24, 16);
  receiver.forget();
  for (guint64 i = 0; i < frame_count; ++i)
    fail_unless_equals_int(
        filter.push(
            at(i * frame_duration, to_buffer(make_picture(gray(), 24, 16, Content::natural, 1)))),
        GST_FLOW_OK);
  filter.send_eos();
  const std::string arrivals = receiver.arrivals();
  fail_unless(arrivals == numbers(0, frame_count) + " eos", "%s", arrivals.c_str());
}

TEST(test_small_pool_of_upstream, .for_each_element().times(1, 3)) {
  Overlap overlap(8);
  expect_to_pass_from_pool(static_cast<guint>(index), overlap);
  overlap.expect_pictures();
}

TEST(test_small_pool_of_unchanged_frames, .for_each_element().times(1, 3)) {
  Overlap overlap(8, {tested().idle});
  overlap.receiver().keep_no_frames();
  expect_to_pass_from_pool(static_cast<guint>(index), overlap);
}

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
    // The minimum is also the number of additional buffers that a pool of upstream needs.
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

// If the CUDA context of the frames changes, the frames in flight are pushed first.
TEST(test_frames_in_flight,
     .for_each_element().times(2 * std::size(overlaps)).unless(unless_testing_cuda())) {
  const bool changes = index % 2 == 1;
  CudaUploader first, second;
  for_each_kind([&](const char* format, bool to_cuda) {
    CudaOverlap overlap(overlaps[index / 2], format, to_cuda);
    overlap.receiver().set_delay(changes ? 2000 : 500);
    for (guint64 i = 0; i < 30; ++i)
      overlap.push(changes && i / 3 % 2 == 1 ? second : first, i);
    overlap.expect_frames(30);
    fail_unless_equals_int(overlap.filter().messages().count(GST_MESSAGE_ELEMENT),
                           30 * tested().messages);
  });
}

// A frame of another context waits for the frames in flight, which a flush then drops.
TEST(test_flush_at_change_of_context,
     .for_each_element().times(std::size(overlaps)).unless(unless_testing_cuda())) {
  const auto limit = static_cast<guint64>(overlaps[index]);
  CudaUploader first, second;
  for_each_kind([&](const char* format, bool to_cuda) {
    if (to_cuda && pushes_in_stream_order && tested().messages == 0)
      return;
    CudaOverlap overlap(overlaps[index], format, to_cuda);
    BufferCount buffers;
    overlap.receiver().close();
    Feeder feeder(overlap.filter(), 100, limit, [&](guint64 number) {
      CudaUploader& uploader = number < 100 + limit - 1 ? first : second;
      // The uploader's pool keeps its own buffers alive.
      return buffers.track(
          gst_buffer_copy(Owned<GstBuffer>(overlap.frame(uploader, number)).get()));
    });
    wait_until([&] { return feeder.pushed() == limit - 1 && overlap.receiver().holds_frame(); },
               "a frame of another context");
    feeder.wait_until_blocked();  // because the frame waits for the frames in flight
    overlap.filter().send_event(gst_event_new_flush_start());
    feeder.finish();
    overlap.filter().send_event(gst_event_new_flush_stop(TRUE));
    fail_unless_equals_int(buffers.alive(), 0);
    overlap.receiver().open();
    overlap.filter().send_segment(new_segment());
    for (guint64 i = 0; i < 10; ++i)
      overlap.push(second, i);
    overlap.expect_frames(10);
  });
}

// A frame keeps its DISCONT flag although another thread pushes the next frame.
TEST(test_discont_of_a_gap,
     .for_each_element().times(std::size(overlaps)).unless(unless_testing_cuda())) {
  CudaUploader uploader;
  CudaOverlap overlap(overlaps[index], "GRAY8", true);
  overlap.push(uploader, 0);
  GstBuffer* const gap = at(frame_duration, missing_frame());
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int(overlap.filter().push(gap), GST_FLOW_OK);
  wait_until([&] { return overlap.receiver().frame_count() == 2; }, "the gap");
  overlap.push(uploader, 2);
  overlap.filter().send_eos();
  const std::vector<Owned<GstBuffer>> frames = overlap.receiver().take_frames();
  fail_unless_equals_int(frames.size(), 3);
  for (std::size_t i = 0; i < frames.size(); ++i)
    fail_unless(GST_BUFFER_FLAG_IS_SET(frames[i].get(), GST_BUFFER_FLAG_DISCONT) == (i == 1),
                "frame %d", static_cast<int>(i));
}
