// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"

/// Streams that delay all work until it is needed, to detect early reads and overwrites.
namespace check {

/// Makes a stream, which lives until the program ends.
cudavision::CudaStream new_fake_stream();
cudavision::CudaStream newest_fake_stream();
/// Makes a device on a stream. The fake make_cuda_device() does the same.
std::unique_ptr<cudavision::Device> new_stream_device(cudavision::CudaStream stream);

/// Does all work of a stream, and the work of other streams for which this stream waits.
void finish_fake_stream(cudavision::CudaStream stream);
/// Does the stream's work up to the next event for which it must wait.
void advance_fake_stream(cudavision::CudaStream stream);

}  // namespace check
