// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/base/properties.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

/// Installs those properties of cudasgmstereo that a user sets, under the ids from 1 on. The result
/// lives for ever.
const ElementProperties<StereoSettings>& install_stereo_properties(GObjectClass* klass);

/// Those that it only reports; the ids are first_id + StereoReport.
enum StereoReport {
  report_invalid_value,
  report_disparity_scale,
  report_dropped_left,
  report_dropped_right
};
void install_stereo_reports(GObjectClass* klass, guint first_id);

}  // namespace cudavision
