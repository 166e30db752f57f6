// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

/// Pools, allocators and memory of neighbours that fail now and then, as they do when memory runs
/// out, a device is lost or an application ends.
namespace fuzz {

/// Answers an ALLOCATION query with such a pool, such an allocator, or both. Sizes and numbers of
/// buffers may be nonsense. Any thread may call this.
void offer_failing_pools(GstQuery* query);

/// Returns a buffer whose memory cannot be mapped now and then.
GstBuffer* new_unreliable_buffer(gsize size);

}  // namespace fuzz
