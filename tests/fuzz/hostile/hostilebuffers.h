// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "tests/check/common/pictures/random.h"

/// Buffers with damaged metas, with callbacks, or kept until their element is gone.
namespace fuzz {

void damage(check::Random& random, GstVideoMeta* meta, int planes);

/// Adds a callback that uses the element when the buffer's memory is freed, in any thread, as
/// applications with their own pools do. The memory keeps the element alive. Returns the buffer.
GstBuffer* with_callback(GstElement* element, GstBuffer* buffer);

/// Keeps up to 32 buffers; free_kept_buffers() checks that they are unchanged. Thread-safe.
void keep_buffer(GstBuffer* buffer);

void free_kept_buffers();

}  // namespace fuzz
