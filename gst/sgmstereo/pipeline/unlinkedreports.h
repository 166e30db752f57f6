// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

/// What users are told when an UnlinkedPadAlarm goes off; pad is its pad.
namespace cudavision {

gboolean warn_of_waiting(GstClock*, GstClockTime, GstClockID, gpointer pad);
gboolean refuse_end(GstClock*, GstClockTime, GstClockID, gpointer pad);

}  // namespace cudavision
