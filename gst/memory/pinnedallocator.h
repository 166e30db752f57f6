// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/memory/libgstcuda.h"

namespace cudavision {

/// Makes an allocator of system memory. The memory is zeroed, so that the bytes between the rows of
/// a frame are always the same. With a context, the memory is page-locked, which the GPU reads and
/// writes at full speed, and the allocator keeps the context alive. If no page-locked memory is
/// left, the memory is ordinary. The caller owns the allocator.
GstAllocator* new_pinned_allocator(const CudaContext& context);

/// True if memory comes from such an allocator and is page-locked.
bool is_page_locked_memory(GstMemory* memory);

}  // namespace cudavision
