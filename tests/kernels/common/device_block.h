// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "cuda/core/device.h"

namespace cudavision::test {

template <class T>
std::vector<T> downloaded(Device& device, const T* data, std::size_t count) {
  std::vector<T> values(count);
  const auto bytes = static_cast<int>(count * sizeof(T));
  device.download({reinterpret_cast<const std::uint8_t*>(data), bytes, 1, bytes},
                  {reinterpret_cast<std::uint8_t*>(values.data()), bytes, 1, bytes});
  device.finish();
  return values;
}

template <class T>
class DeviceBlock {
 public:
  DeviceBlock(Device& device, const std::vector<T>& values)
      : device_(device), count_(values.size()), buffer_(device.allocate(count_ * sizeof(T))) {
    device_.upload(row(reinterpret_cast<const std::uint8_t*>(values.data())),
                   row(buffer_.template as<std::uint8_t>()));
    device_.finish();
  }

  T* data() const { return buffer_.template as<T>(); }

  std::vector<T> values() const {
    std::vector<T> values(count_);
    device_.download(row(static_cast<const std::uint8_t*>(buffer_.template as<std::uint8_t>())),
                     row(reinterpret_cast<std::uint8_t*>(values.data())));
    device_.finish();
    return values;
  }

 private:
  template <class Byte>
  View<Byte> row(Byte* bytes) const {
    const std::size_t size = count_ * sizeof(T);
    if (size > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw std::length_error("a block of the tests is too large for one row");
    return {bytes, static_cast<int>(size), 1, static_cast<std::ptrdiff_t>(size)};
  }

  Device& device_;
  std::size_t count_;
  Buffer buffer_;
};

}  // namespace cudavision::test
