// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/base/devicesession.h"

namespace cudavision {

/// Makes a sink pad of the session's element post an ERROR when it refuses caps, or data without
/// caps. Otherwise, upstream would only report "not-negotiated", because GstPad refuses caps that
/// do not fit the pad's template before the element gets the CAPS event. If upstream may still
/// choose other caps, the message is a WARNING. An ACCEPT_CAPS query alone posts nothing.
///
/// Also warns once per stream if downstream accepts only CUDA memory but the element is on the CPU.
void add_caps_diagnostics(GstPad* sink, const DeviceSession& session);

}  // namespace cudavision
