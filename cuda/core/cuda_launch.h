// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: launches that follow each other closely. From sm_90 on the GPU can start a launch
// while the one before it comes to its end (programmatic dependent launch), which hides what
// starting costs. The kernel waits before it first touches what earlier launches write, and lets
// the next launch in.

#include <cuda_runtime.h>

#include "cuda/core/cuda_check.h"

namespace cudavision {

/// Every earlier launch on the stream is complete, and what it wrote is there, when this returns.
__device__ inline void grid_dependency_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// The next launch may start once all blocks have said so, or have ended.
__device__ inline void launch_dependents() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Launches kernel(arguments) on one stream. Every kernel it is given must call
/// grid_dependency_wait().
template <class Arguments>
class Launcher {
 public:
  using Kernel = void (*)(Arguments);

  /// any: one of the kernels; they are all built for the same targets.
  Launcher(cudaStream_t stream, Kernel any) : stream_(stream) {
    // Code for older GPUs does not wait, on whatever card it runs.
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, any), "loading the CUDA kernels");
    overlapping_ = attributes.ptxVersion >= 90 && attributes.binaryVersion >= 90;
  }

  /// cooperative: the blocks wait for each other, so all of them must be resident at once.
  void operator()(Kernel kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes,
                  const Arguments& arguments, bool cooperative = false) const {
    cudaLaunchAttribute attributes[2]{};
    unsigned count = 0;
    if (cooperative) {
      attributes[count].id = cudaLaunchAttributeCooperative;
      attributes[count++].val.cooperative = 1;
    }
    if (overlapping_) {
      attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream_;
    config.attrs = attributes;
    config.numAttrs = count;
    cuda_check(cudaLaunchKernelEx(&config, kernel, arguments), "launching a kernel on the GPU");
  }

 private:
  cudaStream_t stream_;
  bool overlapping_ = false;
};

}  // namespace cudavision
