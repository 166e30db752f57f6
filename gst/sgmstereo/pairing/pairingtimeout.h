// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "gst/base/warningtimeout.h"

namespace cudavision {

/// Detects that only one camera of a live pipeline sends frames.
class InputTimeout {
 public:
  /// Call this if a frame of the other camera, at running time `time`, was dropped while this pad
  /// had none. Returns a warning once if this has lasted for 2 s, otherwise an empty string.
  std::string missed(const char* pad, std::int64_t time);
  /// Call this for each frame. After a warning, returns a message that frames arrive again.
  std::string sends(const char* pad);

 private:
  ConditionTimer quiet_;
};

/// Detects that the running times of the two cameras differ by more than max-skew.
class PairingTimeout {
 public:
  enum Side { left, right };

  /// Call this when a pair has formed, and after a flush.
  void end();

  /// Call this for each frame dropped for lack of a partner. `other` is the running time of the
  /// other camera's oldest frame, if known. Returns a warning once if no pair has formed for 2 s
  /// and max_skew is the cause, otherwise an empty string.
  std::string add(Side side, std::int64_t time, std::optional<std::int64_t> other,
                  GstClockTime max_skew);

 private:
  std::array<std::optional<std::int64_t>, 2> last_;  ///< running times of the last dropped frames
  std::array<int, 2> counts_{};
  GstClockTime nearest_ = GST_CLOCK_TIME_NONE;  ///< smallest difference of running times
  ConditionTimer unpaired_;
};

/// Measures how long the pictures of pairs differ in size or depth. A short time is normal while
/// both cameras change their caps.
class SizeMismatch {
 public:
  /// Call this for a pair whose pictures have the same size and depth.
  void end() noexcept {
    *this = SizeMismatch();
    any_equal_ = true;
  }
  /// Call this for a pair whose pictures differ. Returns true if the difference is an error.
  bool add(const std::string& error, std::optional<std::int64_t> time) {
    error_ = error;
    unequal_.add(time);
    return unequal_.exceeds(any_equal_ ? warning_timeouts::unequal_later
                                       : warning_timeouts::unequal_at_start);
  }

  const std::string& error() const noexcept { return error_; }
  bool from_the_start() const noexcept { return !any_equal_; }

 private:
  bool any_equal_ = false;
  std::string error_;
  ConditionTimer unequal_;
};

}  // namespace cudavision
