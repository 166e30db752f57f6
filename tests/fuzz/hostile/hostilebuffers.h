// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "tests/check/common/pictures/random.h"

/// Buffers with damaged metas, with callbacks, or kept until their element is gone.
namespace fuzz {

void damage(check::Random& random, GstVideoMeta* meta, int planes);

/// When the buffer's memory is freed, in any thread, it uses the element, like applications with
/// own pools. It keeps the element alive. Returns the buffer.
GstBuffer* with_callback(GstElement* element, GstBuffer* buffer);

/// Takes a reference. Nobody may change the bytes any more. Any thread may call this.
void keep_buffer(GstBuffer* buffer);

void free_kept_buffers();

}  // namespace fuzz
