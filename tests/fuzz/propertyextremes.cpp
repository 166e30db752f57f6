// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/propertyextremes.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace fuzz {

namespace {

std::vector<GParamSpec*> properties_of(GstElement* element) {
  guint count = 0;
  GParamSpec** list = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  const std::vector<GParamSpec*> all(list, list + count);
  g_free(list);
  return all;
}

// Excludes the properties of base classes, which would change the tests' assumptions, such as how
// long GstAggregator waits for a live pair.
bool is_own(const GParamSpec* spec) {
  return g_str_has_prefix(g_type_name(spec->owner_type), "GstCuda");
}

bool may_change(const GParamSpec* spec) {
  const std::string name = spec->name;
  return is_own(spec) && (spec->flags & G_PARAM_WRITABLE) != 0 &&
         (spec->flags & G_PARAM_CONSTRUCT_ONLY) == 0 && name != "backend" &&
         name != "cuda-device-id";
}

// GObject refuses values outside the range, except for numbers that the elements check themselves.
bool takes_any(const void* spec) {
  return g_str_has_prefix(g_type_name(G_TYPE_FROM_INSTANCE(spec)), "GstCudaVisionParam");
}

template <class Spec, class Number>
Number extreme(check::Random& random, const Spec* spec) {
  using Limits = std::numeric_limits<Number>;
  const bool any = takes_any(spec);
  const Number numbers[] = {spec->minimum,
                            spec->maximum,
                            spec->default_value,
                            std::clamp(Number(0), spec->minimum, spec->maximum),
                            std::clamp(Number(1), spec->minimum, spec->maximum),
                            any ? Limits::lowest() : spec->minimum,
                            any ? Limits::max() : spec->maximum,
                            any && Limits::has_quiet_NaN ? Limits::quiet_NaN() : spec->maximum};
  return random.one_of(numbers);
}

const char* hostile_text(check::Random& random) {
  static const std::string endless(100000, '(');
  return random.one_of({"", "x", "nan", "1e400,-1e400", "-1", "0,0,0,0;;", "99999999999999999999",
                        "/dev/null", "/nowhere", "/", "\xff\xfe", endless.c_str()});
}

void set_extreme(check::Random& random, const GParamSpec* spec, GValue* value) {
  if (G_IS_PARAM_SPEC_BOOLEAN(spec))
    g_value_set_boolean(value, random.below(2));
  else if (G_IS_PARAM_SPEC_INT(spec))
    g_value_set_int(value, extreme<GParamSpecInt, gint>(random, G_PARAM_SPEC_INT(spec)));
  else if (G_IS_PARAM_SPEC_UINT(spec))
    g_value_set_uint(value, extreme<GParamSpecUInt, guint>(random, G_PARAM_SPEC_UINT(spec)));
  else if (G_IS_PARAM_SPEC_INT64(spec))
    g_value_set_int64(value, extreme<GParamSpecInt64, gint64>(random, G_PARAM_SPEC_INT64(spec)));
  else if (G_IS_PARAM_SPEC_UINT64(spec))
    g_value_set_uint64(value,
                       extreme<GParamSpecUInt64, guint64>(random, G_PARAM_SPEC_UINT64(spec)));
  else if (G_IS_PARAM_SPEC_DOUBLE(spec))
    g_value_set_double(value,
                       extreme<GParamSpecDouble, gdouble>(random, G_PARAM_SPEC_DOUBLE(spec)));
  else if (G_IS_PARAM_SPEC_STRING(spec))
    g_value_set_string(value, hostile_text(random));
  else if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
    g_value_set_enum(value, values->values[random.below(static_cast<int>(values->n_values))].value);
  } else {
    g_error("%s is of a type that no property had: draw its values here", spec->name);
  }
}

}  // namespace

std::vector<GParamSpec*> changeable_properties(GstElement* element) {
  std::vector<GParamSpec*> specs = properties_of(element);
  specs.erase(std::remove_if(specs.begin(), specs.end(),
                             [](const GParamSpec* spec) { return !may_change(spec); }),
              specs.end());
  return specs;
}

void set_extreme_property(check::Random& random, GstElement* element) {
  const std::vector<GParamSpec*> specs = changeable_properties(element);
  GParamSpec* spec = specs[static_cast<std::size_t>(random.below(static_cast<int>(specs.size())))];
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  set_extreme(random, spec, &value);
  g_object_set_property(G_OBJECT(element), spec->name, &value);
  g_value_unset(&value);
}

void reset_properties(GstElement* element) {
  for (GParamSpec* spec : changeable_properties(element))
    g_object_set_property(G_OBJECT(element), spec->name, g_param_spec_get_default_value(spec));
}

void read_properties(GstElement* element) {
  for (const GParamSpec* spec : properties_of(element)) {
    if (!is_own(spec) || (spec->flags & G_PARAM_READABLE) == 0)
      continue;
    GValue value = G_VALUE_INIT;
    g_object_get_property(G_OBJECT(element), spec->name, &value);
    g_value_unset(&value);
  }
}

}  // namespace fuzz
