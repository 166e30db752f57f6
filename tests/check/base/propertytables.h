// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <vector>

#include "tests/check/common/elementundertest.h"

/// The properties that several elements must have, and values of properties.
namespace check {

/// Returns true if an element has one input and one output.
bool is_filter(const ElementSpec& spec);
/// The properties that every filter has besides those of its regions.
const std::vector<PropertySpec>& filter_properties();
/// The properties for regions of a frame, which every filter of tested_elements() has.
const std::vector<PropertySpec>& region_properties();
/// The properties that every element has.
const std::vector<PropertySpec>& device_properties();

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
