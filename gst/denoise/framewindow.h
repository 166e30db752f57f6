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
#include "gst/denoise/scenecuts.h"
#include "gst/memory/deviceframe.h"

namespace cudavision {

/// Copies of the frames around each frame. The host chooses the frames to search, so it must know
/// where scenes begin. An `upload_queue` of its own copies and compares frames without waiting for
/// searches, and until the result is known, a frame is assumed to continue the scene. So the device
/// hardly waits for the host: with three frames of 1920×1080, an H200 is idle for 2 of 1431 µs a
/// frame, not for 80 of 1523.
///
/// All functions except clear(), and the destructor, need the session's context.
class FrameWindow {
 public:
  /// `frames` is odd. Frames are searched on `device`. Allocates nothing before the first frame.
  FrameWindow(Device& upload_queue, Device& device, const FrameLayout& layout, int frames);

  /// Frames on each side of the middle frame.
  int radius() const noexcept { return frames_ / 2; }

  /// Enqueues the copy on `upload_queue`.
  void store(guint64 number, const ConstFrame& in);
  /// Call this after `upload_queue` has finished, and before the next store(). Returns true if the
  /// frame begins a new scene, which changes neighbours().
  bool begins_scene();
  void clear() noexcept;

  /// Returns a stored frame. `device` waits for `upload_queue`.
  ConstFrame centre_on(guint64 number);
  /// Returns the stored frames around the last centre_on() that are in its scene.
  std::span<const ConstFrame> neighbours() const noexcept { return {neighbours_.data(), count_}; }

 private:
  static constexpr int max_frames = nlmeans::Parameters::Ranges::frames.max;
  static constexpr int max_slots = max_frames + 1;  ///< one more for a frame during a search

  struct Slot {
    DeviceFrame memory;
    ConstFrame frame;
    std::optional<guint64> number;
    guint64 scene = 0;
  };

  Slot& slot(guint64 number) { return slots_[number % static_cast<guint64>(frames_ + 1)]; }

  Device& upload_queue_;
  Device& device_;
  const FrameLayout layout_;
  const int frames_;
  std::optional<SceneCuts> cuts_;
  const std::unique_ptr<Event> copied_;    ///< of `upload_queue`, after the last frame
  const std::unique_ptr<Event> searched_;  ///< of `device`, after all but the last search
  std::array<Slot, max_slots> slots_;
  std::optional<guint64> last_;  ///< the last stored frame, if the next frame continues it
  guint64 scene_ = 0;            ///< of the last frame
  std::array<ConstFrame, max_frames> neighbours_;
  std::size_t count_ = 0;
};

}  // namespace cudavision
