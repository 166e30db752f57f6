// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereostate.h"

#include <algorithm>
#include <cstdio>

#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

// Only pads that something is linked to count.
bool lengths_are_linked(gpointer self) {
  const RequestPads pads = stereo_request_pads(self);
  return std::any_of(pads.begin(), pads.end(), [](const auto& pad) {
    return pad && measures_lengths(pad->output) && gst_pad_is_linked(pad->pad.get());
  });
}

void reset_stream(gpointer self) {
  StereoState& state = stereo_state(self);
  state.packing = {};
  state.out.reset();
  state.discont = true;
  state.src_discont = false;
  state.last_running_time = GST_CLOCK_TIME_NONE;
  state.segment_sent = false;
  state.eos_sent = false;
  state.late_flow = GST_FLOW_OK;
  state.renegotiate = false;
  state.flush_finished = false;
  stereo_reopen_branches(self);
  state.unequal.reset();
  state.unpaired.reset();
  state.diagnostics.reset();
  state.arrived_packed = false;
  state.unlinked->reset();
  {
    const ObjectLock lock(self);
    state.qos.reset();
  }
  for (StereoInput* input : {&state.left, &state.right}) {
    input->last_refusal.clear();
    stereo_forget_arrived_caps(self, *input);
    input->caps.reset();
    input->format.reset();
    input->held.reset();
    input->flushed = false;
    input->silent.reset();
  }
}

// Calibrations of cameras in focus stay below half a pixel.
void warn_of_calibration(gpointer self, const std::optional<StereoCalibration>& calibration) {
  constexpr double max_error = 1;
  if (!calibration || calibration->reprojection_error <= max_error)
    return;
  char error[32];
  std::snprintf(error, sizeof error, "%.2f", calibration->reprojection_error);
  post_warning(GST_ELEMENT_CAST(self), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
               calibration->files + ": the reprojection error of this calibration is " + error +
                   " pixels, and more than 1 is too much for true depths: calibrate again, with a "
                   "flat board that stands still, for example with pipelines/calibrate.py of the "
                   "package gst-cudavision-tools.");
}

}  // namespace

StereoSettings stereo_settings(gpointer self) {
  const StereoState& state = stereo_state(self);
  const ObjectLock lock(self);
  return state.started ? state.settings.since_start(*state.started) : state.settings;
}

void stereo_forget_arrived_caps(gpointer self, StereoInput& input) {
  Caps forgotten;
  const ObjectLock lock(self);
  forgotten.swap(input.arrived_caps);
}

RequestPads stereo_request_pads(gpointer self) {
  RequestPads pads;
  const ObjectLock lock(self);
  for (std::size_t i = 0; i < pads.size(); ++i)
    if (const auto& pad = stereo_state(self).request_pads[i]; pad && !pad->released)
      pads[i] = pad;
  return pads;
}

void stereo_release_work(gpointer self) {
  StereoState& state = stereo_state(self);
  state.in_flight.clear();
  for (const auto& pad : stereo_request_pads(self))
    if (pad)
      pad->forget_negotiation();
  if (!state.work)
    return;
  const ReleaseScope scope(state.session.context());
  try {
    state.work->finish();  // the device must be done with what is freed
  } catch (const Error& e) {
    GST_WARNING_OBJECT(self, "%s", e.what());
  }
  state.work.reset();
}

void stereo_reopen_branches(gpointer self) {
  StereoState& state = stereo_state(self);
  state.downstream_ended = false;
  state.src_ended = false;
  for (const auto& pad : stereo_request_pads(self))
    if (pad)
      pad->ended = false;
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
    state.guard.require(validation_error(settings, lengths_are_linked(self)));
    state.calibration.reset();
    if (settings.calibration.any())
      state.calibration = read_calibration(settings.calibration);
    warn_of_calibration(self, state.calibration);
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
  state.settings.calibrated_focal_length = 0;
  state.settings.calibrated_baseline = 0;
  return released;
}

}  // namespace cudavision
