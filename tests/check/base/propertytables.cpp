// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/base/propertytables.h"

#include <gst/base/gstbasetransform.h>

#include "tests/check/common/filterharness.h"

namespace check {
namespace {

constexpr auto ready = Change::ready, playing = Change::playing, never = Change::never;

}  // namespace

bool is_filter(const ElementSpec& spec) {
  const Owned<GstElement> element = new_element(spec.element);
  return GST_IS_BASE_TRANSFORM(element.get());
}

const std::vector<PropertySpec>& filter_properties() {
  static const std::vector<PropertySpec> list = {
      {"frames-in-flight", ready, "0", "16", 0, 16},
  };
  return list;
}

const std::vector<PropertySpec>& region_properties() {
  static const std::vector<PropertySpec> list = {
      {"regions", playing, "", "1,2,3,4;0.5,0.5,0.25,0.25"},
      {"use-roi-meta", playing, "false", "true"},
      {"region-types", playing, "", "face,plate"},
      {"region-shape", playing, "rectangle", "ellipse", 0, 0, "rectangle ellipse"},
      {"region-margin", playing, "0", "12", 0, 65535},
      {"region-feather", playing, "0", "65535", 0, 65535},
      {"region-invert", playing, "false", "true"},
      {"regions-missing", playing, "pass", "all", 0, 0, "pass all"},
      {"region-persistence", playing, "0", "200000000", 0, 18446744073709551615.0},
  };
  return list;
}

const std::vector<PropertySpec>& device_properties() {
  static const std::vector<PropertySpec> list = {
      {"backend", ready, "auto", "cpu", 0, 0, "auto cuda cpu"},
      {"active-backend", never, "none", nullptr, 0, 0, "none cpu cuda"},
      {"cuda-device-id", ready, "-1", "3", -2, G_MAXINT32},
  };
  return list;
}

Value::Value(const GParamSpec* spec, const char* text) : Value(spec) {
  fail_unless(gst_value_deserialize(&value_, text), "%s is not a value of %s", text, spec->name);
}

void expect_read_back(GstElement* element, const char* property, const char* text) {
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
  Value other(spec, text), read(spec);
  g_object_set_property(G_OBJECT(element), property, other.get());
  g_object_get_property(G_OBJECT(element), property, read.get());
  fail_unless(read == other, "%s=%s reads back as another value", property, text);
}

}  // namespace check
