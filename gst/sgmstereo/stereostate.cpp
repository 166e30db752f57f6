// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereostate.h"

#include "gst/base/elementerror.h"

namespace cudavision {
namespace {

void reset_stream(gpointer self) {
  StereoState& state = stereo_state(self);
  state.packing = {};
  state.out.reset();
  state.discont = true;
  state.segment_sent = false;
  state.eos_sent = false;
  state.renegotiate = false;
  state.flush_finished = false;
  state.downstream_ended = false;
  state.unequal.reset();
  state.unpaired.reset();
  state.diagnostics.reset();
  state.arrived_packed = false;
  state.unlinked->reset();
  const ObjectLock lock(self);
  state.qos.reset();
  for (StereoInput* input : {&state.left, &state.right}) {
    input->last_refusal.clear();
    input->arrived_caps.reset();
    input->caps.reset();
    input->format.reset();
    input->held.reset();
    input->flushed = false;
  }
}

}  // namespace

StereoSettings stereo_settings(gpointer self) {
  const StereoState& state = stereo_state(self);
  const ObjectLock lock(self);
  return state.started ? state.settings.since_start(*state.started) : state.settings;
}

void stereo_release_work(gpointer self) {
  StereoState& state = stereo_state(self);
  if (!state.work)
    return;
  const ReleaseScope scope(state.session);
  state.work.reset();
}

GstStateChangeReturn stereo_change_state(GstElement* element, GstStateChange transition) {
  return stereo_state(element).session.change_state(transition,
                                                    GST_ELEMENT_CLASS(stereo_parent_class()));
}

void stereo_set_context(GstElement* element, GstContext* context) {
  stereo_state(element).session.set_context(context, GST_ELEMENT_CLASS(stereo_parent_class()));
}

gboolean stereo_start(GstAggregator* self) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    StereoState& state = stereo_state(self);
    const StereoSettings settings = current_settings(self, state.settings);
    state.guard.require(validation_error(settings));
    reset_stream(self);
    state.session.start();
    state.arrival.reset();
    const ObjectLock lock(self);
    state.started = settings;
    state.left.dropped = 0;
    state.right.dropped = 0;
    return TRUE;
  });
}

gboolean stereo_stop(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  state.alarm.cancel();
  state.end_alarm.cancel();
  state.arrival.stop();
  const gboolean released = post_exceptions(self, FALSE, [&]() -> gboolean {
    stereo_release_work(self);
    return TRUE;
  });
  state.session.stop();
  reset_stream(self);
  const ObjectLock lock(self);
  state.started.reset();
  return released;
}

}  // namespace cudavision
