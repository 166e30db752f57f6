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

// Zero bytes are one byte, so that data() of an allocated buffer is always an address.
Buffer Device::allocate(std::size_t bytes) {
  return do_allocate(bytes ? bytes : 1);
}

Buffer Device::allocate_host(std::size_t bytes) {
  return do_allocate_host(bytes ? bytes : 1);
}

#ifndef CUDAVISION_HAVE_CUDA
bool built_with_cuda() noexcept {
  return false;
}

std::unique_ptr<Device> make_cuda_device(CudaStream) {
  throw Error(Error::Kind::device,
              "this build has no CUDA kernels: rebuild with the CUDA toolkit (nvcc) installed");
}
#endif

}  // namespace cudavision
