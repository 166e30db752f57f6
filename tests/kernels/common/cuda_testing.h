// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cuda/core/device.h"

/// Support for CUDA tests. cuda_testing_none.cpp implements it in builds without CUDA.
namespace cudavision::test {

const std::string& cuda_unusable();

/// A CUDA stream, and a Device that uses it. Requires an empty cuda_unusable().
class CudaTestDevice {
 public:
  CudaTestDevice();
  ~CudaTestDevice();

  Device& operator*() const { return *device_; }
  Device* operator->() const { return device_.get(); }
  CudaStream stream() const { return stream_; }

  void spin(int blocks, int milliseconds);

  /// Blocks the stream until release(), at most for a minute. Several holds are released in order.
  /// Does not work under tools that serialise kernels.
  void hold();
  void release();

  /// Captures `work`, and replays the graph. Throws Error if `work` allocates or waits.
  void capture_and_replay(const std::function<void()>& work, int times);

 private:
  CudaStream stream_ = nullptr;
  std::unique_ptr<Device> device_;
  volatile int* releases_ = nullptr;  ///< pinned memory
  int holds_ = 0;
};

int cuda_multiprocessors();

/// For example "NVIDIA H200, driver for CUDA 13.0".
std::string cuda_card();

}  // namespace cudavision::test
