// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstdlib>
#include <cstring>

#include "cuda/core/parallel.h"

namespace cudavision {
namespace {

class CpuEvent final : public Event {
 public:
  void record() override {}
  bool done() override { return true; }
  void wait() override {}
};

void copy_rows(View<const std::uint8_t> from, View<std::uint8_t> to) {
  // Below this size, waking other threads takes longer than the copy.
  constexpr std::int64_t bytes_for_threads = 1 << 18;
  const auto row_bytes = static_cast<std::size_t>(from.width);
  const auto copy_row = [&](int y) { std::memcpy(to.row(y), from.row(y), row_bytes); };
  if (std::int64_t{from.width} * from.height >= bytes_for_threads)
    return for_rows(from.height, copy_row);
  for (int y = 0; y < from.height; ++y)
    copy_row(y);
}

class CpuDevice final : public Device {
 public:
  DeviceKind kind() const noexcept override { return DeviceKind::cpu; }
  Buffer page_lock(void*, std::size_t) override { return {}; }

  void upload(View<const std::uint8_t> host, View<std::uint8_t> device) override {
    copy_rows(host, device);
  }
  void download(View<const std::uint8_t> device, View<std::uint8_t> host) override {
    copy_rows(device, host);
  }
  void copy(View<const std::uint8_t> from, View<std::uint8_t> to) override { copy_rows(from, to); }

  void fill(View<std::uint8_t> to, std::uint8_t value) override {
    for (int y = 0; y < to.height; ++y)
      std::memset(to.row(y), value, static_cast<std::size_t>(to.width));
  }

  std::unique_ptr<Event> make_event() override { return std::make_unique<CpuEvent>(); }
  void wait_event(const Event&) override {}
  void finish() override {}

 private:
  Buffer do_allocate(std::size_t bytes) override {
    constexpr std::size_t alignment = 256;
    void* data = bytes > SIZE_MAX - alignment
                     ? nullptr
                     : std::aligned_alloc(alignment, round_up(bytes, alignment));
    if (!data)
      throw Error(Error::Kind::out_of_memory,
                  "allocating " + std::to_string(bytes) + " bytes of host memory failed");
    return make_buffer(data, bytes, [](void* memory) noexcept { std::free(memory); });
  }
  Buffer do_allocate_host(std::size_t bytes) override { return do_allocate(bytes); }
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() {
  return std::make_unique<CpuDevice>();
}

}  // namespace cudavision
