// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <vector>

#include "tests/check/common/pictures/random.h"

/// Sets and reads the properties of any element, as their GParamSpecs describe them.
namespace fuzz {

/// Returns the element's own writable properties, except those that choose the device.
std::vector<GParamSpec*> changeable_properties(GstElement* element);

/// Sets one of these properties to an end of its range, its default, or a value near 0, and strings
/// to invalid text.
void set_extreme_property(check::Random& random, GstElement* element);
void reset_properties(GstElement* element);
void read_properties(GstElement* element);

}  // namespace fuzz
