// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pipeline/stereostream.h"

#include <algorithm>

#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

bool lengths_are_linked(const StereoStream& stream) {
  const RequestPads pads = stereo_request_pads(stream.self);
  return std::any_of(pads.begin(), pads.end(), [](const auto& pad) {
    return measures_lengths(pad->output) && gst_pad_is_linked(pad->pad.get());
  });
}

void reset_stream(StereoStream& stream) {
  static_cast<StreamRun&>(stream) = {};
  stream.state.flush_finished = false;
  stereo_reopen_branches(stream);
  stream.state.arrived_packed = false;
  stream.state.shared.lock()->qos.reset();
  for (StereoInput* input : {&stream.left, &stream.right}) {
    stereo_forget_arrived_caps(stream.self, input->pad());
    input->caps.reset();
    input->format.reset();
    input->held.reset();
    input->sink.flushed = false;
    input->timeout = {};
  }
}

void warn_of_calibration(gpointer self, const std::optional<StereoCalibration>& calibration) {
  constexpr double max_error = 1;  // in pixels; cameras in focus have below 0.5
  if (!calibration || calibration->reprojection_error <= max_error)
    return;
  post_warning(GST_ELEMENT_CAST(self), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
               calibration->files + ": the reprojection error of this calibration is " +
                   number_text(calibration->reprojection_error, 3) +
                   " pixels, but depth is inaccurate above 1 pixel: calibrate again with a flat, "
                   "motionless board, for example with pipelines/calibrate.py of the package "
                   "gst-cudavision-tools.");
}

}  // namespace

void stereo_release_processor(StereoStream& stream) {
  stream.in_flight.clear();
  for (const auto& pad : stereo_request_pads(stream.self))
    pad->branch(stream).forget_negotiation();
  if (!stream.processor)
    return;
  const ReleaseScope scope(stream.state.session.context());
  try {
    stream.processor->finish();  // the device may still use the memory
  } catch (const Error& e) {
    GST_WARNING_OBJECT(stream.self, "%s", e.what());
  }
  stream.processor.reset();
}

void stereo_reopen_branches(StereoStream& stream) {
  stream.state.downstream_ended = false;
  stream.src.reopen();
  // stereo_request_pads() allocates memory, but stop must not fail.
  const auto shared = stream.state.shared.lock();
  for (const auto& pad : shared->request_pads)
    if (pad)
      pad->branch(stream).reopen();
}

gboolean stereo_start(StereoStream& stream) {
  return post_exceptions(stream.self, FALSE, [&]() -> gboolean {
    const StereoSettings settings = stream.state.shared.lock()->settings;
    stream.guard.require(validation_error(settings, lengths_are_linked(stream)));
    if (settings.calibration_drift == CalibrationDrift::correct)
      require_opencv("calibration-drift=correct");
    stream.calibration.reset();
    if (settings.calibration.automatic()) {
      require_one_form(settings.calibration);
      require_opencv("calibration=auto");
      if (settings.diagnostics_interval == 0)
        post_warning(GST_ELEMENT_CAST(stream.self), GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     "calibration=auto needs inspected pairs, but diagnostics-interval=0: set "
                     "diagnostics-interval in ns, such as 1000000000 for one pair per second.");
    } else if (settings.calibration.any()) {
      stream.calibration = read_calibration(settings.calibration);
    }
    warn_of_calibration(stream.self, stream.calibration);
    reset_stream(stream);
    stream.state.session.start();
    stream.state.arrival.reset();
    const auto shared = stream.state.shared.lock();
    shared->started = settings;
    for (StereoShared::Side& side : shared->sides)
      side.dropped = 0;
    return TRUE;
  });
}

gboolean stereo_stop(StereoStream& stream) {
  StereoState& state = stream.state;
  state.alarm.cancel();
  state.end_alarm.cancel();
  state.arrival.stop();
  const gboolean released = post_exceptions(stream.self, FALSE, [&]() -> gboolean {
    stereo_release_processor(stream);
    return TRUE;
  });
  state.session.stop();
  reset_stream(stream);
  const auto shared = state.shared.lock();
  shared->started.reset();
  shared->settings.calibrated_focal_length = 0;
  shared->settings.calibrated_baseline = 0;
  shared->settings.assumed_focal_length = 0;
  return released;
}

}  // namespace cudavision
