// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: launches that overlap. From sm_90 on, the GPU can start a launch while the
// previous one drains (programmatic dependent launch), which hides the latency of the start. A
// kernel calls launch_dependents() early, and grid_dependency_wait() before it first touches memory
// that earlier launches write or read.

#include <cuda_runtime.h>

#include "cuda/core/cuda_check.h"

namespace cudavision {

/// Returns when every earlier launch on the stream is complete and its writes are visible.
__device__ inline void grid_dependency_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// The next launch may start once every block has called this or has ended.
__device__ inline void launch_dependents() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Launches kernels on one stream. Every kernel must call grid_dependency_wait().
template <class Arguments>
class Launcher {
 public:
  using Kernel = void (*)(Arguments);

  /// any may be any of the kernels, because all of them are built for the same targets.
  Launcher(cudaStream_t stream, Kernel any) : stream_(stream) {
    // Code compiled for older GPUs does not wait, even on a card of sm_90.
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, any), "loading the CUDA kernels");
    overlapping_ = attributes.ptxVersion >= 90 && attributes.binaryVersion >= 90;
  }

  /// If cooperative is true, all blocks are resident at once, so that they may wait for each other.
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
