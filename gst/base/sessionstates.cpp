// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/sessionstates.h"

#include "gst/base/elementerror.h"

namespace cudavision {

GstStateChangeReturn change_state_with_session(GstElement* element, GstStateChange transition,
                                               DeviceSession& session, GstElementClass* parent) {
  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    const bool opened = post_exceptions(element, false, [&] {
      session.open();
      return true;
    });
    if (!opened)
      return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result = parent->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL ||
      (transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE))
    session.close();
  return result;
}

void set_context_with_session(GstElement* element, GstContext* context, DeviceSession& session,
                              GstElementClass* parent) {
  post_exceptions(element, false, [&] {
    session.set_context(context);
    return true;
  });
  parent->set_context(element, context);
}

}  // namespace cudavision
