// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cuda/core/device.h"

/// The CUDA side of the tests. Every test program has these functions; where the build has no CUDA
/// they say so.
namespace cudavision::test {

/// Empty where CUDA kernels can run on this machine, else why not.
const std::string& cuda_unusable();

/// A stream of its own in the test program's context, and a device on it. Only where
/// cuda_unusable() is empty.
class CudaTestDevice {
 public:
  CudaTestDevice();
  ~CudaTestDevice();
  CudaTestDevice(const CudaTestDevice&) = delete;
  CudaTestDevice& operator=(const CudaTestDevice&) = delete;

  Device& operator*() const { return *device_; }
  Device* operator->() const { return device_.get(); }
  CudaStream stream() const { return stream_; }

  /// Enqueues a kernel that keeps blocks of 1024 threads busy for that long.
  void spin(int blocks, int milliseconds);

  /// Captures what work enqueues and then runs it that many times from the graph. Throws Error
  /// where work does anything that cannot be captured, as allocating or waiting is.
  void capture_and_replay(const std::function<void()>& work, int times);

 private:
  CudaStream stream_ = nullptr;
  std::unique_ptr<Device> device_;
};

/// The multiprocessors of the card.
int cuda_multiprocessors();

/// "NVIDIA H200, driver 13.0" or the like.
std::string cuda_card();

}  // namespace cudavision::test
