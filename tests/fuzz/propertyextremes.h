// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <vector>

#include "tests/check/common/pictures/random.h"

/// Sets and reads the own properties of this project's elements, as described by GParamSpecs.
namespace fuzz {

/// Returns the element's own writable properties, except those that choose the device.
std::vector<GParamSpec*> changeable_properties(GstElement* element);

/// Sets one of these properties. Numbers get an end of their range, their default, 0 or 1, or a
/// value outside the range if the element checks it. Strings get hostile text.
void set_extreme_property(check::Random& random, GstElement* element);
void reset_properties(GstElement* element);
void read_properties(GstElement* element);

}  // namespace fuzz
