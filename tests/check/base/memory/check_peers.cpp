// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how frames in the memory of another GPU reach an element, with fakes that need no GPU.

#include "gst/memory/framemapper.h"
#include "tests/check/common/fakes/fakedevice.h"
#include "tests/check/common/fakes/fakelibgstcuda.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/testcase.h"

using namespace check;
using namespace cudavision;

namespace {

constexpr int width = 32, height = 16;
constexpr gsize luma_bytes = gsize{width} * height, frame_bytes = luma_bytes / 2 * 3;

// A build without CUDA cannot parse caps with CUDA memory. The caps may name system memory, because
// the mapper only looks at the memory itself.
FrameFormat nv12() {
  const Caps caps(
      gst_caps_from_string("video/x-raw, format=NV12, width=32, height=16, framerate=25/1"));
  return frame_format_from_caps(caps.get());
}

/// Makes a frame with one memory, filled with value, or one per plane: value and value + 1.
Owned<GstBuffer> new_frame(guint8 value, const CudaContext& first, const CudaContext* second = {}) {
  Owned<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer,
                           new_fake_cuda_memory(first, second ? luma_bytes : frame_bytes, value));
  if (second)
    gst_buffer_append_memory(buffer,
                             new_fake_cuda_memory(*second, frame_bytes - luma_bytes, value + 1));
  gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, width,
                            height);
  return buffer;
}

struct Expected {
  int copies;     ///< copies from another GPU
  int host_maps;  ///< downloads by mapping; each is followed by an upload
  bool in_place = false;
};

void expect_read(const CudaContext& context, GstBuffer* buffer, guint8 luma, guint8 chroma,
                 const Expected& expected, const char* what) {
  reset_fake_transfers();
  host_maps_of_fake_cuda_memory();
  const CudaScope scope(context);
  FakeDevice device;
  FrameMapper input(FrameQueues(device), context, nullptr, nv12(), GST_MAP_READ);
  input.map(buffer);
  fail_unless(all_are(input.frame().planes[0], luma), "%s: wrong luma", what);
  fail_unless(all_are(input.frame().planes[1], chroma), "%s: wrong chroma", what);
  input.end();
  input.complete();
  const FakeTransfers done = fake_transfers();
  fail_unless(done.copies == expected.copies, "%s: %d copies", what, done.copies);
  fail_unless((done.staged > 0) == (expected.host_maps > 0), "%s: %d staged", what, done.staged);
  fail_unless_equals_int(done.direct + done.pageable, 0);
  const int host_maps = host_maps_of_fake_cuda_memory();
  fail_unless(host_maps == expected.host_maps, "%s: %d maps on the host", what, host_maps);
  GstMapInfo map;
  fail_unless(gst_memory_map(gst_buffer_peek_memory(buffer, 0), &map,
                             static_cast<GstMapFlags>(GST_MAP_READ | cuda_map_flag())));
  const bool in_place = input.frame().planes[0].data == map.data;
  gst_memory_unmap(gst_buffer_peek_memory(buffer, 0), &map);
  fail_unless(in_place == expected.in_place, "%s: in place: %d", what, in_place);
}

}  // namespace

TEST(test_peers_are_copied_from) {
  const CudaContext ours = new_fake_context(), theirs = new_fake_context();
  let_copy_from(ours, theirs);
  expect_read(ours, new_frame(7, theirs).get(), 7, 7, {2, 0}, "a frame of the peer");
  expect_read(ours, new_frame(9, theirs, &theirs).get(), 9, 10, {2, 0}, "two memories");
  // The element's stream waits for the default stream, so the host does not wait.
  expect_read(ours, new_frame(11, ours).get(), 0, 0, {0, 0, true}, "a frame of our own");
}

TEST(test_others_go_through_the_host) {
  const CudaContext ours = new_fake_context(), theirs = new_fake_context();
  expect_read(ours, new_frame(7, theirs).get(), 7, 7, {0, 2}, "no access");
  let_copy_from(theirs, ours);
  expect_read(ours, new_frame(8, theirs).get(), 8, 8, {0, 2}, "only the other GPU has access");
  expect_read(theirs, new_frame(9, ours).get(), 9, 9, {2, 0}, "access to the other GPU");
  expect_read(theirs, new_frame(10, theirs, &ours).get(), 10, 11, {0, 2}, "planes on both GPUs");
}

TEST(test_left_and_right, .times(2)) {
  const CudaContext left = new_fake_context(), right = new_fake_context();
  let_copy_from(left, right);
  let_copy_from(right, left);
  const CudaContext& ours = index == 0 ? left : right;
  const Owned<GstBuffer> frames[] = {new_frame(3, left), new_frame(5, right)};
  finish_default_stream(ours);
  expect_read(ours, frames[0], 3, 3, {index == 0 ? 0 : 2, 0, index == 0}, "left");
  expect_read(ours, frames[1], 5, 5, {index == 1 ? 0 : 2, 0, index == 1}, "right");
}

// An output in another context's memory is written through the host, never by a peer copy.
TEST(test_outputs_of_another_context) {
  const CudaContext ours = new_fake_context(), theirs = new_fake_context();
  let_copy_from(ours, theirs);
  const Owned<GstBuffer> buffer = new_frame(0, theirs);
  finish_default_stream(theirs);
  host_maps_of_fake_cuda_memory();
  reset_fake_transfers();
  {
    const CudaScope scope(ours);
    FakeDevice device;
    FrameMapper output(FrameQueues(device), ours, nullptr, nv12(), GST_MAP_WRITE);
    output.map(buffer);
    for (int p = 0; p < 2; ++p)
      device.fill(output.frame().planes[p], static_cast<guint8>(20 + p));
    output.end();
    output.complete();
  }
  fail_unless_equals_int(fake_transfers().copies, 0);
  fail_unless_equals_int(host_maps_of_fake_cuda_memory(), 2);
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
  fail_unless(all_are({map.data, width, height, width}, 20));
  fail_unless(all_are({map.data + luma_bytes, width, height / 2, width}, 21));
  gst_buffer_unmap(buffer, &map);
}
