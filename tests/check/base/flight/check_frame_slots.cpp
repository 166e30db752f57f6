// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests which object owns a frame in flight, and which thread waits for the frame. The fake CUDA
// device works only while a thread waits, so that freeing a buffer too early is detected.
#include <atomic>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "cuda/core/device.h"
#include "gst/flight/flightlimit.h"
#include "gst/flight/framepusher.h"
#include "tests/check/common/fakes/fakelibgstcuda.h"
#include "tests/check/common/fakes/fakestreams.h"
#include "tests/check/common/faults/memoryuse.h"
#include "tests/check/common/owned.h"
#include "tests/check/common/testcase.h"
#include "tests/check/common/waiting.h"

using namespace check;
using namespace cudavision;

namespace {

constexpr gsize frame_bytes = 16 * 8;

FrameFormat gray() {
  const Caps caps(
      gst_caps_from_string("video/x-raw, format=GRAY8, width=16, height=8, framerate=25/1"));
  return frame_format_from_caps(caps.get());
}

void add_meta(GstBuffer* buffer) {
  gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 16, 8);
}

OwnedBuffer new_system_frame(guint8 value) {
  OwnedBuffer buffer(gst_buffer_new_allocate(nullptr, frame_bytes, nullptr));
  add_meta(buffer.get());
  gst_buffer_memset(buffer.get(), 0, value, frame_bytes);
  return buffer;
}

OwnedBuffer new_cuda_frame(const CudaContext& context, CudaStream stream) {
  OwnedBuffer buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(), new_fake_cuda_memory(context, frame_bytes, stream));
  add_meta(buffer.get());
  return buffer;
}

int first_byte(GstBuffer* buffer) {
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  const int flags = GST_MAP_READ | (is_cuda_memory(memory) ? cuda_map_flag() : 0);
  GstMapInfo map;
  fail_unless(gst_memory_map(memory, &map, static_cast<GstMapFlags>(flags)));
  const int byte = map.data[0];
  gst_memory_unmap(memory, &map);
  return byte;
}

struct Element {
  Element() {
    for (std::size_t i = 0; i < 2; ++i) {
      slots.set_input(i, gray());
      slots.set_output(i, gray());
    }
  }

  /// Enqueues a copy of each input to its output.
  PendingGpuWork start(const InputFrames& in, const OutputFrames& out, bool on_host = false) {
    PendingGpuWork work = slots.map(in, out);
    for (std::size_t i = 0; i < 2; ++i)
      if (work.output(i))
        compute->copy(work.input(i).planes[0], work.output(i)->planes[0]);
    work.end(on_host);
    return work;
  }

  const CudaContext context = new_fake_context();
  const CudaScope scope{context};
  const CudaStream compute_stream = new_fake_stream(), download_stream = new_fake_stream();
  const std::unique_ptr<Device> upload = new_stream_device(new_fake_stream()),
                                compute = new_stream_device(compute_stream),
                                download = new_stream_device(download_stream);
  FrameSlotPool slots{FrameQueues(*upload, *compute, *download), context, nullptr, 2};
};

}  // namespace

static_assert(!std::is_copy_constructible_v<PendingGpuWork>);

TEST(test_a_pair_through_system_memory) {
  Element element;
  const OwnedBuffer left = new_system_frame(1), right = new_system_frame(2);
  OwnedBuffer first = new_system_frame(0);
  const OwnedBuffer second = new_system_frame(0);
  PendingGpuWork work = element.start({left.get(), right.get()}, {first.get(), second.get()});
  fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(left.get()), 2);
  fail_unless(!work.is_in_stream_order() && !work.done());

  FramePusher::Frame frame{std::move(first), std::move(work)};
  fail_unless(!work && !first, "the frame must own the work and the buffer");
  frame.work.complete();
  fail_unless(!frame.work);
  fail_unless_equals_int(first_byte(frame.buffer.get()), 1);
  fail_unless_equals_int(first_byte(second.get()), 2);
  fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(left.get()), 1);
  fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(right.get()), 1);
}

TEST(test_more_frames_than_slots) {
  Element element;
  std::vector<FramePusher::Frame> in_flight;
  for (guint8 n = 1; n <= 6; ++n) {
    const OwnedBuffer in = new_system_frame(n);
    OwnedBuffer out = new_system_frame(0);
    PendingGpuWork work = element.start({in.get()}, {out.get()});
    in_flight.push_back({std::move(out), std::move(work)});
    if (in_flight.size() < 2)
      continue;
    in_flight.front().work.complete();
    fail_unless_equals_int(first_byte(in_flight.front().buffer.get()), n - 1);
    in_flight.erase(in_flight.begin());
  }
}

// The buffers stay alive until the device has finished, even if the result is dropped.
TEST(test_dropped_frames_wait_for_the_device) {
  Element element;
  const OwnedBuffer in = new_system_frame(3);
  const OwnedBuffer out = new_cuda_frame(element.context, nullptr);
  { const PendingGpuWork dropped = element.start({in.get()}, {out.get()}); }
  fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(in.get()), 1);
  fail_unless_equals_int(first_byte(out.get()), 3);
}

// The work is destroyed before it ends, as if the operation had thrown.
TEST(test_work_that_never_ends) {
  Element element;
  const OwnedBuffer in = new_system_frame(4);
  { const PendingGpuWork work = element.slots.map({in.get()}, {}); }
  fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(in.get()), 1);
}

// on_host: the host reads other results of the work, so complete() must wait for the device.
TEST(test_order_of_streams, .times(2)) {
  const bool on_host = index > 0;
  Element element;
  const CudaStream theirs = new_fake_stream();
  const OwnedBuffer in = new_cuda_frame(element.context, theirs),
                    out = new_cuda_frame(element.context, theirs);
  gst_buffer_memset(out.get(), 0, 9, frame_bytes);
  PendingGpuWork work = element.start({in.get()}, {out.get()}, on_host);
  fail_unless(work.is_in_stream_order() == !on_host);
  fail_unless(work.done() == !on_host);
  waits_for_fake_cuda_memory();
  work.complete();
  fail_unless_equals_int(first_byte(out.get()), on_host ? 0 : 9);
  element.slots.finish();
  fail_unless_equals_int(first_byte(out.get()), 0);
}

// If a pair is only inspected, its input buffers are pushed, so no other reference may remain.
TEST(test_frames_without_an_output) {
  Element element;
  const OwnedBuffer left = new_system_frame(5), right = new_system_frame(6);
  std::vector<guint8> seen(2 * frame_bytes);
  PendingGpuWork work = element.slots.map({left.get(), right.get()}, {});
  for (std::size_t i = 0; i < 2; ++i)
    element.compute->copy(work.input(i).planes[0], {seen.data() + i * frame_bytes, 16, 8, 16});
  work.end(false);
  fail_unless(!work.done());
  work.complete();
  fail_unless_equals_int(GST_MINI_OBJECT_REFCOUNT_VALUE(left.get()), 1);
  fail_unless_equals_int(seen.front(), 5);
  fail_unless_equals_int(seen.back(), 6);
}

// The caller may release the buffers while the device uses them.
TEST(test_buffers_outlive_their_work, .times(2)) {
  Element element;
  BufferCount buffers;
  OwnedBuffer in(buffers.track(new_system_frame(1).release()));
  OwnedBuffer out(buffers.track(new_system_frame(0).release()));
  OwnedBuffer in_place(buffers.track(new_cuda_frame(element.context, nullptr).release()));
  PendingGpuWork work = element.start({in.get(), in.get()}, {out.get(), in_place.get()});
  in.reset();
  out.reset();
  in_place.reset();
  fail_unless_equals_int(buffers.alive(), 3);
  if (index == 0)
    work.complete();
  else
    work = PendingGpuWork();
  fail_unless_equals_int(buffers.alive(), 0);
}

// Freeing a buffer may call back into the element, so its slot must already be free.
TEST(test_buffers_go_after_the_slot_is_free) {
  Element element;
  struct Owner {
    Element& element;
    int calls = 0;
  } owner{element};
  const OwnedBuffer other = new_system_frame(2);
  const PendingGpuWork occupies_the_other_slot = element.start({other.get()}, {});
  OwnedBuffer in = new_system_frame(1);
  gst_mini_object_weak_ref(
      GST_MINI_OBJECT_CAST(in.get()),
      +[](gpointer data, GstMiniObject*) {
        auto* self = static_cast<Owner*>(data);
        fail_unless(current_fake_context() == nullptr);
        const CudaScope scope(self->element.context);
        const OwnedBuffer again = new_system_frame(3);
        self->element.start({again.get()}, {});
        ++self->calls;
      },
      &owner);
  PendingGpuWork work = element.start({in.get()}, {});
  in.reset();
  std::thread([&] { work.complete(); }).join();
  fail_unless_equals_int(owner.calls, 1);
}

TEST(test_slots_wait_for_other_threads) {
  std::vector<std::thread> threads;
  std::atomic<int> given_back{0};
  {
    Element element;
    // The fake streams are not thread-safe, so nothing is enqueued here.
    for (int number = 0; number < 6; ++number)
      threads.emplace_back([&, frames = std::optional(element.slots.map({}, {}))]() mutable {
        let_time_pass(3);
        ++given_back;
        frames.reset();
      });
    fail_unless(given_back >= 4, "two slots served more than two frames at once");
  }
  fail_unless_equals_int(given_back, 6);
  for (std::thread& thread : threads)
    thread.join();
}

// One output is in place, the other is downloaded. The notification comes once both are complete.
TEST(test_notices, .times(2)) {
  Element element;
  const OwnedBuffer left = new_system_frame(7), right = new_system_frame(8);
  const OwnedBuffer in_place = new_cuda_frame(element.context, nullptr);
  const OwnedBuffer downloaded = new_system_frame(0);
  int calls = 0;
  PendingGpuWork work =
      element.start({left.get(), right.get()}, {in_place.get(), downloaded.get()});
  work.when_done([&] { ++calls; });
  const CudaStream notices = newest_fake_stream();
  advance_fake_stream(notices);
  fail_unless_equals_int(calls, 0);
  finish_fake_stream(element.compute_stream);
  advance_fake_stream(notices);
  fail_unless_equals_int(calls, 0);
  fail_unless(!work.done());
  if (index == 0) {
    finish_fake_stream(element.download_stream);
    fail_unless(work.done());
  } else {
    work.complete();  // as if a frame arrived before the notification
  }
  advance_fake_stream(notices);
  fail_unless_equals_int(calls, 1);
}

// A frame may be completed or dropped while another context is current.
TEST(test_the_context_comes_along, .times(2)) {
  Element element;
  const OwnedBuffer in = new_system_frame(1), out = new_system_frame(0);
  PendingGpuWork work = element.slots.map({in.get()}, {out.get()});
  GstObject* used = nullptr;
  notify_when_passed(*element.compute, [&] { used = current_fake_context(); });
  work.end(false);
  const CudaScope other{new_fake_context()};
  GstObject* const current = current_fake_context();
  if (index == 0)
    work.complete();
  else
    work = PendingGpuWork();
  fail_unless(used == element.context.object(), "waited in another context");
  fail_unless(current_fake_context() == current);
}

TEST(test_automatic_frames_in_flight) {
  const auto number = automatic_frames_in_flight;
  for (const std::size_t pipelines : {std::size_t{1}, overlapping_pipelines})
    fail_unless_equals_int(number(FlightUnit::frame, DeviceKind::cuda, false, pipelines), 3);
  fail_unless_equals_int(
      number(FlightUnit::frame, DeviceKind::cuda, false, overlapping_pipelines + 1), 1);
  fail_unless_equals_int(number(FlightUnit::pair, DeviceKind::cuda, false, 1), 2);
  for (const FlightUnit unit : {FlightUnit::frame, FlightUnit::pair}) {
    fail_unless_equals_int(number(unit, DeviceKind::cuda, true, 1), 1);
    for (const bool in_stream_order : {false, true})
      fail_unless_equals_int(number(unit, DeviceKind::cpu, in_stream_order, 1), 1);
  }
}
