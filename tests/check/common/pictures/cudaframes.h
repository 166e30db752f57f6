// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/check/common/filterharness.h"

namespace check {

inline const char cuda_feature[] = "video/x-raw(memory:CUDAMemory)";

std::string cuda_caps_of(const Picture& picture);

/// True if tested() pushes CUDA memory without waiting for the device (GStreamer 1.24 and later).
constexpr bool pushes_in_stream_order = GST_CHECK_VERSION(1, 24, 0);

/// Copies frames to CUDA memory, in a context of its own.
class CudaUploader {
 public:
  explicit CudaUploader(int gpu = 0);
  Owned<GstBuffer> upload(const Picture& picture);

 private:
  const Owned<GstHarness> harness_;
};

}  // namespace check
