// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pairing/inputtimeout.h"

#include <utility>

#include "gst/core/numbertext.h"

namespace cudavision {

std::string InputTimeout::missed(const char* pad, std::int64_t time) {
  quiet_.add(time);
  if (!quiet_.must_warn(patience::silent_camera))
    return {};
  return std::string("Nothing has arrived on ") + pad +
         " for 2 s, while the other camera sends frames, which are dropped for lack of partners: "
         "check this camera and its cable, and put a \"queue\" between each camera and the "
         "element.";
}

std::string InputTimeout::sends(const char* pad) {
  const QuietTime last = std::exchange(quiet_, {});
  if (!last.has_warned())
    return {};
  return std::string("Frames arrive on ") + pad + " again, after " +
         number_text(static_cast<double>(last.length()) / GST_SECOND, 1) + " s without any.";
}

}  // namespace cudavision
