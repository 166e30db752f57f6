// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "cuda/core/error.h"

namespace cudavision {

/// Throws Error if status is a failure. `what` names the operation, for example "allocating 4096
/// bytes on the GPU", and begins the error text.
inline void cuda_check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  cudaGetLastError();  // clears the error, so that the next call does not report it again
  throw Error(
      status == cudaErrorMemoryAllocation ? Error::Kind::out_of_memory : Error::Kind::device,
      std::string(what) + " failed: " + cudaGetErrorString(status) + " (" +
          cudaGetErrorName(status) + ")");
}

/// Returns an attribute of the current GPU. `what` names the attribute in errors.
inline int device_attribute(cudaDeviceAttr attribute, const char* what) {
  int device = 0;
  int value = 0;
  cuda_check(cudaGetDevice(&device), "querying the current GPU");
  const cudaError_t status = cudaDeviceGetAttribute(&value, attribute, device);
  if (status != cudaSuccess)
    cuda_check(status, (std::string("querying ") + what + " of the GPU").c_str());
  return value;
}

inline int multiprocessor_count() {
  return device_attribute(cudaDevAttrMultiProcessorCount, "the number of multiprocessors");
}

}  // namespace cudavision
