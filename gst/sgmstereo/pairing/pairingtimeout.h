// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "gst/base/warningtimeout.h"

/// What is wrong if no pairs form.
namespace cudavision {

/// Notices that a linked camera sends no frames while those of the other one go on. Only live
/// pipelines drop frames for lack of partners that have not arrived, so only they find that out.
class InputTimeout {
 public:
  /// A frame of the other camera was dropped at this running time, because none of this one had
  /// arrived when its time was over. Returns an empty string or, once until frames arrive, a
  /// warning that the pad of this name has been silent for 2 s.
  std::string missed(const char* pad, std::int64_t time);
  /// A frame has arrived. Returns an empty string, or a message that the camera is back if there
  /// has been a warning.
  std::string sends(const char* pad);

 private:
  ConditionTimer quiet_;
};

/// The frames without a partner since the last pair. If both cameras send frames for seconds, but
/// none of them finds a partner, max-skew is smaller than the distance of their running times.
class PairingTimeout {
 public:
  enum Side { left, right };

  /// Call this for a pair, and after a flush.
  void end();

  /// A frame was dropped at this running time, because the frame of the other side, if there was
  /// one, was more than max_skew away. Returns an empty string or, once, the warning
  /// that no pair has formed for 2 s.
  std::string add(Side side, std::int64_t time, std::optional<std::int64_t> other,
                  GstClockTime max_skew);

 private:
  std::array<std::optional<std::int64_t>, 2> last_;  ///< running times
  std::array<int, 2> counts_{};
  GstClockTime nearest_ = GST_CLOCK_TIME_NONE;  ///< distance of two frames
  ConditionTimer unpaired_;
};

/// The pairs in a row whose pictures differ in size or depth. While both cameras change their caps,
/// one after the other, such pairs are normal; if they go on for long, they are a mistake.
class SizeMismatch {
 public:
  /// A pair whose pictures are equal.
  void end() noexcept {
    *this = SizeMismatch();
    any_equal_ = true;
  }
  /// A pair whose pictures differ, at that running time. Returns whether this has gone on for too
  /// long.
  bool add(const std::string& error, std::optional<std::int64_t> time) {
    error_ = error;
    unequal_.add(time);
    return unequal_.exceeds(any_equal_ ? warning_timeouts::unequal_later
                                       : warning_timeouts::unequal_at_start);
  }

  /// Empty, or the error of the last pair.
  const std::string& error() const noexcept { return error_; }
  /// Returns true if no pair was equal yet.
  bool from_the_start() const noexcept { return !any_equal_; }

 private:
  bool any_equal_ = false;
  std::string error_;
  ConditionTimer unequal_;
};

}  // namespace cudavision
