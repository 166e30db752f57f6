// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/core/videoformat.h"
#include "gst/memory/libgstcuda.h"

namespace cudavision {

/// Makes an unconfigured pool of frames or tensors in CUDA memory, for all supported formats. This
/// is libgstcuda's pool if libgstcuda knows the format, else one of ours, whose memory comes from a
/// libgstcuda pool for another format, the backing format. The caller owns the result.
///
/// A tensor's buffers have exactly the configured size, which must be a multiple of four bytes,
/// without padding and GstVideoMeta.
GstBufferPool* new_cuda_frame_pool(const CudaContext& context, const FrameFormat& format);

/// True if new_cuda_frame_pool() would make such a pool.
bool is_cuda_frame_pool(GstBufferPool* pool, const CudaContext& context, const FrameFormat& format);

/// Returns a configured pool's buffer size, which may differ from the requested size.
guint buffer_size_of(GstBufferPool* pool);

}  // namespace cudavision
