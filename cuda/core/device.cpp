// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/core/device.h"

#include <utility>

namespace cudavision {

Buffer::~Buffer() {
  if (data_)
    free_(data_);
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(free_, other.free_);
}

// At least one byte, so that data() of an allocated buffer is never null.
Buffer Device::allocate(std::size_t bytes) {
  return do_allocate(bytes ? bytes : 1);
}

Buffer Device::allocate_host(std::size_t bytes) {
  return do_allocate_host(bytes ? bytes : 1);
}

}  // namespace cudavision
