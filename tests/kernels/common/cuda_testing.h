// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cuda/core/device.h"

/// The CUDA side of the tests. Every test program links these functions. In builds without CUDA,
/// cuda_testing_none.cpp provides versions that report that CUDA is missing.
namespace cudavision::test {

const std::string& cuda_unusable();

/// A stream in the test program's context and a device that uses it. Requires that cuda_unusable()
/// returns an empty string.
class CudaTestDevice {
 public:
  CudaTestDevice();
  ~CudaTestDevice();
  CudaTestDevice(const CudaTestDevice&) = delete;
  CudaTestDevice& operator=(const CudaTestDevice&) = delete;

  Device& operator*() const { return *device_; }
  Device* operator->() const { return device_.get(); }
  CudaStream stream() const { return stream_; }

  void spin(int blocks, int milliseconds);

  /// Enqueues a kernel that runs until the host calls release() for it, or for a minute, which is
  /// taken for a hang. Several are released in their order. Tools that run one kernel after the
  /// other, while the host waits, cannot run it.
  void hold();
  void release();

  /// Captures everything that `work` enqueues in a graph and runs the graph `times` times. Throws
  /// Error if `work` does anything that cannot be captured, such as allocating or waiting.
  void capture_and_replay(const std::function<void()>& work, int times);

 private:
  CudaStream stream_ = nullptr;
  std::unique_ptr<Device> device_;
  volatile int* releases_ = nullptr;  ///< pinned memory
  int holds_ = 0;
};

/// The number of multiprocessors of the GPU.
int cuda_multiprocessors();

/// The names of the GPU and the driver, such as "NVIDIA H200, driver 13.0".
std::string cuda_card();

}  // namespace cudavision::test
