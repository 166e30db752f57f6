// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Launches with programmatic dependent launch: from sm_90 on, the GPU can start a launch while the
// previous one drains. A kernel may call launch_dependents() before it ends. It must call
// grid_dependency_wait() before the first access that conflicts with launches that may still run.

#include <cuda_runtime.h>

#include "cuda/core/cuda_check.h"

namespace cudavision {

/// Waits until all earlier launches on the stream are complete and their writes are visible.
__device__ inline void grid_dependency_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// Allows the next launch to start once every block has called this or has exited.
__device__ inline void launch_dependents() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Returns true if grid_dependency_wait() waits on the current GPU. kernel can be any kernel,
/// because all are built for the same targets.
inline bool can_overlap(const void* kernel) {
  // Code compiled for older targets does not wait, even on an sm_90 GPU.
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel), "loading the CUDA kernels");
  return attributes.ptxVersion >= 90 && attributes.binaryVersion >= 90;
}

struct KernelLaunch {
  const void* kernel = nullptr;
  unsigned blocks = 0, threads = 0;
  std::size_t shared_bytes = 0;
  bool overlapping = false;  ///< the kernel may start while the previous launch drains
  bool cooperative = false;  ///< all blocks are resident at once, so blocks may wait for each other

  bool operator==(const KernelLaunch&) const = default;
};

inline void launch_kernel(cudaStream_t stream, const KernelLaunch& launch, const void* argument) {
  cudaLaunchAttribute attributes[2]{};
  unsigned count = 0;
  if (launch.cooperative) {
    attributes[count].id = cudaLaunchAttributeCooperative;
    attributes[count++].val.cooperative = 1;
  }
  if (launch.overlapping) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(launch.blocks);
  config.blockDim = dim3(launch.threads);
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  void* arguments[] = {const_cast<void*>(argument)};
  cuda_check(cudaLaunchKernelExC(&config, launch.kernel, arguments),
             "launching a kernel on the GPU");
}

/// Launches kernels on one stream. Every kernel must call grid_dependency_wait().
template <class Arguments>
class Launcher {
 public:
  using Kernel = void (*)(Arguments);

  Launcher(cudaStream_t stream, Kernel any_kernel)
      : stream_(stream), overlapping_(can_overlap(reinterpret_cast<const void*>(any_kernel))) {}

  void operator()(Kernel kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes,
                  const Arguments& arguments, bool cooperative = false) const {
    launch_kernel(stream_,
                  {reinterpret_cast<const void*>(kernel), blocks, threads, shared_bytes,
                   overlapping_, cooperative},
                  &arguments);
  }

 private:
  cudaStream_t stream_;
  bool overlapping_;
};

}  // namespace cudavision
