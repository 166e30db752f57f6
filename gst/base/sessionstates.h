// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/base/devicesession.h"

/// What elements of either base class do alike with their session.
namespace cudavision {

/// GstElementClass.change_state: the device is looked for on the way up from NULL and forgotten on
/// the way back. parent: the class that goes on with it.
GstStateChangeReturn change_state_with_session(GstElement* element, GstStateChange transition,
                                               DeviceSession& session, GstElementClass* parent);

/// GstElementClass.set_context.
void set_context_with_session(GstElement* element, GstContext* context, DeviceSession& session,
                              GstElementClass* parent);

}  // namespace cudavision
