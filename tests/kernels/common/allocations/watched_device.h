// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/core/device.h"

namespace cudavision::test {

inline View<std::uint8_t> bytes_of(void* data, std::size_t size) {
  return {static_cast<std::uint8_t*>(data), static_cast<int>(size), 1,
          static_cast<std::ptrdiff_t>(size)};
}

/// Records allocations. If `filling` is set, fills new device memory with this byte.
class WatchedDevice final : public Device {
 public:
  explicit WatchedDevice(Device& device, std::optional<std::uint8_t> filling = {})
      : device_(device), filling_(filling) {}

  DeviceKind kind() const noexcept override { return device_.kind(); }
  CudaStream stream() const noexcept override { return device_.stream(); }
  Buffer page_lock(void* memory, std::size_t bytes) override {
    return device_.page_lock(memory, bytes);
  }
  void upload(View<const std::uint8_t> host, View<std::uint8_t> device) override {
    device_.upload(host, device);
  }
  void download(View<const std::uint8_t> device, View<std::uint8_t> host) override {
    device_.download(device, host);
  }
  void copy(View<const std::uint8_t> from, View<std::uint8_t> to) override {
    device_.copy(from, to);
  }
  void fill(View<std::uint8_t> to, std::uint8_t value) override { device_.fill(to, value); }
  std::unique_ptr<Event> make_event() override { return device_.make_event(); }
  void wait_event(const Event& event) override { device_.wait_event(event); }
  void finish() override { device_.finish(); }

  int allocations() const { return count_; }

  std::uint32_t* allocation(std::size_t bytes) const {
    for (const auto& [data, size] : allocations_)
      if (size == bytes)
        return static_cast<std::uint32_t*>(data);
    return nullptr;
  }

 private:
  Buffer do_allocate(std::size_t bytes) override {
    ++count_;
    Buffer buffer = device_.allocate(bytes);
    if (filling_)
      fill(bytes_of(buffer.data(), bytes), *filling_);
    allocations_.emplace_back(buffer.data(), bytes);
    return buffer;
  }
  Buffer do_allocate_host(std::size_t bytes) override {
    ++count_;
    return device_.allocate_host(bytes);
  }

  Device& device_;
  std::optional<std::uint8_t> filling_;
  int count_ = 0;
  std::vector<std::pair<void*, std::size_t>> allocations_;
};

}  // namespace cudavision::test
