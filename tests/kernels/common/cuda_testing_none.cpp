// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/common/cuda_testing.h"

namespace cudavision::test {

const std::string& cuda_unusable() {
  static const std::string reason = "this build has no CUDA kernels";
  return reason;
}

CudaTestDevice::CudaTestDevice() {
  device_ = make_cuda_device(nullptr);  // throws
}

CudaTestDevice::~CudaTestDevice() = default;

void CudaTestDevice::spin(int, int) {}
void CudaTestDevice::hold() {}
void CudaTestDevice::release() {}

void CudaTestDevice::capture_and_replay(const std::function<void()>&, int) {}

int cuda_multiprocessors() {
  return 0;
}

std::string cuda_card() {
  return "none";
}

}  // namespace cudavision::test
