// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests streams in CUDA memory of which several frames are in flight at once, and changes of the
// CUDA context among them.
#include "tests/check/common/faults/memoryuse.h"
#include "tests/check/common/overlap.h"
#include "tests/check/common/pictures/cudaframes.h"
#include "tests/check/common/pipelines.h"

using namespace check;

namespace {

Properties everything_with(int frames_in_flight) {
  Properties properties = tested().everything;
  properties.emplace_back("frames-in-flight", std::to_string(frames_in_flight));
  return properties;
}

/// tested() with several frames in flight, and numbered frames for it in CUDA memory, whose
/// pictures differ.
class CudaOverlap {
 public:
  CudaOverlap(int frames_in_flight, const char* format, bool to_cuda)
      : format_(format_named(format)),
        to_cuda_(to_cuda),
        filter_(everything_with(frames_in_flight)) {
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

  /// Ends the stream, and expects that frames 0 to count - 1 have arrived, and no others.
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

/// Runs a test of several frames in flight for each format and memory.
void for_each_kind(const std::function<void(const char* format, bool to_cuda)>& test) {
  for (const char* format : {"NV12", "GRAY8", "P010_10LE"})
    for (bool to_cuda : {false, true})
      test(format, to_cuda);
}

}  // namespace

TEST(test_frames_in_flight,
     .for_each_element().times(std::size(overlaps)).unless(unless_testing_cuda())) {
  CudaUploader uploader;
  for_each_kind([&](const char* format, bool to_cuda) {
    CudaOverlap overlap(overlaps[index], format, to_cuda);
    overlap.receiver().set_delay(500);
    for (guint64 i = 0; i < 30; ++i)
      overlap.push(uploader, i);
    overlap.expect_frames(30);
    fail_unless_equals_int(overlap.filter().messages().count(GST_MESSAGE_ELEMENT),
                           30 * tested().messages);
  });
}

// The context of the frames changes while earlier ones are in flight. They go downstream first.
TEST(test_context_changes_in_flight,
     .for_each_element().times(std::size(overlaps)).unless(unless_testing_cuda())) {
  CudaUploader first, second;
  for_each_kind([&](const char* format, bool to_cuda) {
    CudaOverlap overlap(overlaps[index], format, to_cuda);
    overlap.receiver().set_delay(2000);
    for (guint64 i = 0; i < 30; ++i)
      overlap.push(i / 3 % 2 == 0 ? first : second, i);
    overlap.expect_frames(30);
    fail_unless_equals_int(overlap.filter().messages().count(GST_MESSAGE_ELEMENT),
                           30 * tested().messages);
  });
}

// A frame of another context waits for those in flight when a flush drops them.
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
      // The uploader's pool keeps its buffers alive.
      return buffers.track(
          gst_buffer_copy(Owned<GstBuffer>(overlap.frame(uploader, number)).get()));
    });
    wait_until([&] { return feeder.pushed() == limit - 1 && overlap.receiver().holds_frame(); },
               "a frame of another context");
    feeder.wait_until_blocked();  // as that frame waits for the others
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

// The DISCONT of a frame that the pusher's thread pushes stays with that frame, though the next one
// goes downstream in the streaming thread.
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
