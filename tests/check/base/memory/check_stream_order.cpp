// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests CUDA memory that carries a stream: all work on the memory is stream-ordered, without waits
// of the host. Fakes replace the GPU.
#include <algorithm>
#include <array>
#include <vector>

#include "gst/memory/cudastream.h"
#include "gst/memory/framemapper.h"
#include "tests/check/common/fakes/fakelibgstcuda.h"
#include "tests/check/common/fakes/fakestreams.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/testcase.h"

using namespace check;
using namespace cudavision;

namespace {

constexpr int width = 16, height = 8;
constexpr gsize luma_bytes = gsize{width} * height, frame_bytes = luma_bytes / 2 * 3;

FrameFormat nv12() {
  const Caps caps(
      gst_caps_from_string("video/x-raw, format=NV12, width=16, height=8, framerate=25/1"));
  return frame_format_from_caps(caps.get());
}

void add_meta(GstBuffer* buffer) {
  gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, width,
                            height);
}

/// Makes a frame whose planes carry these streams, or none (nullptr).
Owned<GstBuffer> new_frame(const CudaContext& context, CudaStream luma, CudaStream chroma) {
  Owned<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer, new_fake_cuda_memory(context, luma_bytes, luma));
  gst_buffer_append_memory(buffer, new_fake_cuda_memory(context, luma_bytes / 2, chroma));
  add_meta(buffer);
  return buffer;
}

Owned<GstBuffer> new_system_frame() {
  Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, frame_bytes, nullptr));
  add_meta(buffer);
  return buffer;
}

View<std::uint8_t> bytes_of(GstMemory* memory, int access) {
  GstMapInfo map;
  fail_unless(gst_memory_map(memory, &map, static_cast<GstMapFlags>(access | cuda_map_flag())));
  const View<std::uint8_t> bytes{map.data, static_cast<int>(map.size), 1,
                                 static_cast<std::ptrdiff_t>(map.size)};
  gst_memory_unmap(memory, &map);
  return bytes;
}

/// Another element, which works on each memory in the stream that the memory carries.
class Neighbour {
 public:
  void write(GstBuffer* buffer, guint8 value) {
    for (guint i = 0; i < 2; ++i) {
      GstMemory* memory = gst_buffer_peek_memory(buffer, i);
      device_of(memory)->fill(bytes_of(memory, GST_MAP_WRITE), value);
    }
  }
  /// Enqueues a copy to `read`, which is valid once the stream has passed the copy.
  void read(GstBuffer* buffer, std::array<guint8, frame_bytes>& read) {
    gsize offset = 0;
    for (guint i = 0; i < 2; ++i) {
      GstMemory* memory = gst_buffer_peek_memory(buffer, i);
      const View<std::uint8_t> bytes = bytes_of(memory, GST_MAP_READ);
      device_of(memory)->copy(bytes, {read.data() + offset, bytes.width, 1, bytes.pitch});
      offset += bytes.width;
    }
  }

 private:
  static std::unique_ptr<Device> device_of(GstMemory* memory) {
    return new_stream_device(stream_of_cuda_memory(memory));
  }
};

bool marked(GstBuffer* buffer) {
  return is_marked_unfinished(gst_buffer_peek_memory(buffer, 0)) &&
         is_marked_unfinished(gst_buffer_peek_memory(buffer, 1));
}

struct Streams {
  const CudaStream own = new_fake_stream(), first = new_fake_stream(), second = new_fake_stream();

  std::array<CudaStream, 3> all() const { return {own, first, second}; }
};

struct Element {
  const CudaContext context = new_fake_context();
  const CudaScope scope{context};
  const Streams streams;
  const std::unique_ptr<Device> device = new_stream_device(streams.own);
  FrameMapper input{FrameQueues(*device), context, nullptr, nv12(), GST_MAP_READ};
  FrameMapper output{FrameQueues(*device), context, nullptr, nv12(), GST_MAP_WRITE};

  Owned<GstBuffer> frame(CudaStream luma, CudaStream chroma) const {
    return new_frame(context, luma, chroma);
  }
  void finish() const {
    for (const CudaStream stream : streams.all())
      finish_fake_stream(stream);
  }
  void fill_output(std::uint8_t value) {
    for (int p = 0; p < 2; ++p)
      device->fill(output.frame().planes[p], value);
  }
};

/// Indices into Streams::all() of the streams that the planes of input and output carry.
constexpr int carried[][4] = {
    {0, 0, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 1}, {1, 1, 1, 1}, {1, 1, 2, 2},
    {1, 2, 0, 0}, {0, 0, 1, 2}, {1, 2, 1, 2}, {1, 2, 2, 1}, {0, 1, 2, 0},
};
constexpr int carried_count = static_cast<int>(std::size(carried));
/// In cases 0 to 2, one of the three streams runs ahead of the others; in case 3, none does.
constexpr int fast_count = 4;

void copy_frame(Device& device, const ConstFrame& in, const Frame& out) {
  for (int p = 0; p < 2; ++p)
    device.copy(in.planes[p], out.planes[p]);
}

}  // namespace

// The pools have two buffers, so memory is rewritten while an earlier frame may still be read.
TEST(test_order_without_waiting, .times(carried_count* fast_count)) {
  Element element;
  const auto all = element.streams.all();
  const int(&by)[4] = carried[index / fast_count];
  const int fast = index % fast_count;
  const auto hurry = [&] {
    if (fast < static_cast<int>(all.size()))
      advance_fake_stream(all[fast]);
  };

  std::vector<Owned<GstBuffer>> in_pool, out_pool;
  for (int i = 0; i < 2; ++i) {
    in_pool.push_back(element.frame(all[by[0]], all[by[1]]));
    out_pool.push_back(element.frame(all[by[2]], all[by[3]]));
  }
  waits_for_fake_cuda_memory();
  host_maps_of_fake_cuda_memory();

  constexpr int frames = 6;
  std::array<std::array<guint8, frame_bytes>, frames> received{};
  Neighbour neighbour;
  FrameMapper &input = element.input, &output = element.output;
  for (int n = 0; n < frames; ++n) {
    GstBuffer* in = in_pool[n % 2];
    GstBuffer* out = out_pool[n % 2];
    neighbour.write(in, static_cast<guint8>(n + 1));
    hurry();
    input.map(in);
    output.map(out);
    hurry();
    copy_frame(*element.device, input.frame(), output.frame());
    fail_unless(input.is_stream_ordered() && output.is_stream_ordered());
    input.end_in_stream_order();
    output.end_in_stream_order();
    output.unmap();
    input.unmap();
    hurry();
    fail_unless(marked(in) && marked(out));
    neighbour.read(out, received[n]);
    hurry();
  }
  fail_unless_equals_int(waits_for_fake_cuda_memory(), 0);
  element.finish();
  for (int n = 0; n < frames; ++n)
    fail_unless(std::all_of(received[n].begin(), received[n].end(),
                            [=](guint8 byte) { return byte == n + 1; }),
                "frame %d is %d", n, received[n][0]);
}

// A frame that is only read is pushed without a copy, and the next element may write to it.
TEST(test_only_read, .times(fast_count)) {
  Element element;
  const Streams& streams = element.streams;
  const Owned<GstBuffer> frame = element.frame(streams.first, streams.second);
  std::vector<guint8> seen(luma_bytes);
  Neighbour neighbour;
  neighbour.write(frame, 1);
  mark_finished(frame);
  element.finish();
  element.input.map(frame);
  element.device->copy(element.input.frame().planes[0], {seen.data(), width, height, width});
  element.input.end_in_stream_order();
  element.input.unmap();
  fail_unless(marked(frame), "later writers would not wait for the read");
  neighbour.write(frame, 2);
  if (index < 3)
    advance_fake_stream(streams.all()[index]);
  element.finish();
  fail_unless(std::all_of(seen.begin(), seen.end(), [](guint8 byte) { return byte == 1; }));
}

// Reading does not mark memory as unfinished, but must finish before the memory is written.
TEST(test_writing_waits_for_readers) {
  Element element;
  const Streams& streams = element.streams;
  const Owned<GstBuffer> frame = element.frame(streams.first, streams.second);
  std::array<guint8, frame_bytes> read{};
  read.fill(1);
  Neighbour().read(frame, read);
  fail_unless(!marked(frame));
  element.output.map(frame);
  element.fill_output(3);
  element.output.end_in_stream_order();
  element.output.unmap();
  element.finish();
  fail_unless(std::all_of(read.begin(), read.end(), [](guint8 byte) { return byte == 0; }));
}

// The host's wait clears the mark "unfinished"; otherwise mapping would wait for later frames, too.
TEST(test_completed_frames_are_not_marked) {
  Element element;
  const Streams& streams = element.streams;
  const Owned<GstBuffer> in = new_system_frame();
  const Owned<GstBuffer> out = element.frame(streams.own, streams.first);
  gst_buffer_memset(in, 0, 7, frame_bytes);
  element.input.map(in);
  element.output.map(out);
  copy_frame(*element.device, element.input.frame(), element.output.frame());
  element.input.end();
  element.output.end();
  fail_unless(!element.input.is_stream_ordered(), "system memory can be freed at any time");
  element.output.complete();
  element.input.completed();
  element.output.unmap();
  element.input.unmap();
  fail_unless(!is_marked_unfinished(gst_buffer_peek_memory(out, 0)));
  fail_unless(!is_marked_unfinished(gst_buffer_peek_memory(out, 1)));
  fail_unless_equals_int(bytes_of(gst_buffer_peek_memory(out, 0), GST_MAP_READ).data[0], 7);
  fail_unless_equals_int(bytes_of(gst_buffer_peek_memory(out, 1), GST_MAP_READ).data[0], 7);
}

// Memory without a stream must be finished when pushed, because no later reader could wait for it.
TEST(test_memory_without_a_stream_is_waited_for) {
  Element element;
  const Streams& streams = element.streams;
  const CudaStream of_planes[][2] = {{nullptr, nullptr}, {streams.first, nullptr}};
  for (const auto& [luma, chroma] : of_planes) {
    const Owned<GstBuffer> frame = element.frame(luma, chroma);
    FrameMapper& output = element.output;
    output.map(frame);
    element.fill_output(5);
    output.end();
    fail_unless(!output.is_stream_ordered());
    output.complete();
    for (int p = 0; p < 2; ++p)
      fail_unless_equals_int(output.frame().planes[p].data[0], 5);
    output.unmap();
  }
}

// Unfinished memory of another context is waited for, because it cannot be used in place.
TEST(test_marked_memory_of_another_context) {
  const CudaContext ours = new_fake_context(), theirs = new_fake_context();
  let_copy_from(ours, theirs);
  const CudaScope scope(ours);
  const Streams streams;
  const std::unique_ptr<Device> device = new_stream_device(streams.own);
  FrameMapper input(FrameQueues(*device), ours, nullptr, nv12(), GST_MAP_READ);
  const Owned<GstBuffer> frame = new_frame(theirs, streams.first, streams.first);
  Neighbour().write(frame, 9);
  waits_for_fake_cuda_memory();
  input.map(frame);
  input.end();
  fail_unless(!input.is_stream_ordered());
  input.complete();
  for (int p = 0; p < 2; ++p)
    fail_unless_equals_int(input.frame().planes[p].data[0], 9);
  input.unmap();
  fail_unless(waits_for_fake_cuda_memory() > 0);
}

// If processing fails before end(), the device finishes before the buffers are freed.
TEST(test_abandoned_frames) {
  Element element;
  const Streams& streams = element.streams;
  const Owned<GstBuffer> frame = element.frame(streams.first, streams.first);
  element.output.map(frame);
  element.fill_output(3);
  element.output.unmap();
  for (guint p = 0; p < 2; ++p)
    fail_unless_equals_int(bytes_of(gst_buffer_peek_memory(frame, p), GST_MAP_READ).data[0], 3);
}

// From GStreamer 1.24 on, frames with memory:CUDAMemory in their caps carry their pool's stream.
TEST(test_order_of_formats) {
  FrameFormat format = nv12();
  fail_unless(!order_is_known(format));
  format.cuda_memory = true;
  fail_unless_equals_int(order_is_known(format), GST_CHECK_VERSION(1, 24, 0));
}
