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

/// The frames around each frame, on the device: copies, as upstream may have few buffers. The host
/// decides which frames are searched, and must know for that where scenes begin. So that the device
/// does not run out of work meanwhile, frames are copied and compared on a queue of their own,
/// `upload_queue`, where no denoising of earlier frames is before them, and until the result is
/// there, a frame is taken to continue the scene. (An H200 that searched three frames of 1920×1080
/// was idle for 80 of 1523 µs a frame while the host waited for the counts first, and now is for 2
/// of 1431.) All calls, the destructor included, are made in the session's context, except clear().
class FrameWindow {
 public:
  /// `frames` is odd. Frames are searched on `device`. Nothing is allocated before the first frame.
  FrameWindow(Device& upload_queue, Device& device, const FrameLayout& layout, int frames);

  /// Frames before and after the one in the middle.
  int radius() const noexcept { return frames_ / 2; }

  /// Enqueues the copy of a frame on `upload_queue`.
  void store(guint64 number, const ConstFrame& in);
  /// Call this before the next frame is stored, when `upload_queue` has finished. Returns true if
  /// the frame begins a new scene: neighbours() may then have changed.
  bool begins_scene();
  /// The next frame does not continue the ones before.
  void clear() noexcept;

  /// Moves the window to a stored frame, and returns it. It is searched on `device`
  /// after what has been enqueued on `upload_queue`.
  ConstFrame centre_on(guint64 number);
  /// Returns the others in the window, as far as they are there and in the same scene, for the last
  /// centre_on().
  std::span<const ConstFrame> neighbours() const noexcept { return {neighbours_.data(), count_}; }

 private:
  static constexpr int max_frames = nlmeans::Parameters::Ranges::frames.max;
  /// One more than are searched: a frame arrives while the device still searches around the last
  /// centre.
  static constexpr int max_slots = max_frames + 1;

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
  std::optional<guint64> last_;  ///< the frame that was stored last, if the next continues it
  guint64 scene_ = 0;            ///< of that frame
  std::array<ConstFrame, max_frames> neighbours_;
  std::size_t count_ = 0;
};

}  // namespace cudavision
