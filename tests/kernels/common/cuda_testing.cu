// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cuda_runtime.h>

#include "tests/kernels/common/cuda_testing.h"

namespace cudavision::test {
namespace {

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw Error(Error::Kind::device, std::string("tests: ") + what + ": " +
                                         cudaGetErrorName(error) + ": " +
                                         cudaGetErrorString(error));
}

__global__ void spin_kernel(unsigned long long nanoseconds, unsigned long long max_clocks) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  const long long first_clock = clock64();
  // The clock ends the loop even if the timer does not advance.
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds &&
           static_cast<unsigned long long>(clock64() - first_clock) < max_clocks);
}

__global__ void hold_kernel(const volatile int* releases, int number) {
  constexpr unsigned long long minute = 60ULL * 1000 * 1000 * 1000;
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (*releases < number && now - start < minute);
}

std::string find_reason() {
  if (!built_with_cuda())
    return "this build has no CUDA kernels";
  const cudaError_t error = cudaFree(nullptr);  // creates the primary context and makes it current
  if (error != cudaSuccess)
    return std::string("no usable CUDA device: ") + cudaGetErrorString(error);
  try {
    CudaTestDevice device;
    device->finish();
  } catch (const Error& failure) {
    return std::string("the CUDA device does not start: ") + failure.what();
  }
  return {};
}

}  // namespace

const std::string& cuda_unusable() {
  static const std::string reason = find_reason();
  return reason;
}

CudaTestDevice::CudaTestDevice() {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  try {
    device_ = make_cuda_device(stream_);
  } catch (...) {
    cudaStreamDestroy(stream_);
    throw;
  }
}

CudaTestDevice::~CudaTestDevice() {
  if (releases_)
    *releases_ = holds_;
  device_.reset();
  cudaStreamDestroy(stream_);
  cudaFreeHost(const_cast<int*>(releases_));
}

void CudaTestDevice::spin(int blocks, int milliseconds) {
  const auto time = static_cast<unsigned long long>(milliseconds);
  spin_kernel<<<blocks, 1024, 0, stream_>>>(time * 1000000, time * 3000000);
  check(cudaGetLastError(), "launching the busy kernel");
}

void CudaTestDevice::hold() {
  if (!releases_) {
    void* memory = nullptr;
    check(cudaMallocHost(&memory, sizeof *releases_), "allocating pinned memory");
    releases_ = static_cast<volatile int*>(memory);
    *releases_ = 0;
  }
  hold_kernel<<<1, 1, 0, stream_>>>(releases_, ++holds_);
  check(cudaGetLastError(), "launching the kernel that waits");
}

void CudaTestDevice::release() {
  *releases_ = *releases_ + 1;
}

void CudaTestDevice::capture_and_replay(const std::function<void()>& work, int times) {
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "beginning a capture");
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(stream_, &graph);
    if (graph)
      cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(stream_, &graph), "ending a capture");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t instantiated = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check(instantiated, "instantiating a graph");
  cudaError_t error = cudaSuccess;
  for (int i = 0; i < times && error == cudaSuccess; ++i)
    error = cudaGraphLaunch(executable, stream_);
  if (error == cudaSuccess)
    error = cudaStreamSynchronize(stream_);
  cudaGraphExecDestroy(executable);
  check(error, "running a graph");
}

int cuda_multiprocessors() {
  int device = 0, count = 0;
  check(cudaGetDevice(&device), "finding the card");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
        "asking for the multiprocessors");
  return count;
}

std::string cuda_card() {
  int device = 0, driver = 0;
  check(cudaGetDevice(&device), "finding the card");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "asking for the card's name");
  check(cudaDriverGetVersion(&driver), "asking for the driver's version");
  return std::string(properties.name) + ", driver for CUDA " + std::to_string(driver / 1000) + "." +
         std::to_string(driver % 1000 / 10);
}

}  // namespace cudavision::test
