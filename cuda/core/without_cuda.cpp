// SPDX-License-Identifier: LGPL-2.1-or-later

// Replaces device_cuda.cu in builds without the CUDA toolkit.

#include "cuda/core/device.h"

namespace cudavision {
namespace {

[[noreturn]] void refuse_cuda() {
  throw Error(Error::Kind::invalid_argument,
              "this build has no CUDA kernels: rebuild with the CUDA toolkit (nvcc) installed");
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(CudaStream) {
  refuse_cuda();
}

void notify_when_passed(Device&, std::function<void()>) {
  refuse_cuda();
}

}  // namespace cudavision
