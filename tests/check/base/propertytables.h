// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

/// The properties that the elements must have, and values of properties.
namespace check {

/// The states in which a property may change.
enum class Change { ready, playing, never };

struct PropertySpec {
  const char* name;
  Change change;
  const char* initial;              ///< the default, written as in a launch line
  const char* other = nullptr;      ///< another value, which must read back
  double minimum = 0, maximum = 0;  ///< the range of a number
  std::string nicks = {};           ///< the nicks of an enum; empty for GStreamer's own enums
};

struct ElementSpec {
  const char* element;
  std::vector<PropertySpec> properties;
};

inline constexpr double max_int = G_MAXINT32;

/// The elements of the plug-in, with the properties that no other element has.
const std::vector<ElementSpec>& element_specs();
/// The properties that every filter has besides those of its regions.
const std::vector<PropertySpec>& filter_properties();
/// The properties for regions of a frame, which every filter has.
const std::vector<PropertySpec>& region_properties();
/// The properties that every element has.
const std::vector<PropertySpec>& device_properties();

/// True for the elements with one input.
bool is_filter(const char* element);

/// A value of a property, read from the text that a launch line would contain.
class Value {
 public:
  explicit Value(const GParamSpec* spec) { g_value_init(&value_, spec->value_type); }
  /// The text must be a value of the property.
  Value(const GParamSpec* spec, const char* text);
  Value(const GParamSpec* spec, double number) : Value(spec) {
    g_value_set_double(&value_, number);
  }
  ~Value() { g_value_unset(&value_); }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  GValue* get() { return &value_; }
  bool operator==(Value& other) {
    return gst_value_compare(&value_, other.get()) == GST_VALUE_EQUAL;
  }

 private:
  GValue value_ = G_VALUE_INIT;
};

/// Expects that a property can be set to the value in the text.
void expect_read_back(GstElement* element, const char* property, const char* text);

}  // namespace check
