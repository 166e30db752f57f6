// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>

namespace cudavision {

/// How long an unusual condition may last before an element posts a warning.
struct WarningTimeout {
  GstClockTime time;
  int max_frames = 0;  ///< for frames without running times: more of them are too many
};

/// The limits of everything that waits before it warns or gives up. Those of frames count in
/// running time, so that they hold for files as well.
namespace warning_timeouts {

/// A camera sends nothing while the other one does (InputTimeout).
inline constexpr WarningTimeout silent_camera{2 * GST_SECOND};
/// Both cameras send frames, of which none finds a partner (PairingTimeout). With fewer frames of
/// each, a camera may just have started late.
inline constexpr WarningTimeout unpaired_frames{2 * GST_SECOND};
inline constexpr int min_unpaired_frames = 3;
/// The pictures of pairs differ in size or depth (SizeMismatch). Before the first equal pair only
/// elements upstream can bring about a change, which takes them a few frames. Later a camera may be
/// exchanged, which takes seconds.
inline constexpr WarningTimeout unequal_at_start{GST_SECOND, 30};
inline constexpr WarningTimeout unequal_later{5 * GST_SECOND, 150};
/// No frame has a region (RegionWarning).
inline constexpr WarningTimeout no_region{5 * GST_SECOND};
/// A sink pad is not linked, or a push does not return (PadAlarm). By the clock of the system.
inline constexpr WarningTimeout waiting_pad{5 * GST_SECOND};
/// A sink pad waits for the caps of the other one (CapsArrival). By the clock of the system.
inline constexpr WarningTimeout other_caps{GST_SECOND};

}  // namespace warning_timeouts

/// Measures how long an unusual condition lasts, from frame to frame, and decides when to warn.
class ConditionTimer {
 public:
  /// The condition holds at the running time of this frame, if that has one.
  void add(std::optional<std::int64_t> time) {
    ++frames_;
    timed_ = time.has_value();
    if (!time)
      return;
    // Running time begins anew after a flushing seek.
    if (!since_ || *time < *since_)
      since_ = time;
    until_ = *time;
  }

  /// How long the condition has lasted.
  GstClockTime length() const noexcept {
    return since_ ? static_cast<GstClockTime>(until_) - static_cast<GstClockTime>(*since_) : 0;
  }
  bool exceeds(const WarningTimeout& timeout) const noexcept {
    return timed_ ? length() >= timeout.time : frames_ > timeout.max_frames;
  }

  /// Returns whether to warn now: the timeout is exceeded, and there has been no warning since
  /// end().
  bool must_warn(const WarningTimeout& timeout) noexcept {
    if (warned_ || !exceeds(timeout))
      return false;
    warned_ = true;
    return true;
  }
  bool has_warned() const noexcept { return warned_; }

  /// The condition is over.
  void end() noexcept { *this = ConditionTimer(); }
  /// Restarts the measurement, but there is no second warning.
  void restart() noexcept {
    const bool warned = warned_;
    end();
    warned_ = warned;
  }

 private:
  std::optional<std::int64_t> since_;  ///< running time
  std::int64_t until_ = 0;
  int frames_ = 0;
  bool timed_ = false;
  bool warned_ = false;
};

}  // namespace cudavision
