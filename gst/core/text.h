// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <glib.h>

#include <memory>
#include <string>

/// Texts of GStreamer and GLib may be NULL: the name of an unknown video format, a string in caps,
/// a GError without a message. std::string crashes on NULL, so always use these functions.
namespace cudavision {

inline const char* text_of(const gchar* text, const char* if_null = "") {
  return text ? text : if_null;
}

/// For messages. Uses a decimal point in all languages, because properties accept no comma.
inline std::string number_text(double number, int decimals) {
  const std::string format = "%." + std::to_string(decimals) + "f";
  char text[64];
  return g_ascii_formatd(text, sizeof text, format.c_str(), number);
}

/// Frees a text that the caller owns.
inline std::string taken_text(gchar* text) {
  const std::unique_ptr<gchar, decltype(&g_free)> owner(text, g_free);
  return text_of(text);
}

}  // namespace cudavision
