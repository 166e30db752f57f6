// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>

namespace cudavision {

/// How long an unusual condition may last before an element posts a warning.
struct WarningTimeout {
  GstClockTime time;
  int max_frames = 0;  ///< the limit for frames without running times
};

/// All timeouts. They are in running time unless noted, so that they apply to files, too.
namespace warning_timeouts {

/// One camera sends frames, the other does not (InputTimeout).
inline constexpr WarningTimeout silent_camera{2 * GST_SECOND};
/// Both cameras send frames, but no two frames pair (PairingTimeout). A camera with fewer than
/// min_unpaired_frames may just have started late.
inline constexpr WarningTimeout unpaired_frames{2 * GST_SECOND};
inline constexpr int min_unpaired_frames = 3;
/// The cameras' frames differ in size or depth (SizeMismatch). At the start, upstream elements may
/// renegotiate within a few frames. Later, somebody may exchange a camera, which takes longer.
inline constexpr WarningTimeout unequal_at_start{GST_SECOND, 30};
inline constexpr WarningTimeout unequal_later{5 * GST_SECOND, 150};
/// No frame has had a region yet (RegionWarning).
inline constexpr WarningTimeout no_region{5 * GST_SECOND};
/// A sink pad is not linked, or a push does not return (PadAlarm). Measured by the system clock.
inline constexpr WarningTimeout waiting_pad{5 * GST_SECOND};
/// A sink pad waits for the other pad's caps (CapsArrival). Measured by the system clock.
inline constexpr WarningTimeout other_caps{GST_SECOND};

}  // namespace warning_timeouts

/// Measures from frame to frame how long an unusual condition lasts, and decides when to warn.
class ConditionTimer {
 public:
  /// Call this for each frame for which the condition holds, with its running time in ns.
  void add(std::optional<std::int64_t> time) {
    ++frames_;
    timed_ = time.has_value();
    if (!time)
      return;
    // A flushing seek resets running time.
    if (!since_ || *time < *since_)
      since_ = time;
    until_ = *time;
  }

  GstClockTime length() const noexcept {
    return since_ ? static_cast<GstClockTime>(until_) - static_cast<GstClockTime>(*since_) : 0;
  }
  bool exceeds(const WarningTimeout& timeout) const noexcept {
    return timed_ ? length() >= timeout.time : frames_ > timeout.max_frames;
  }

  /// Returns true when the timeout is exceeded, but only once between two calls of end().
  bool must_warn(const WarningTimeout& timeout) noexcept {
    if (warned_ || !exceeds(timeout))
      return false;
    warned_ = true;
    return true;
  }
  bool has_warned() const noexcept { return warned_; }

  void end() noexcept { *this = ConditionTimer(); }
  /// Restarts the measurement, without a second warning.
  void restart() noexcept {
    const bool warned = warned_;
    end();
    warned_ = warned;
  }

 private:
  std::optional<std::int64_t> since_;  ///< running time in ns
  std::int64_t until_ = 0;
  int frames_ = 0;
  bool timed_ = false;
  bool warned_ = false;
};

}  // namespace cudavision
