// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the elements do alike with those of their properties that may change while playing.

#include <gst/gst.h>

#include <string>

namespace cudavision {

/// A copy of an element's settings, which the object lock guards.
template <class Settings>
Settings settings_now(gpointer element, const Settings& settings) {
  GST_OBJECT_LOCK(element);
  const Settings copy = settings;
  GST_OBJECT_UNLOCK(element);
  return copy;
}

/// The rule for settings that do not fit the frames: an error at start and with new caps; while
/// playing, the last valid ones stay in force and one warning says so.
class SettingsGuard {
 public:
  /// wrong: empty, or what is wrong with the settings and how to mend it.
  void require(const std::string& wrong);

  /// Whether the settings may be taken over. Warns where they may not, unless it has done so since
  /// they could last be.
  bool allows(GstElement* element, const std::string& wrong);

 private:
  bool warned_ = false;
};

}  // namespace cudavision
