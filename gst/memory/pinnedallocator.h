// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/memory/libgstcuda.h"

namespace cudavision {

/// An allocator of system memory, cleared, so that the bytes between the rows of a frame are the
/// same each time. With a context it is page-locked, which the GPU reads and writes at full speed,
/// and keeps the context alive; where no such memory is left, it is ordinary. The caller owns the
/// allocator.
GstAllocator* new_host_allocator(const CudaContext& context);

/// Whether memory comes from such an allocator and is page-locked.
bool is_page_locked_memory(GstMemory* memory);

}  // namespace cudavision
