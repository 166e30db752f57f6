// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/base/devicesession.h"

namespace cudavision {

/// Makes a sink pad of the session's element explain on the bus why it refuses caps. GstPad refuses
/// caps that do not fit the pad's template before the element sees their event, and upstream then
/// only reports "not-negotiated". The pad also explains that it cannot accept data without caps,
/// and warns once in a stream if downstream takes no memory in which the element can put frames
/// out.
///
/// Nothing is posted for an ACCEPT_CAPS query by itself: upstream may only be choosing. The message
/// is an ERROR, or a WARNING if upstream is about to choose again and may find other caps.
void explain_refused_caps(GstPad* sink, const DeviceSession& session);

}  // namespace cudavision
