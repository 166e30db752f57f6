// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/stereostate.h"

/// What cudasgmstereo does with events and queries, beside what GstAggregator does with them. Each
/// may throw.
namespace cudavision {

/// Throws ElementError where packed frames meet a second stream.
void stereo_require_unlinked(GstAggregator* self);

/// In the streaming thread of a sink pad: an event has arrived, and GstAggregator will queue it, or
/// handle it at once, when this returns.
void stereo_event_arrives(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event);
/// The same, when GstAggregator has done so.
void stereo_flush_arrived(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event);

/// In the aggregating thread: the event's turn has come, before GstAggregator handles it.
void stereo_event_comes(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event);
/// The same, when GstAggregator has done so.
void stereo_event_came(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event);

/// Answers a query to a sink pad; false where that is left to GstAggregator.
bool stereo_answer_upstream(GstAggregator* self, GstAggregatorPad* pad, GstQuery* query);
/// Answers one to the source pad.
bool stereo_answer_downstream(GstAggregator* self, GstQuery* query);

}  // namespace cudavision
