// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "gst/base/patience.h"

namespace cudavision {

/// The frames without a partner since the last pair. If both cameras send frames for seconds, but
/// none of them finds a partner, max-skew is smaller than the distance of their running times.
class PairingTimeout {
 public:
  enum Side { left, right };

  /// Call this at start. The warning may be given again.
  void reset() { *this = PairingTimeout(); }
  /// Call this for a pair, and after a flush.
  void end();

  /// A frame was dropped at this running time, because the frame of the other side, if there was
  /// one, was more than max_skew away. Returns an empty string or, once since reset(), the warning
  /// that no pair has formed for 2 s.
  std::string add(Side side, std::int64_t time, std::optional<std::int64_t> other,
                  GstClockTime max_skew);

 private:
  std::array<std::optional<std::int64_t>, 2> last_;  ///< running times
  std::array<int, 2> counts_{};
  GstClockTime nearest_ = GST_CLOCK_TIME_NONE;  ///< distance of two frames
  QuietTime unpaired_;
};

}  // namespace cudavision
