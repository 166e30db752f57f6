// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <glib-object.h>

/// The types of the properties of cudasgmstereo whose values have names.
namespace cudavision {

GType output_type();
GType census_type();
GType subpixel_method_type();
GType compatibility_type();
GType calibration_drift_type();
GType preset_type();
GType colormap_type();

}  // namespace cudavision
