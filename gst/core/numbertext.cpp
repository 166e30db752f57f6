// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/core/numbertext.h"

#include <glib.h>

namespace cudavision {

std::string number_text(double number, int decimals) {
  const std::string format = "%." + std::to_string(decimals) + "f";
  char text[64];
  return g_ascii_formatd(text, sizeof text, format.c_str(), number);
}

}  // namespace cudavision
