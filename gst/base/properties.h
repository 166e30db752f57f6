// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda/core/range.h"
#include "gst/core/scoped.h"
#include "gst/core/text.h"

/// The properties of an element. Writable properties are members of a struct Settings, which the
/// element's object lock guards. The streaming thread copies the struct for each frame.
namespace cudavision {

/// while_playing: may change at any time, including by a controller. when_ready: may change up to
/// state READY, because caps or the operation depend on the property.
enum class PropertyChange { while_playing, when_ready };

/// The name and texts of a property. All strings must be static.
struct PropertySpec {
  const char* name;
  const char* nick;
  const char* blurb;
  PropertyChange change = PropertyChange::while_playing;
};

/// Return a GParamSpec that also passes numbers out of range to set_property(), so that the element
/// can report a number_error(). gst-inspect-1.0 and GstControlBinding use the range as usual.
GParamSpec* number_spec(const PropertySpec& spec, const Range<int>& range, int initial,
                        GParamFlags flags);
GParamSpec* number_spec(const PropertySpec& spec, const Range<gint64>& range, gint64 initial,
                        GParamFlags flags);
GParamSpec* number_spec(const PropertySpec& spec, const Range<double>& range, double initial,
                        GParamFlags flags);

/// Return an empty string, or an error with the range if the value is out of range.
std::string number_error(const char* property, int value, const Range<int>& range);
std::string number_error(const char* property, gint64 value, const Range<gint64>& range);
std::string number_error(const char* property, double value, const Range<double>& range);

template <class Enum>
struct EnumValue {
  Enum value;
  const char* description;
  const char* nick;

  operator GEnumValue() const { return {static_cast<gint>(value), description, nick}; }
};

/// Registers an enumeration type in the first call. The strings must be static.
GType register_enum(const char* name, const std::vector<GEnumValue>& values);

/// Copies an element's settings under the object lock.
template <class Settings>
Settings current_settings(gpointer element, const Settings& settings) {
  const ObjectLock lock(element);
  return settings;
}

/// The properties of an element class, which class_init adds. Settings() has the default values.
template <class Settings>
class ElementProperties {
 public:
  explicit ElementProperties(GObjectClass* klass) : class_(klass) {}

  /// Replaces placeholders, such as the default of a field that depends on another property, by the
  /// values that get_property() returns.
  using Effective = Settings (*)(const Settings&);
  static Settings unchanged(const Settings& settings) { return settings; }

  void add(const PropertySpec& spec, double Settings::*field, const Range<double>& range,
           Effective effective = unchanged) {
    install_number(spec, field, range, g_value_get_double, g_value_set_double, effective);
  }
  void add(const PropertySpec& spec, int Settings::*field, const Range<int>& range,
           Effective effective = unchanged) {
    install_number(spec, field, range, g_value_get_int, g_value_set_int, effective);
  }
  void add(const PropertySpec& spec, guint Settings::*field) {
    install(field, g_value_get_uint, g_value_set_uint,
            g_param_spec_uint(spec.name, spec.nick, spec.blurb, 0, G_MAXUINT, defaults_.*field,
                              flags_of(spec)));
  }
  void add(const PropertySpec& spec, guint64 Settings::*field) {
    install(field, g_value_get_uint64, g_value_set_uint64,
            g_param_spec_uint64(spec.name, spec.nick, spec.blurb, 0, G_MAXUINT64, defaults_.*field,
                                flags_of(spec)));
  }
  void add(const PropertySpec& spec, gint64 Settings::*field, const Range<gint64>& range) {
    install_number(spec, field, range, g_value_get_int64, g_value_set_int64);
  }
  void add(const PropertySpec& spec, bool Settings::*field) {
    install(
        field, g_value_get_boolean, g_value_set_boolean,
        g_param_spec_boolean(spec.name, spec.nick, spec.blurb, defaults_.*field, flags_of(spec)));
  }
  /// Adds a string, empty by default. The string is interned, so copies of the settings allocate no
  /// memory. field_of returns the field.
  void add(const PropertySpec& spec, const char*& (*field_of)(Settings&)) {
    add(
        g_param_spec_string(spec.name, spec.nick, spec.blurb, "", flags_of(spec)),
        [=](GObject*, const Settings& settings, GValue* value) {
          Settings copy = settings;
          g_value_set_string(value, field_of(copy));
        },
        [=](Settings& settings, const GValue* value) {
          field_of(settings) = g_intern_string(text_of(g_value_get_string(value)));
        });
  }
  /// Adds a string, empty by default. Text is made from the string, and Text::c_str() returns it.
  template <class Text>
  void add_text(const PropertySpec& spec, Text Settings::*field) {
    add(
        g_param_spec_string(spec.name, spec.nick, spec.blurb, "", flags_of(spec)),
        [=](GObject*, const Settings& settings, GValue* value) {
          g_value_set_string(value, (settings.*field).c_str());
        },
        [=](Settings& settings, const GValue* value) {
          settings.*field = Text(text_of(g_value_get_string(value)));
        });
  }
  /// See register_enum().
  template <class Enum>
  void add(const PropertySpec& spec, Enum Settings::*field, const char* type_name,
           std::initializer_list<EnumValue<std::type_identity_t<Enum>>> values,
           Effective effective = unchanged) {
    add(spec, field, register_enum(type_name, {values.begin(), values.end()}), effective);
  }
  /// `type` is a registered enumeration with the values of Enum.
  template <class Enum>
  void add(const PropertySpec& spec, Enum Settings::*field, GType type,
           Effective effective = unchanged) {
    install(field, g_value_get_enum, g_value_set_enum,
            g_param_spec_enum(spec.name, spec.nick, spec.blurb, type,
                              static_cast<gint>(effective(defaults_).*field), flags_of(spec)),
            effective);
  }

  using Get = std::function<void(GObject* object, const Settings& settings, GValue* value)>;
  using Set = std::function<void(Settings& settings, const GValue* value)>;
  /// Adds any other property, read-only if set is nullptr. Only set() runs under the object lock.
  void add(GParamSpec* pspec, Get get, Set set = nullptr) {
    properties_.push_back({std::move(get), std::move(set)});
    g_object_class_install_property(class_, static_cast<guint>(properties_.size()), pspec);
  }

  // Call these in set_property() and get_property() of GObjectClass. The object owns the settings.
  void set(GObject* object, guint id, const GValue* value, Settings& settings) const {
    const ObjectLock lock(object);
    properties_[id - 1].set(settings, value);
  }
  void get(GObject* object, guint id, GValue* value, const Settings& settings) const {
    properties_[id - 1].get(object, current_settings(object, settings), value);
  }

  /// Returns an empty string, or the first number_error().
  std::string range_error(const Settings& settings) const {
    for (const auto& error_in : range_errors_)
      if (std::string error = error_in(settings); !error.empty())
        return error;
    return {};
  }

 private:
  static GParamFlags flags_of(const PropertySpec& spec) {
    const int change = spec.change == PropertyChange::while_playing
                           ? GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING
                           : GST_PARAM_MUTABLE_READY;
    return static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | change);
  }

  struct Property {
    Get get;
    Set set;
  };

  /// from_value and to_value are GLib's getter and setter for the GValue type of the property.
  template <class Field, class Value>
  void install(Field Settings::*field, Value (*from_value)(const GValue*),
               void (*to_value)(GValue*, Value), GParamSpec* pspec,
               Effective effective = unchanged) {
    add(
        pspec,
        [=](GObject*, const Settings& settings, GValue* value) {
          to_value(value, static_cast<Value>(effective(settings).*field));
        },
        [=](Settings& settings, const GValue* value) {
          settings.*field = static_cast<Field>(from_value(value));
        });
  }

  template <class Number>
  void install_number(const PropertySpec& spec, Number Settings::*field, const Range<Number>& range,
                      Number (*from_value)(const GValue*), void (*to_value)(GValue*, Number),
                      Effective effective = unchanged) {
    install(field, from_value, to_value,
            number_spec(spec, range, effective(defaults_).*field, flags_of(spec)), effective);
    range_errors_.push_back([=, name = spec.name](const Settings& settings) {
      return number_error(name, effective(settings).*field, range);
    });
  }

  GObjectClass* class_;
  const Settings defaults_{};
  std::vector<std::function<std::string(const Settings&)>> range_errors_;
  std::vector<Property> properties_;  // the property with id i is at index i − 1
};

/// Returns an empty string if size is odd or 0, otherwise an error, e.g. "kernel-size=4 must be
/// odd: set it to 3 or 5." `alternative` is inserted before the final full stop.
std::string odd_size_error(const char* property, int size, const char* alternative = "");

/// Handles invalid settings: an ERROR at start and with new caps. While playing, the element warns
/// when they become invalid, and keeps the last valid settings. `error` is the text, or empty.
class SettingsGuard {
 public:
  /// Call this at start and for new caps. Throws ElementError if `error` is not empty.
  void require(const std::string& error);

  /// Call this for each frame. Returns true if the settings may be applied.
  bool allows(GstElement* element, const std::string& error);

 private:
  bool warned_ = false;
};

}  // namespace cudavision
