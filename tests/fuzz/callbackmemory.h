// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace fuzz {

/// Lets the buffer's memory call back when it is freed: it reads and sets properties of the element
/// and sends it queries, in whatever thread frees it. Applications free frames of their own pools
/// in this way. The memory keeps the element alive. Returns the buffer.
GstBuffer* with_callback(GstElement* element, GstBuffer* buffer);

}  // namespace fuzz
