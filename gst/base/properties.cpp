// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/properties.h"

#include <algorithm>

#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

// Registers a GParamSpec type that accepts numbers out of range. Otherwise GObject would print a
// warning on the terminal and keep the old value, and the element could not report an error. Wider
// ranges would not help, because gst-inspect-1.0 and applications show the ranges.
GType unchecked_type(GType checked, const char* name) {
  const auto init_class = +[](gpointer klass, gpointer) {
    auto* spec = static_cast<GParamSpecClass*>(klass);
    spec->value_validate = [](GParamSpec*, GValue*) -> gboolean { return FALSE; };
#if GLIB_CHECK_VERSION(2, 74, 0)
    spec->value_is_valid = [](GParamSpec*, const GValue*) -> gboolean { return TRUE; };
#endif
  };
  GTypeQuery query;
  g_type_query(checked, &query);
  return g_type_register_static_simple(checked, name, query.class_size, init_class,
                                       query.instance_size, nullptr, static_cast<GTypeFlags>(0));
}

template <class Spec, class Number>
GParamSpec* new_spec(GType type, const PropertySpec& spec, const Range<Number>& range,
                     Number initial, GParamFlags flags) {
  auto* param =
      static_cast<Spec*>(g_param_spec_internal(type, spec.name, spec.nick, spec.blurb, flags));
  param->minimum = range.min;
  param->maximum = range.max;
  param->default_value = initial;
  return G_PARAM_SPEC(param);
}

std::string digits_of(gint64 number) {
  return std::to_string(number);
}

std::string digits_of(double number) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_formatd(text, sizeof text, "%.15g", number);
}

// If `open` is true, the range's maximum is only the limit of the type, so the error omits it. The
// minimum -1 is a special value: numbers between -1 and 0 are invalid.
template <class Number>
std::string out_of_range(const char* property, Number value, const Range<Number>& range,
                         bool open) {
  const Number low = range.min == -1 ? 0 : range.min;
  if (Range<Number>{low, range.max}.contains(value) || value == range.min)
    return {};
  const std::string values = open ? "of at least " + digits_of(low)
                                  : "from " + digits_of(low) + " to " + digits_of(range.max);
  return std::string(property) + "=" + digits_of(value) + " is out of range: set " + property +
         " to a value " + values + (low > range.min ? ", or to -1." : ".");
}

}  // namespace

GParamSpec* number_spec(const PropertySpec& spec, const Range<int>& range, int initial,
                        GParamFlags flags) {
  static const GType type = unchecked_type(G_TYPE_PARAM_INT, "GstCudaVisionParamInt");
  return new_spec<GParamSpecInt>(type, spec, range, initial, flags);
}

GParamSpec* number_spec(const PropertySpec& spec, const Range<gint64>& range, gint64 initial,
                        GParamFlags flags) {
  static const GType type = unchecked_type(G_TYPE_PARAM_INT64, "GstCudaVisionParamInt64");
  return new_spec<GParamSpecInt64>(type, spec, range, initial, flags);
}

GParamSpec* number_spec(const PropertySpec& spec, const Range<double>& range, double initial,
                        GParamFlags flags) {
  static const GType type = unchecked_type(G_TYPE_PARAM_DOUBLE, "GstCudaVisionParamDouble");
  return new_spec<GParamSpecDouble>(type, spec, range, initial, flags);
}

std::string number_error(const char* property, int value, const Range<int>& range) {
  return out_of_range<gint64>(property, value, {range.min, range.max}, range.max == G_MAXINT);
}

std::string number_error(const char* property, gint64 value, const Range<gint64>& range) {
  return out_of_range(property, value, range, range.max == G_MAXINT64);
}

std::string number_error(const char* property, double value, const Range<double>& range) {
  return out_of_range(property, value, range, false);
}

// GObject uses the values until the program ends, so they are never freed.
GType register_enum(const char* name, const std::vector<GEnumValue>& values) {
  if (const GType known = g_type_from_name(name))
    return known;
  auto* const kept = g_new0(GEnumValue, values.size() + 1);
  std::copy(values.begin(), values.end(), kept);
  const GType type = g_enum_register_static(name, kept);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}

std::string odd_size_error(const char* property, int size, const char* alternative) {
  if (size % 2 != 0 || size == 0)
    return {};
  return std::string(property) + "=" + std::to_string(size) + " must be odd: set it to " +
         std::to_string(size - 1) + " or " + std::to_string(size + 1) + alternative + ".";
}

void SettingsGuard::require(const std::string& error) {
  if (!error.empty())
    throw ElementError(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, error);
  warned_ = false;
}

bool SettingsGuard::allows(GstElement* element, const std::string& error) {
  const bool warn = !error.empty() && !warned_;
  warned_ = !error.empty();
  if (warn)
    post_warning(element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                 error + " Keeping the previous settings.");
  return error.empty();
}

}  // namespace cudavision
