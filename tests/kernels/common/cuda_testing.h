// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cuda/core/device.h"

/// The CUDA side of the tests. Every test program links these functions; builds without CUDA have
/// versions that report it.
namespace cudavision::test {

/// Empty if CUDA kernels can run on this machine, else the reason why they cannot.
const std::string& cuda_unusable();

/// A stream in the test program's context, and a device on it. Requires that cuda_unusable() is
/// empty.
class CudaTestDevice {
 public:
  CudaTestDevice();
  ~CudaTestDevice();
  CudaTestDevice(const CudaTestDevice&) = delete;
  CudaTestDevice& operator=(const CudaTestDevice&) = delete;

  Device& operator*() const { return *device_; }
  Device* operator->() const { return device_.get(); }
  CudaStream stream() const { return stream_; }

  /// Enqueues a kernel of that many blocks of 1024 threads, which runs for that long.
  void spin(int blocks, int milliseconds);

  /// Captures what work enqueues in a graph, and runs the graph that many times. Throws Error if
  /// work does anything that cannot be captured, such as allocating or waiting.
  void capture_and_replay(const std::function<void()>& work, int times);

 private:
  CudaStream stream_ = nullptr;
  std::unique_ptr<Device> device_;
};

/// Number of multiprocessors of the card.
int cuda_multiprocessors();

/// "NVIDIA H200, driver 13.0" or the like.
std::string cuda_card();

}  // namespace cudavision::test
