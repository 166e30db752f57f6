// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "device.h"

namespace cudavision::test {

/// Calls of operator new in this program, which counting_device.cpp makes countable.
int news();

/// Another device that counts what is allocated on it.
class CountingDevice final : public Device {
 public:
  explicit CountingDevice(Device& device) : device_(device) {}

  int allocations = 0;

  Backend backend() const noexcept override { return device_.backend(); }
  CudaStream stream() const noexcept override { return device_.stream(); }
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
  void finish() override { device_.finish(); }

 private:
  Buffer do_allocate(std::size_t bytes) override {
    ++allocations;
    return device_.allocate(bytes);
  }
  Buffer do_allocate_host(std::size_t bytes) override {
    ++allocations;
    return device_.allocate_host(bytes);
  }

  Device& device_;
};

}  // namespace cudavision::test
