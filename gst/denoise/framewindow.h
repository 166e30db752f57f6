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

/// Device copies of a frame and of the frames around it, which are searched. The host chooses the
/// frames to search, so it must know where scenes begin. A separate `upload_queue` copies and
/// compares a frame during an earlier search. Until the comparison is complete, the frame is
/// assumed to continue the scene. The device therefore hardly waits for the host: with three
/// frames of 1920×1080, an H200 is idle for 2 of 1431 µs per frame, instead of 80 of 1523 µs. The
/// destructor and all functions except clear() need the session's context.
class FrameWindow {
 public:
  /// `frames` is odd. Searches run on `device`. Allocates no memory before the first frame.
  FrameWindow(Device& upload_queue, Device& device, const FrameLayout& layout, int frames);

  /// Frames on each side of the middle frame.
  int radius() const noexcept { return frames_ / 2; }

  /// Enqueues the copy and the comparison on `upload_queue`.
  void store(guint64 number, const ConstFrame& in);
  /// Call this after `upload_queue` has finished, and before the next store(). Returns true if the
  /// frame begins a new scene, which changes neighbours().
  bool begins_scene();
  void clear() noexcept;

  /// Returns a stored frame and sets its neighbours(). `device` waits for `upload_queue`.
  ConstFrame centre_on(guint64 number);
  /// Returns the stored frames around the frame of centre_on() that belong to its scene.
  std::span<const ConstFrame> neighbours() const noexcept { return {neighbours_.data(), count_}; }

 private:
  static constexpr int max_frames = nlmeans::Parameters::Ranges::frames.max;
  static constexpr int max_slots = max_frames + 1;  ///< one more, to store a frame during a search

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
  const std::unique_ptr<Event> copied_;    ///< `upload_queue` has compared the last frame
  const std::unique_ptr<Event> searched_;  ///< `device` has ended all searches but the last
  std::array<Slot, max_slots> slots_;
  std::optional<guint64> last_;  ///< number of the last stored frame; unset by clear()
  guint64 scene_ = 0;            ///< scene of the last stored frame
  std::array<ConstFrame, max_frames> neighbours_;
  std::size_t count_ = 0;
};

}  // namespace cudavision
