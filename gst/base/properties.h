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

/// The properties of an element. Each is declared once, as a member of a struct Settings that the
/// element's object lock guards. The streaming thread takes a copy for each frame.
namespace cudavision {

/// When a property may change: at any time, also through a controller, or only while the element is
/// not running, because caps or the whole operation depend on it.
enum class PropertyChange { while_playing, when_ready };

/// Describes a property: the texts that gst-inspect-1.0 shows, and when it may change. The strings
/// must be static.
struct PropertySpec {
  const char* name;
  const char* nick;
  const char* blurb;
  PropertyChange change = PropertyChange::while_playing;
};

/// Return the specification of a number that passes every value on to set_property(). For a value
/// out of range, GObject's own would print a warning on the terminal, and the element would run
/// with the old value. With these, the element refuses the value and names the remedy.
/// gst-inspect-1.0 shows the range as usual, and a GstControlBinding maps its curve to it.
GParamSpec* number_spec(const PropertySpec& spec, const Range<int>& range, int initial,
                        GParamFlags flags);
GParamSpec* number_spec(const PropertySpec& spec, const Range<gint64>& range, gint64 initial,
                        GParamFlags flags);
GParamSpec* number_spec(const PropertySpec& spec, const Range<double>& range, double initial,
                        GParamFlags flags);

/// Return an empty string or, if the value of a property is out of range, a message with the range.
std::string number_error(const char* property, int value, const Range<int>& range);
std::string number_error(const char* property, gint64 value, const Range<gint64>& range);
std::string number_error(const char* property, double value, const Range<double>& range);

/// A value of an enumeration. It is shown by its nick.
template <class Enum>
struct EnumValue {
  Enum value;
  const char* description;
  const char* nick;

  operator GEnumValue() const { return {static_cast<gint>(value), description, nick}; }
};

/// Registers the enumeration type of a property, unless that has been done. The strings must be
/// static.
GType register_enum(const char* name, const std::vector<GEnumValue>& values);

/// Returns a copy of an element's settings.
template <class Settings>
Settings current_settings(gpointer element, const Settings& settings) {
  const ObjectLock lock(element);
  return settings;
}

/// The properties of an element class. Their defaults are those of a new Settings. class_init adds
/// them; afterwards they only serve set_property() and get_property().
template <class Settings>
class ElementProperties {
 public:
  explicit ElementProperties(GObjectClass* klass) : class_(klass) {}

  /// A field may stand for another value than it holds, as long as nobody sets it. `shown` then
  /// returns the settings with the values that the property shows, its default included.
  using Shown = Settings (*)(const Settings&);
  static Settings as_they_are(const Settings& settings) { return settings; }

  void add(const PropertySpec& spec, double Settings::*field, const Range<double>& range,
           Shown shown = as_they_are) {
    install_number(spec, field, range, g_value_get_double, g_value_set_double, shown);
  }
  void add(const PropertySpec& spec, int Settings::*field, const Range<int>& range,
           Shown shown = as_they_are) {
    install_number(spec, field, range, g_value_get_int, g_value_set_int, shown);
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
  /// A string, which is empty by default. It is interned, so that copies of the settings need no
  /// memory. of: returns the field.
  void add(const PropertySpec& spec, const char*& (*of)(Settings&)) {
    add(
        g_param_spec_string(spec.name, spec.nick, spec.blurb, "", flags_of(spec)),
        [=](GObject*, const Settings& settings, GValue* value) {
          Settings copy = settings;
          g_value_set_string(value, of(copy));
        },
        [=](Settings& settings, const GValue* value) {
          of(settings) = g_intern_string(text_of(g_value_get_string(value)));
        });
  }
  /// A string that is kept as a Text, which is constructed from the string and returns it as
  /// c_str(). It is empty by default.
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
           Shown shown = as_they_are) {
    add(spec, field, register_enum(type_name, {values.begin(), values.end()}), shown);
  }
  /// type is the registered enumeration, which has the values of Enum.
  template <class Enum>
  void add(const PropertySpec& spec, Enum Settings::*field, GType type, Shown shown = as_they_are) {
    install(field, g_value_get_enum, g_value_set_enum,
            g_param_spec_enum(spec.name, spec.nick, spec.blurb, type,
                              static_cast<gint>(shown(defaults_).*field), flags_of(spec)),
            shown);
  }

  using Get = std::function<void(GObject* object, const Settings& settings, GValue* value)>;
  using Set = std::function<void(Settings& settings, const GValue* value)>;
  /// Any other property. get runs without the object lock, and set with it. A read-only property
  /// has no set.
  void add(GParamSpec* pspec, Get get, Set set = nullptr) {
    properties_.push_back({std::move(get), std::move(set)});
    g_object_class_install_property(class_, static_cast<guint>(properties_.size()), pspec);
  }

  /// GObjectClass.set_property for an object that owns settings.
  void set(GObject* object, guint id, const GValue* value, Settings& settings) const {
    const ObjectLock lock(object);
    properties_[id - 1].set(settings, value);
  }

  /// GObjectClass.get_property for an object that owns settings.
  void get(GObject* object, guint id, GValue* value, const Settings& settings) const {
    properties_[id - 1].get(object, current_settings(object, settings), value);
  }

  /// Returns an empty string, or the number_error() of the first property that is out of range.
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
               void (*to_value)(GValue*, Value), GParamSpec* pspec, Shown shown = as_they_are) {
    add(
        pspec,
        [=](GObject*, const Settings& settings, GValue* value) {
          to_value(value, static_cast<Value>(shown(settings).*field));
        },
        [=](Settings& settings, const GValue* value) {
          settings.*field = static_cast<Field>(from_value(value));
        });
  }

  template <class Number>
  void install_number(const PropertySpec& spec, Number Settings::*field, const Range<Number>& range,
                      Number (*from_value)(const GValue*), void (*to_value)(GValue*, Number),
                      Shown shown = as_they_are) {
    install(field, from_value, to_value,
            number_spec(spec, range, shown(defaults_).*field, flags_of(spec)), shown);
    range_errors_.push_back([=, name = spec.name](const Settings& settings) {
      return number_error(name, shown(settings).*field, range);
    });
  }

  GObjectClass* class_;
  const Settings defaults_{};
  std::vector<std::function<std::string(const Settings&)>> range_errors_;
  std::vector<Property> properties_;  // in the order of their ids, from 1
};

/// Empty if size is odd or 0, else what is wrong with the value of the property and how to mend it.
/// fault: "is even, but …", why it must be odd. alternative: what else would do.
std::string odd_size_error(const char* property, int size, const char* fault,
                           const char* alternative = "");

/// Handles settings that do not fit the frames. At start and with new caps, they are an error.
/// While playing, the last valid settings stay in force, and one warning says so.
class SettingsGuard {
 public:
  /// Call this at start and for new caps. error is empty, or says what is wrong with the settings
  /// and how to mend it; then this throws ElementError.
  void require(const std::string& error);

  /// Call this for each frame. Returns true if the settings may be applied. Posts a warning for the
  /// first frame whose settings may not.
  bool allows(GstElement* element, const std::string& error);

 private:
  bool warned_ = false;
};

}  // namespace cudavision
