// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "tests/check/common/pictures/random.h"

/// Buffers with damaged metas, with memory that calls back, and those that a test still holds when
/// the element, which made or pushed them, is gone.
namespace fuzz {

void damage(check::Random& random, GstVideoMeta* meta, int planes);

/// Lets the buffer's memory call back when it is freed: it reads and sets properties of the element
/// and sends it queries, in whatever thread frees it. Applications free frames of their own pools
/// in this way. The memory keeps the element alive. Returns the buffer.
GstBuffer* with_callback(GstElement* element, GstBuffer* buffer);

/// Takes a reference to the buffer. Nobody may change its bytes from now on. Any thread may call
/// this.
void keep_buffer(GstBuffer* buffer);

void free_kept_buffers();

}  // namespace fuzz
