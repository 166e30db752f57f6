// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Properties of an element, each declared once, as a field of a struct Settings.

#include <gst/gst.h>

#include <functional>
#include <vector>

#include "gst/base/elementsettings.h"

namespace cudavision {

/// When a property may change: at any time, also by a controller, or only while the element is not
/// running, because caps or the whole operation depend on it.
enum class PropertyChange { while_playing, when_ready };

/// What gst-inspect-1.0 says of a property. All of it lives for ever.
struct PropertyWords {
  const char* name;
  const char* nick;
  const char* blurb;
  PropertyChange change = PropertyChange::while_playing;
};

/// The properties of one class of elements. Initially they are what a new Settings holds. Filled in
/// the class's class_init, and read only from then on.
template <class Settings>
class ElementProperties {
 public:
  explicit ElementProperties(GObjectClass* klass) : class_(klass) {}

  void add(const PropertyWords& words, double Settings::*field, double least, double most) {
    install(field, g_value_get_double, g_value_set_double,
            g_param_spec_double(words.name, words.nick, words.blurb, least, most, defaults_.*field,
                                flags_of(words)));
  }
  void add(const PropertyWords& words, int Settings::*field, int least, int most) {
    install(field, g_value_get_int, g_value_set_int,
            g_param_spec_int(words.name, words.nick, words.blurb, least, most, defaults_.*field,
                             flags_of(words)));
  }
  void add(const PropertyWords& words, guint Settings::*field) {
    install(field, g_value_get_uint, g_value_set_uint,
            g_param_spec_uint(words.name, words.nick, words.blurb, 0, G_MAXUINT, defaults_.*field,
                              flags_of(words)));
  }
  void add(const PropertyWords& words, guint64 Settings::*field) {
    install(field, g_value_get_uint64, g_value_set_uint64,
            g_param_spec_uint64(words.name, words.nick, words.blurb, 0, G_MAXUINT64,
                                defaults_.*field, flags_of(words)));
  }
  void add(const PropertyWords& words, gint64 Settings::*field, gint64 least) {
    install(field, g_value_get_int64, g_value_set_int64,
            g_param_spec_int64(words.name, words.nick, words.blurb, least, G_MAXINT64,
                               defaults_.*field, flags_of(words)));
  }
  void add(const PropertyWords& words, bool Settings::*field) {
    install(field, g_value_get_boolean, g_value_set_boolean,
            g_param_spec_boolean(words.name, words.nick, words.blurb, defaults_.*field,
                                 flags_of(words)));
  }
  /// type: the registered enumeration, whose values are those of Enum.
  template <class Enum>
  void add(const PropertyWords& words, Enum Settings::*field, GType type) {
    install(field, g_value_get_enum, g_value_set_enum,
            g_param_spec_enum(words.name, words.nick, words.blurb, type,
                              static_cast<gint>(defaults_.*field), flags_of(words)));
  }

  /// GObjectClass.set_property of an object whose object lock guards settings.
  void set(GObject* object, guint id, const GValue* value, GParamSpec* pspec,
           Settings& settings) const {
    if (!has(id)) {
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      return;
    }
    GST_OBJECT_LOCK(object);
    properties_[id - 1].set(settings, value);
    GST_OBJECT_UNLOCK(object);
  }

  /// GObjectClass.get_property of the same.
  void get(GObject* object, guint id, GValue* value, GParamSpec* pspec,
           const Settings& settings) const {
    if (!has(id)) {
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
      return;
    }
    properties_[id - 1].get(settings_now(object, settings), value);
  }

  /// The ids are 1 to this; a class may give its other properties those behind.
  guint count() const noexcept { return static_cast<guint>(properties_.size()); }
  bool has(guint id) const noexcept { return id >= 1 && id <= count(); }

 private:
  static GParamFlags flags_of(const PropertyWords& words) {
    const int change = words.change == PropertyChange::while_playing
                           ? GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING
                           : GST_PARAM_MUTABLE_READY;
    return static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | change);
  }

  struct Property {
    std::function<void(Settings&, const GValue*)> set;
    std::function<void(const Settings&, GValue*)> get;
  };

  /// from_value, to_value: GLib's functions for values of this kind.
  template <class Field, class Value>
  void install(Field Settings::*field, Value (*from_value)(const GValue*),
               void (*to_value)(GValue*, Value), GParamSpec* pspec) {
    properties_.push_back({[=](Settings& settings, const GValue* value) {
                             settings.*field = static_cast<Field>(from_value(value));
                           },
                           [=](const Settings& settings, GValue* value) {
                             to_value(value, static_cast<Value>(settings.*field));
                           }});
    g_object_class_install_property(class_, count(), pspec);
  }

  GObjectClass* class_;
  const Settings defaults_{};
  std::vector<Property> properties_;  // the first one's id is 1
};

}  // namespace cudavision
