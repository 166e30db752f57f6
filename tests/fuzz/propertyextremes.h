// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "tests/check/common/pictures/random.h"

/// Sets and reads the properties of any element, as their GParamSpecs describe them.
namespace fuzz {

/// Sets one of the element's own properties to an end of its range, its default, or a value near 0;
/// texts to something that is no good value. Those that choose the device stay as they are.
void set_extreme_property(check::Random& random, GstElement* element);
/// Sets these properties to their defaults.
void reset_properties(GstElement* element);
/// Reads the element's own properties.
void read_properties(GstElement* element);

}  // namespace fuzz
