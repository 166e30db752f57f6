// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>

namespace cudavision {

/// How long something unusual may go on before an element says so.
struct Patience {
  GstClockTime time;
  int max_frames = 0;  ///< for frames without running times: more of them are too many
};

/// The limits of everything that waits before it warns or gives up. Those of frames count in
/// running time, so that they hold for files as well.
namespace patience {

/// A camera sends nothing while the other one does (SilentCamera).
inline constexpr Patience silent_camera{2 * GST_SECOND};
/// Both cameras send frames, of which none finds a partner (UnpairedFrames). With fewer frames of
/// each, a camera may just have started late.
inline constexpr Patience unpaired_frames{2 * GST_SECOND};
inline constexpr int min_unpaired_frames = 3;
/// The pictures of pairs differ in size or depth (UnequalPairs). Before the first equal pair only
/// elements upstream can bring about a change, which takes them a few frames. Later a camera may be
/// exchanged, which takes seconds.
inline constexpr Patience unequal_at_start{GST_SECOND, 30};
inline constexpr Patience unequal_later{5 * GST_SECOND, 150};
/// No frame has a region (RegionWarning).
inline constexpr Patience no_region{5 * GST_SECOND};
/// Nothing is linked to a sink pad (UnlinkedPadAlarm). By the clock of the system.
inline constexpr Patience unlinked_pad{5 * GST_SECOND};
/// A sink pad waits for the caps of the other one (CapsArrival). By the clock of the system.
inline constexpr Patience other_caps{GST_SECOND};

}  // namespace patience

/// Something unusual that goes on from frame to frame: a quiet time, which ends with a warning if
/// it is too long, and may end with another message when it is over.
class QuietTime {
 public:
  /// It goes on at the running time of this frame, if that has one.
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

  /// How long it has been going on.
  GstClockTime length() const noexcept {
    return since_ ? static_cast<GstClockTime>(until_) - static_cast<GstClockTime>(*since_) : 0;
  }
  bool exceeds(const Patience& patience) const noexcept {
    return timed_ ? length() >= patience.time : frames_ > patience.max_frames;
  }

  /// Returns whether to warn now: it exceeds the patience, and there has been no warning since
  /// end().
  bool must_warn(const Patience& patience) noexcept {
    if (warned_ || !exceeds(patience))
      return false;
    warned_ = true;
    return true;
  }
  bool has_warned() const noexcept { return warned_; }

  /// It is over.
  void end() noexcept { *this = QuietTime(); }
  /// It begins anew, but there is no second warning.
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
