// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>

namespace fuzz {

/// Calls change() while the source pad is blocked, and returns true; false if nothing comes to the
/// pad within some milliseconds. GStreamer allows links to a pad that data flows through only so.
bool while_blocked(GstPad* source, const std::function<void()>& change);

}  // namespace fuzz
