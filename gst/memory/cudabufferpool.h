// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/core/videoformat.h"
#include "gst/memory/libgstcuda.h"

namespace cudavision {

/// Creates an unconfigured pool of frames or tensors in CUDA memory, for all supported formats. If
/// libgstcuda has correct pools for the format, the pool is libgstcuda's. Otherwise it is our own,
/// and its memory comes from a libgstcuda pool for a backing format. The caller owns the pool.
///
/// Buffers of tensors have exactly the configured size (a multiple of 4 bytes), no GstVideoMeta.
GstBufferPool* new_cuda_frame_pool(const CudaContext& context, const FrameFormat& format);

/// Returns true if the pool has the type and context of a pool from new_cuda_frame_pool().
bool is_cuda_frame_pool(GstBufferPool* pool, const CudaContext& context, const FrameFormat& format);

/// Returns a configured pool's buffer size, which may differ from the requested size.
guint buffer_size_of(GstBufferPool* pool);

}  // namespace cudavision
