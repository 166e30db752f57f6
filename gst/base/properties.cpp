// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/properties.h"

#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

// A type of specifications like GObject's, but without its check: GObject would not set a
// number out of range, but print a warning on the terminal that applications do not see, so that
// the element could not refuse it and name the remedy. Wider ranges would be the plain way, but
// gst-inspect-1.0 and applications show the ranges of these specifications.
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

// Spec: GObject's struct for the specification of such numbers.
template <class Spec, class Number>
GParamSpec* new_spec(GType type, const PropertySpec& spec, Number minimum, Number maximum,
                     Number initial, GParamFlags flags) {
  auto* param =
      static_cast<Spec*>(g_param_spec_internal(type, spec.name, spec.nick, spec.blurb, flags));
  param->minimum = minimum;
  param->maximum = maximum;
  param->default_value = initial;
  return G_PARAM_SPEC(param);
}

std::string text_of(gint64 number) {
  return std::to_string(number);
}

std::string text_of(double number) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_formatd(text, sizeof text, "%.15g", number);
}

// open: there is no upper limit but that of the type.
template <class Number>
std::string out_of_range(const char* property, Number value, Number minimum, Number maximum,
                         bool open) {
  if (value >= minimum && value <= maximum)
    return {};
  const std::string range = open ? "of at least " + text_of(minimum)
                                 : "from " + text_of(minimum) + " to " + text_of(maximum);
  return std::string(property) + "=" + text_of(value) + " is out of range: set " + property +
         " to a value " + range + ".";
}

}  // namespace

GParamSpec* number_spec(const PropertySpec& spec, int minimum, int maximum, int initial,
                        GParamFlags flags) {
  static const GType type = unchecked_type(G_TYPE_PARAM_INT, "GstCudaVisionParamInt");
  return new_spec<GParamSpecInt>(type, spec, minimum, maximum, initial, flags);
}

GParamSpec* number_spec(const PropertySpec& spec, gint64 minimum, gint64 maximum, gint64 initial,
                        GParamFlags flags) {
  static const GType type = unchecked_type(G_TYPE_PARAM_INT64, "GstCudaVisionParamInt64");
  return new_spec<GParamSpecInt64>(type, spec, minimum, maximum, initial, flags);
}

GParamSpec* number_spec(const PropertySpec& spec, double minimum, double maximum, double initial,
                        GParamFlags flags) {
  static const GType type = unchecked_type(G_TYPE_PARAM_DOUBLE, "GstCudaVisionParamDouble");
  return new_spec<GParamSpecDouble>(type, spec, minimum, maximum, initial, flags);
}

std::string number_error(const char* property, int value, int minimum, int maximum) {
  return out_of_range<gint64>(property, value, minimum, maximum, maximum == G_MAXINT);
}

std::string number_error(const char* property, gint64 value, gint64 minimum, gint64 maximum) {
  return out_of_range(property, value, minimum, maximum, maximum == G_MAXINT64);
}

// NaN lies in no range.
std::string number_error(const char* property, double value, double minimum, double maximum) {
  return out_of_range(property, value, minimum, maximum, false);
}

GType register_enum(const char* name, const GEnumValue* values) {
  const GType type = g_enum_register_static(name, values);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}

std::string odd_size_error(const char* property, int size, const std::string& fault,
                           const char* alternative) {
  if (size % 2 != 0 || size == 0)
    return {};
  return std::string(property) + "=" + std::to_string(size) + " " + fault + ": set " + property +
         "=" + std::to_string(size - 1) + " or " + property + "=" + std::to_string(size + 1) +
         alternative + ".";
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
                 error + " Until then the last valid settings stay in force.");
  return error.empty();
}

}  // namespace cudavision
