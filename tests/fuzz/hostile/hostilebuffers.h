// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "tests/check/common/pictures/random.h"

/// Buffers with damaged metas, with callbacks, or kept until their element is gone.
namespace fuzz {

void damage(check::Random& random, GstVideoMeta* meta, int planes);

/// The buffer's memory uses the element when it is freed, in any thread, as applications with their
/// own pools do. It keeps the element alive. Returns the buffer.
GstBuffer* with_callback(GstElement* element, GstBuffer* buffer);

/// Takes a reference. From now on, nobody may change the bytes. Thread-safe.
void keep_buffer(GstBuffer* buffer);

void free_kept_buffers();

}  // namespace fuzz
