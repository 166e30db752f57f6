// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/memory/libgstcuda.h"

namespace cudavision {

/// Returns a new allocator of system memory; the caller owns it. Memory is zeroed, so padding is
/// reproducible. With a context, to which the allocator holds a reference, memory is page-locked if
/// possible, so the GPU transfers it at full speed.
GstAllocator* new_pinned_allocator(const CudaContext& context);

/// Returns true if the memory comes from one of these allocators and is page-locked.
bool is_page_locked_memory(GstMemory* memory);

}  // namespace cudavision
