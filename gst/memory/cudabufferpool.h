// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/core/videoformat.h"
#include "gst/memory/libgstcuda.h"

namespace cudavision {

/// Makes a pool of frames or tensors in CUDA memory, for any format that the elements support. The
/// pool is not configured yet. If libgstcuda knows the format, this is one of its pools. Otherwise
/// it is one of ours, whose memory comes from a backing pool: one of libgstcuda's pools, for a
/// format of the same size that libgstcuda knows. The caller owns the result.
///
/// The buffers of tensors have exactly the size that the pool is configured with, which must be a
/// multiple of four bytes, no padding, and no GstVideoMeta.
GstBufferPool* new_cuda_frame_pool(const CudaContext& context, const FrameFormat& format);

/// True if pool is of the kind that new_cuda_frame_pool() makes for the format, in that context.
bool is_cuda_frame_pool(GstBufferPool* pool, const CudaContext& context, const FrameFormat& format);

/// Returns the size of the buffers that any pool is configured for. The pool may have chosen
/// another one than it was asked for.
guint buffer_size_of(GstBufferPool* pool);

}  // namespace cudavision
