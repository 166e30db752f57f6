// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/base/videoformat.h"
#include "gst/memory/libgstcuda.h"

namespace cudavision {

/// A pool of frames in CUDA memory, of any format of the elements, not configured yet: libgstcuda's
/// own where that knows the format, else one that borrows its memory under another format's name.
/// The caller owns the pool.
GstBufferPool* new_cuda_frame_pool(const CudaContext& context, const FrameFormat& format);

/// Whether somebody else's pool gives such frames in that context.
bool is_cuda_frame_pool(GstBufferPool* pool, const CudaContext& context, const FrameFormat& format);

}  // namespace cudavision
