// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: turns CUDA's error codes into cudavision::Error.

#include <cuda_runtime.h>

#include <string>

#include "cuda/core/error.h"

namespace cudavision {

/// what: the doing that failed, as a phrase: "allocating 4096 bytes on the GPU".
inline void cuda_check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  cudaGetLastError();  // an error that has been reported is not to be found again by the next call
  throw Error(
      status == cudaErrorMemoryAllocation ? Error::Kind::out_of_memory : Error::Kind::device,
      std::string(what) + " failed: " + cudaGetErrorString(status) + " (" +
          cudaGetErrorName(status) + ")");
}

/// A property of the current GPU. what: it, as a phrase: "the shared memory".
inline int device_attribute(cudaDeviceAttr attribute, const char* what) {
  int device = 0;
  int value = 0;
  cuda_check(cudaGetDevice(&device), "finding the current GPU");
  const cudaError_t status = cudaDeviceGetAttribute(&value, attribute, device);
  if (status != cudaSuccess)
    cuda_check(status, (std::string("asking for ") + what + " of the GPU").c_str());
  return value;
}

inline int multiprocessor_count() {
  return device_attribute(cudaDevAttrMultiProcessorCount, "the number of multiprocessors");
}

}  // namespace cudavision
