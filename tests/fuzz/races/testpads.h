// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>

#include "tests/check/common/owned.h"

namespace fuzz {

/// Returns a new pad with a template of ANY caps. A pad that has none answers CAPS queries with its
/// current caps, which GStreamer then uses without a reference.
check::Owned<GstPad> new_any_pad(const char* name, GstPadDirection direction);

/// Calls change() while the source pad is blocked, and returns true; false if nothing comes to the
/// pad within some milliseconds. GStreamer allows links to a pad that data flows through only so.
bool while_blocked(GstPad* source, const std::function<void()>& change);

}  // namespace fuzz
