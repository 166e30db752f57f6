// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <glib.h>

#include <memory>
#include <string>

/// Strings of GStreamer and GLib may be NULL (an unknown video format's name, a string in caps, the
/// message of a GError). A std::string cannot be made from NULL, so always use these functions.
namespace cudavision {

inline const char* text_of(const gchar* text, const char* if_null = "") {
  return text ? text : if_null;
}

/// Formats a number for a message. Uses a point in all locales, as properties accept no comma.
inline std::string number_text(double number, int decimals) {
  const std::string format = "%." + std::to_string(decimals) + "f";
  char text[64];
  return g_ascii_formatd(text, sizeof text, format.c_str(), number);
}

/// Copies the text, which may be NULL, and frees it.
inline std::string take_gstring(gchar* text) {
  const std::unique_ptr<gchar, decltype(&g_free)> owner(text, g_free);
  return text_of(text);
}

}  // namespace cudavision
