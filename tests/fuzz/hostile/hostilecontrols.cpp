// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/hostile/hostilecontrols.h"

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <limits>
#include <vector>

#include "tests/check/common/owned.h"
#include "tests/fuzz/propertyextremes.h"

namespace fuzz {

using namespace check;

namespace {

// Returns true for numbers and booleans, but not enums, whose NaN curves crash GStreamer 1.22.
bool can_follow(const GParamSpec* spec) {
  return (spec->flags & GST_PARAM_CONTROLLABLE) != 0 &&
         (G_IS_PARAM_SPEC_INT(spec) || G_IS_PARAM_SPEC_UINT(spec) || G_IS_PARAM_SPEC_INT64(spec) ||
          G_IS_PARAM_SPEC_UINT64(spec) || G_IS_PARAM_SPEC_DOUBLE(spec) ||
          G_IS_PARAM_SPEC_BOOLEAN(spec));
}

Owned<GstControlSource> new_curve(Random& random) {
  Owned<GstControlSource> curve(
      GST_CONTROL_SOURCE(gst_object_ref_sink(gst_interpolation_control_source_new())));
  g_object_set(curve.get(), "mode",
               random.one_of({GST_INTERPOLATION_MODE_NONE, GST_INTERPOLATION_MODE_LINEAR,
                              GST_INTERPOLATION_MODE_CUBIC}),
               nullptr);
  using Limits = std::numeric_limits<double>;
  for (int i = random.below(4); i >= 0; --i)
    gst_timed_value_control_source_set(
        GST_TIMED_VALUE_CONTROL_SOURCE(curve.get()),
        static_cast<GstClockTime>(random.below(40)) * 10 * GST_MSECOND,
        random.one_of({Limits::quiet_NaN(), Limits::quiet_NaN(), Limits::infinity(),
                       -Limits::infinity(), Limits::max(), -1.0, 0.0, 0.3, 1.0, 7.0}));
  return curve;
}

}  // namespace

void control_property(Random& random, GstElement* element) {
  std::vector<GParamSpec*> specs;
  for (GParamSpec* spec : changeable_properties(element))
    if (can_follow(spec))
      specs.push_back(spec);
  const char* const name = random.one_of(specs)->name;
  const Owned<GstControlSource> curve = new_curve(random);
  gst_object_add_control_binding(
      GST_OBJECT(element),
      random.below(2) == 0
          ? gst_direct_control_binding_new(GST_OBJECT(element), name, curve)
          : gst_direct_control_binding_new_absolute(GST_OBJECT(element), name, curve));
}

void remove_controls(GstElement* element) {
  for (const GParamSpec* spec : changeable_properties(element)) {
    const Owned<GstControlBinding> binding(
        gst_object_get_control_binding(GST_OBJECT(element), spec->name));
    if (binding != nullptr)
      gst_object_remove_control_binding(GST_OBJECT(element), binding);
  }
}

HostileControls::HostileControls(Random& random, GstElement* element) : element_(element) {
  for (const GParamSpec* spec : changeable_properties(element))
    if (can_follow(spec)) {
      GValue value = G_VALUE_INIT;
      g_object_get_property(G_OBJECT(element), spec->name, &value);
      values_.emplace_back(spec->name, value);
    }
  for (int i = random.below(3); i >= 0; --i)
    control_property(random, element);
}

HostileControls::~HostileControls() {
  remove_controls(element_);
  for (auto& [name, value] : values_) {
    g_object_set_property(G_OBJECT(element_), name, &value);
    g_value_unset(&value);
  }
}

}  // namespace fuzz
