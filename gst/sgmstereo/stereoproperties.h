// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "gst/base/properties.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

void install_stereo_properties(GObjectClass* klass);

void add_stereo_properties(ElementProperties<StereoSettings>& all);

/// Returns an error for the first property that is out of range, or an empty string.
std::string stereo_range_error(const StereoSettings& settings);

void stereo_set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec);
void stereo_get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec);

}  // namespace cudavision
