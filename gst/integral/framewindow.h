// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/nlmeans/nlmeans.h"
#include "gst/integral/scenecuts.h"
#include "gst/memory/deviceframe.h"

namespace cudavision {

/// The frames around each frame, on the device: copies, as upstream may have few buffers. The host
/// decides which frames are searched, and must know for that where scenes begin. So frames are
/// copied and compared on a queue of their own, `arrivals`, where no denoising of earlier frames is
/// before them. All calls, the destructor included, are made in the session's context, except
/// forget().
class FrameWindow {
 public:
  /// `frames` is odd. Frames are searched on `device`. Nothing is allocated before the first frame.
  FrameWindow(Device& arrivals, Device& device, const FrameLayout& layout, int frames);

  int frames() const noexcept { return frames_; }
  /// Frames before and after the one in the middle.
  int reach() const noexcept { return frames_ / 2; }

  /// Enqueues the copy of a frame on `arrivals`, which must have finished before the next call of
  /// any function but forget().
  void remember(guint64 number, const ConstFrame& in);
  /// The next frame does not continue the ones before.
  void forget() noexcept;

  /// Moves the window to a frame that is remembered, and returns it.
  ConstFrame centre_on(guint64 number);
  /// Returns the others in the window, as far as they are there and in the same scene.
  std::span<const ConstFrame> neighbours() const noexcept { return {neighbours_.data(), count_}; }

 private:
  static constexpr int max_frames = nlmeans::Parameters::Ranges::frames.max;
  /// Frames arrive while the device still searches around the last two centres. With one, it went
  /// idle before each search that fills it: an H200 took 1483 µs instead of 1421 for each frame of
  /// 1920×1080, of which it searched three.
  static constexpr int centres_in_flight = 2;
  static constexpr int max_slots = max_frames + centres_in_flight;

  struct Slot {
    DeviceFrame memory;
    ConstFrame frame;
    std::optional<guint64> number;
    guint64 scene = 0;
  };

  Slot& slot(guint64 number) {
    return slots_[number % static_cast<guint64>(frames_ + centres_in_flight)];
  }
  void judge();

  Device& arrivals_;
  const FrameLayout layout_;
  const int frames_;
  std::optional<SceneCuts> cuts_;
  /// Of `device`, recorded when one of the last frames was remembered.
  std::array<std::unique_ptr<Event>, centres_in_flight> searched_;
  std::array<Slot, max_slots> slots_;
  std::optional<guint64> last_;  ///< the frame that was remembered last, if the next continues it
  bool judged_ = true;           ///< its scene is known
  guint64 scene_ = 0;            ///< of the last frame that was judged
  std::array<ConstFrame, max_frames> neighbours_;
  std::size_t count_ = 0;
};

}  // namespace cudavision
