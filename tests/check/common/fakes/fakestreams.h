// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"

/// Streams in which work waits until somebody needs it, so that reading or overwriting too early is
/// noticed.
namespace check {

/// Makes a stream, which lives until the program ends.
cudavision::CudaStream new_fake_stream();
cudavision::CudaStream newest_fake_stream();
/// Makes a device on a stream. The fake of make_cuda_device() does the same.
std::unique_ptr<cudavision::Device> new_stream_device(cudavision::CudaStream stream);

/// Does all work in a stream, and in others as far as events demand it.
void finish_fake_stream(cudavision::CudaStream stream);
/// Does work in a stream until an event holds it back, but none in others.
void advance_fake_stream(cudavision::CudaStream stream);

}  // namespace check
