// SPDX-License-Identifier: LGPL-2.1-or-later
// Implements calibration.h and rectification.h in builds without OpenCV.
#include "gst/core/elementerror.h"
#include "gst/sgmstereo/rectification/rectification.h"

namespace cudavision {
namespace {

[[noreturn]] void refuse(
    const std::string& what =
        "This gst-cudavision was built without OpenCV, which calibrations need: ") {
  throw ElementError(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                     what +
                         "rebuild it with -Dopencv=enabled and OpenCV's development files "
                         "(Debian: libopencv-dev), or rectify the frames upstream.");
}

}  // namespace

void require_one_form(const CalibrationFiles&) {}

StereoCalibration read_calibration(const CalibrationFiles&) {
  refuse();
}

Rectification make_rectification(const StereoCalibration&, int, int, double) {
  refuse();
}

void require_opencv(const std::string& what) {
  refuse("This gst-cudavision was built without OpenCV, which " + what + " needs: ");
}

Positions camera_positions(const RectifiedCamera&, const Positions&) {
  refuse();
}

Positions rectified_positions(const RectifiedCamera&, const Positions&) {
  refuse();
}

RectifyingMap make_plane_map(const RectifiedCamera&, int, int, int, int) {
  refuse();
}

}  // namespace cudavision
