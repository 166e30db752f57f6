// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>

#include "tests/check/common/owned.h"

namespace fuzz {

/// Returns a pad with a template of ANY caps. Without a template, GStreamer uses unreferenced caps.
check::Owned<GstPad> new_any_pad(const char* name, GstPadDirection direction);

/// Calls change() while the pad is blocked. If no data arrives within about 5 ms, returns false.
bool while_blocked(GstPad* source, const std::function<void()>& change);

}  // namespace fuzz
