// SPDX-License-Identifier: LGPL-2.1-or-later
#include <atomic>
#include <limits>
#include <utility>

#include "cuda/core/device.h"
#include "tests/kernels/common/allocations/watched_device.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/random.h"

#ifdef CUDAVISION_TEST_SANITIZED
// A test requests more memory than the machine has. By default, AddressSanitizer would abort.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
#endif

namespace cudavision::test {
namespace {

CUDAVISION_ON_BOTH_DEVICES(Devices);

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(count);
  Random random(seed);
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(random.next());
  return bytes;
}

std::vector<std::uint8_t> contents(Device& device, const Buffer& buffer) {
  std::vector<std::uint8_t> bytes(buffer.size());
  device.download(bytes_of(buffer.data(), bytes.size()), bytes_of(bytes.data(), bytes.size()));
  device.finish();
  return bytes;
}

TEST_P(Devices, KnowsItsKind) {
  EXPECT_EQ(device.kind(), GetParam());
}

TEST_P(Devices, AllocatesAlignedMemory) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{3}, std::size_t{256}, std::size_t{257}, std::size_t{1} << 20}) {
    const Buffer memory = device.allocate(bytes);
    const Buffer host = device.allocate_host(bytes);
    ASSERT_NE(memory.data(), nullptr);
    ASSERT_NE(host.data(), nullptr);
    EXPECT_EQ(memory.size(), bytes);
    EXPECT_EQ(host.size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 256, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(host.data()) % 64, 0u);
  }
  EXPECT_NE(device.allocate(0).data(), nullptr);
  EXPECT_NE(device.allocate_host(0).data(), nullptr);
}

TEST_P(Devices, RefusesMoreMemoryThanThereIs) {
  for (const std::size_t bytes :
       {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() / 2}) {
    CUDAVISION_EXPECT_ERROR(device.allocate(bytes), out_of_memory, "memory");
    CUDAVISION_EXPECT_ERROR(device.allocate_host(bytes), out_of_memory, "memory");
  }
  const Buffer memory = device.allocate(16);
  device.fill(bytes_of(memory.data(), 16), 7);
  device.finish();
  EXPECT_EQ(contents(device, memory), std::vector<std::uint8_t>(16, 7));
}

TEST_P(Devices, MovesBuffers) {
  Buffer first = device.allocate(100);
  void* const address = first.data();
  Buffer second = std::move(first);
  EXPECT_EQ(second.data(), address);
  EXPECT_EQ(second.size(), 100u);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(first.size(), 0u);

  Buffer third = device.allocate(50);
  third = std::move(second);
  EXPECT_EQ(third.data(), address);
  EXPECT_EQ(second.data(), nullptr);
  Buffer& same = third;
  third = std::move(same);
  EXPECT_EQ(third.data(), address);
  EXPECT_EQ(third.size(), 100u);
  third = Buffer();
  EXPECT_EQ(third.data(), nullptr);
  EXPECT_EQ(Buffer().size(), 0u);
}

struct Rectangle {
  std::size_t block = 0;
  View<std::uint8_t> in(void* data) const {
    return {static_cast<std::uint8_t*>(data) + start, width, height, pitch};
  }
  int start = 0, width = 0, height = 0;
  std::ptrdiff_t pitch = 0;
};

Rectangle random_rectangle(Random& random, int width, int height) {
  Rectangle rectangle;
  rectangle.start = random.between(0, 40);
  rectangle.width = width;
  rectangle.height = height;
  rectangle.pitch = width + (random.one_in(3) ? 0 : random.between(0, 70));
  rectangle.block = static_cast<std::size_t>(rectangle.start + rectangle.pitch * height + 40);
  return rectangle;
}

std::vector<std::uint8_t> copied(const std::vector<std::uint8_t>& from, const Rectangle& from_at,
                                 std::vector<std::uint8_t> to, const Rectangle& to_at) {
  for (int y = 0; y < from_at.height; ++y)
    for (int x = 0; x < from_at.width; ++x)
      to[to_at.start + to_at.pitch * y + x] = from[from_at.start + from_at.pitch * y + x];
  return to;
}

TEST_P(Devices, CopiesRectanglesAndNothingAroundThem) {
  Random random(settings().seed);
  for (int i = 0; i < 100; ++i) {
    const int width = random.log_uniform(2000), height = random.log_uniform(100);
    SCOPED_TRACE(std::to_string(width) + "×" + std::to_string(height));
    const Rectangle a_at = random_rectangle(random, width, height);
    const Rectangle b_at = random_rectangle(random, width, height);
    const Rectangle c_at = random_rectangle(random, width, height);
    const Rectangle d_at = random_rectangle(random, width, height);
    const auto a = random_bytes(a_at.block, random.next());
    const auto b = random_bytes(b_at.block, random.next());
    const auto c = random_bytes(c_at.block, random.next());
    const auto d = random_bytes(d_at.block, random.next());

    // Copy from pageable or page-locked host memory to the device, within the device, and back.
    const bool locked = random.one_in(2);
    const Buffer host = device.allocate_host(a.size());
    std::copy(a.begin(), a.end(), host.as<std::uint8_t>());
    std::vector<std::uint8_t> pageable = a;
    const Buffer upper = device.allocate(b.size()), lower = device.allocate(c.size());
    std::vector<std::uint8_t> b_copy = b, c_copy = c, back = d;
    device.upload(bytes_of(b_copy.data(), b.size()), bytes_of(upper.data(), b.size()));
    device.upload(bytes_of(c_copy.data(), c.size()), bytes_of(lower.data(), c.size()));
    device.upload(a_at.in(locked ? host.data() : pageable.data()), b_at.in(upper.data()));
    device.copy(b_at.in(upper.data()), c_at.in(lower.data()));
    device.download(c_at.in(lower.data()), d_at.in(back.data()));
    device.finish();

    const auto expected_b = copied(a, a_at, b, b_at);
    const auto expected_c = copied(expected_b, b_at, c, c_at);
    ASSERT_EQ(contents(device, upper), expected_b) << "upload";
    ASSERT_EQ(contents(device, lower), expected_c) << "copy";
    ASSERT_EQ(back, copied(expected_c, c_at, d, d_at)) << "download";

    const auto value = static_cast<std::uint8_t>(random.next());
    device.fill(c_at.in(lower.data()), value);
    device.finish();
    const std::vector<std::uint8_t> filled(a_at.block, value);
    ASSERT_EQ(contents(device, lower), copied(filled, a_at, expected_c, c_at)) << "fill";
  }
}

TEST_P(Devices, CopiesNothingWhereThereIsNothing) {
  const Buffer memory = device.allocate(64);
  device.fill(bytes_of(memory.data(), 64), 9);
  std::vector<std::uint8_t> host(64, 1);
  const View<std::uint8_t> no_width{host.data(), 0, 4, 16}, no_height{host.data(), 4, 0, 16};
  for (const auto& nothing : {no_width, no_height}) {
    View<std::uint8_t> there = nothing;
    there.data = memory.as<std::uint8_t>();
    device.upload(nothing, there);
    device.download(there, nothing);
    device.fill(there, 5);
  }
  device.finish();
  EXPECT_EQ(contents(device, memory), std::vector<std::uint8_t>(64, 9));
  EXPECT_EQ(host, std::vector<std::uint8_t>(64, 1));
}

TEST_P(Devices, EventsMarkPointsInTheQueue) {
  const Buffer memory = device.allocate(1 << 20);
  const Buffer host = device.allocate_host(1 << 20);
  const auto event = device.make_event();
  EXPECT_TRUE(event->done()) << "nothing has been recorded yet";
  event->wait();
  for (int i = 1; i <= 5; ++i) {
    device.fill(bytes_of(memory.data(), memory.size()), static_cast<std::uint8_t>(i));
    device.download(bytes_of(memory.data(), memory.size()), bytes_of(host.data(), host.size()));
    event->record();
    event->wait();
    EXPECT_TRUE(event->done());
    EXPECT_EQ(host.as<std::uint8_t>()[0], i);
    EXPECT_EQ(host.as<std::uint8_t>()[host.size() - 1], i);
  }
  device.finish();
}

TEST(CudaDevice, EventIsNotDoneBeforeTheWorkIs) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_TRUE_TIMING();
  CudaTestDevice device;
  const auto event = device->make_event();
  device.hold();
  event->record();
  EXPECT_FALSE(event->done());
  device.release();
  event->wait();
  EXPECT_TRUE(event->done());
}

// The stream of `notices` waits for the events and runs the callback, so `worker` is not delayed.
TEST(CudaDevice, NotifiesWhenOtherDevicesHavePassedEvents) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_TRUE_TIMING();
  CudaTestDevice worker, notices;
  const auto first = worker->make_event(), second = worker->make_event();
  std::atomic<int> calls{0};
  worker.hold();
  first->record();
  notices->wait_event(*first);
  notify_when_passed(*notices, [&] { ++calls; });
  worker.hold();
  second->record();
  EXPECT_EQ(calls, 0);
  worker.release();
  first->wait();
  notices->finish();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(second->done()) << "the notice has waited for later work";
  notices->wait_event(*second);
  notify_when_passed(*notices, [&] { ++calls; });
  worker.release();
  notices->finish();
  EXPECT_TRUE(second->done());
  EXPECT_EQ(calls, 2);
}

TEST(CudaDevice, WaitsForEventsOfOtherDevices) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice first, second;
  const Buffer memory = first->allocate(1 << 20), copy = first->allocate(1 << 20);
  const auto written = first->make_event(), copied = second->make_event();
  for (int i = 1; i <= 20; ++i) {
    if (!settings().small)
      first.hold();
    first->fill(bytes_of(memory.data(), memory.size()), static_cast<std::uint8_t>(i));
    written->record();
    second->wait_event(*written);
    second->copy(bytes_of(memory.data(), memory.size()), bytes_of(copy.data(), copy.size()));
    copied->record();
    first->wait_event(*copied);  // later fills must not overwrite the copy's source early
    if (!settings().small) {
      EXPECT_FALSE(copied->done()) << "the host has waited";
      first.release();
    }
    first->fill(bytes_of(memory.data(), memory.size()), 0);
    ASSERT_EQ(contents(*second, copy),
              std::vector<std::uint8_t>(1 << 20, static_cast<std::uint8_t>(i)));
  }
}

TEST(CudaDevice, LocksPagesOfOtherOwners) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_TRUE_TIMING();
  CudaTestDevice device;
  std::vector<std::uint8_t> host = random_bytes(1 << 22, settings().seed);
  const std::vector<std::uint8_t> expected = host;
  const Buffer memory = device->allocate(host.size());
  const auto event = device->make_event();
  {
    const Buffer lock = device->page_lock(host.data(), host.size());
    ASSERT_EQ(lock.data(), host.data());
    EXPECT_EQ(device->page_lock(host.data(), host.size()).data(), nullptr) << "it is locked";
    device.hold();
    device->upload(bytes_of(host.data(), host.size()), bytes_of(memory.data(), memory.size()));
    event->record();
    EXPECT_FALSE(event->done()) << "the transfer waited for the device";
    device.release();
    event->wait();
  }
  std::fill(host.begin(), host.end(), std::uint8_t{0});
  EXPECT_EQ(contents(*device, memory), expected);
  EXPECT_NE(device->page_lock(host.data(), host.size()).data(), nullptr) << "it was not unlocked";
  EXPECT_EQ(device->page_lock(nullptr, 4096).data(), nullptr);
  device->finish();  // the refusals must not affect later calls
}

TEST(CpuDevice, NeedsNoPageLocks) {
  std::uint8_t byte = 0;
  EXPECT_EQ(make_cpu_device()->page_lock(&byte, 1).data(), nullptr);
}

TEST(CudaDevice, EnqueuesTransfersWithPageLockedMemory) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_TRUE_TIMING();
  CudaTestDevice device;
  const Buffer host = device->allocate_host(1 << 20);
  const Buffer memory = device->allocate(1 << 20);
  const auto event = device->make_event();
  device.hold();
  device->upload(bytes_of(host.data(), host.size()), bytes_of(memory.data(), memory.size()));
  device->download(bytes_of(memory.data(), memory.size()), bytes_of(host.data(), host.size()));
  event->record();
  EXPECT_FALSE(event->done()) << "a transfer waited for the device";
  device.release();
  device->finish();
}

TEST(CudaDevice, RefusesTheDefaultStream) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_EXPECT_ERROR(make_cuda_device(nullptr), invalid_argument, "default stream");
}

TEST(CudaDevice, IsThereIfTheBuildHasCuda) {
#ifdef CUDAVISION_TEST_HAVE_CUDA
  EXPECT_TRUE(built_with_cuda());
#else
  EXPECT_FALSE(built_with_cuda());
  CUDAVISION_EXPECT_ERROR(make_cuda_device(nullptr), invalid_argument, "no CUDA kernels");
#endif
}

}  // namespace
}  // namespace cudavision::test
