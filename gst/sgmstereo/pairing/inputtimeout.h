// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "gst/base/patience.h"

namespace cudavision {

/// Notices that a linked camera sends no frames while those of the other one go on. Only live
/// pipelines drop frames for lack of partners that have not arrived, so only they find that out.
class InputTimeout {
 public:
  /// Call this at start.
  void reset() { *this = InputTimeout(); }

  /// A frame of the other camera was dropped at this running time, because none of this one had
  /// arrived when its time was over. Returns an empty string or, once until frames arrive, a
  /// warning that the pad of this name has been silent for 2 s.
  std::string missed(const char* pad, std::int64_t time);
  /// A frame has arrived. Returns an empty string, or a message that the camera is back if there
  /// has been a warning.
  std::string sends(const char* pad);

 private:
  QuietTime quiet_;
};

}  // namespace cudavision
