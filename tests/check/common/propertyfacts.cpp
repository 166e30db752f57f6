// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/propertyfacts.h"

#include <gst/check/gstcheck.h>

#include <cmath>

namespace check {

namespace {

constexpr int mutability = GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_READY |
                           GST_PARAM_MUTABLE_PAUSED | GST_PARAM_MUTABLE_PLAYING;

}  // namespace

const GParamSpec* property_of(GstElement* element, const char* name) {
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  fail_unless(spec != nullptr, "no property %s", name);
  return spec;
}

void expect_enum_default(GstElement* element, const char* name, const char* nick) {
  const GParamSpec* spec = property_of(element, name);
  fail_unless(G_IS_PARAM_SPEC_ENUM(spec), "%s is no enum", name);
  const auto* as_enum = G_PARAM_SPEC_ENUM(spec);
  const GEnumValue* value = g_enum_get_value(as_enum->enum_class, as_enum->default_value);
  fail_unless_equals_string(value->value_nick, nick);
}

void expect_enum_nicks(GstElement* element, const char* name,
                       const std::vector<std::string>& expected) {
  const auto* spec = G_PARAM_SPEC_ENUM(property_of(element, name));
  std::vector<std::string> nicks;
  for (guint i = 0; i < spec->enum_class->n_values; ++i)
    nicks.push_back(spec->enum_class->values[i].value_nick);
  fail_unless(nicks == expected, "%s has other values than documented", name);
}

std::string enum_nick(GstElement* element, const char* name) {
  gint number = 0;
  g_object_get(element, name, &number, nullptr);
  const auto* spec = G_PARAM_SPEC_ENUM(property_of(element, name));
  return g_enum_get_value(spec->enum_class, number)->value_nick;
}

void expect_number(GstElement* element, const char* name, double least, double most,
                   double initially) {
  const GParamSpec* spec = property_of(element, name);
  fail_unless(G_IS_PARAM_SPEC_DOUBLE(spec), "%s is no double", name);
  fail_unless_equals_float(G_PARAM_SPEC_DOUBLE(spec)->default_value, initially);
  for (const auto& [set, kept] :
       {std::pair{least, least}, std::pair{most, most}, std::pair{least - 0.5, least},
        std::pair{most + 0.5, most}, std::pair{-HUGE_VAL, least}, std::pair{HUGE_VAL, most}}) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_DOUBLE);
    g_value_set_double(&value, set);
    g_param_value_validate(const_cast<GParamSpec*>(spec), &value);
    fail_unless(g_value_get_double(&value) == kept, "%s=%f becomes %f", name, set,
                g_value_get_double(&value));
    g_value_unset(&value);
  }
}

void expect_no_nan(GstElement* element, const char* name) {
  for (double nan : {std::nan(""), -std::nan("")}) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_DOUBLE);
    g_value_set_double(&value, nan);
    // Then GObject does not hand it to the element.
    fail_unless(g_param_value_validate(const_cast<GParamSpec*>(property_of(element, name)), &value),
                "%s accepts NaN", name);
    g_value_unset(&value);
  }
}

void expect_changeable_while_playing(GstElement* element, const char* name) {
  fail_unless_equals_int_hex(property_of(element, name)->flags & mutability,
                             GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING);
}

void expect_changeable_when_ready(GstElement* element, const char* name) {
  fail_unless_equals_int_hex(property_of(element, name)->flags & mutability,
                             GST_PARAM_MUTABLE_READY);
}

void expect_read_back(GstElement* element, const char* name, const char* value) {
  gst_util_set_object_arg(G_OBJECT(element), name, value);
  GValue set = G_VALUE_INIT, expected = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), name, &set);
  g_value_init(&expected, G_VALUE_TYPE(&set));
  fail_unless(gst_value_deserialize(&expected, value));
  fail_unless(gst_value_compare(&set, &expected) == GST_VALUE_EQUAL, "%s is not %s", name, value);
  g_value_unset(&set);
  g_value_unset(&expected);
}

}  // namespace check
