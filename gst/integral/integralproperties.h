// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/base/properties.h"
#include "gst/integral/integralsettings.h"

namespace cudavision {

/// Adds the properties of cudaintegral, including those of its regions.
void add_integral_properties(ElementProperties<IntegralSettings>& all);

}  // namespace cudavision
