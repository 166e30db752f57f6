// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

/// Buffers that a test still holds when the element, which made or pushed them, is gone.
namespace fuzz {

/// Takes a reference to the buffer. Nobody may change its bytes from now on. Any thread may call
/// this.
void keep_buffer(GstBuffer* buffer);

/// Expects that the bytes of all kept buffers are still readable and the same, and frees them.
void free_kept_buffers();

}  // namespace fuzz
