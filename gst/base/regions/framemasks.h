// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cuda/core/device.h"
#include "cuda/regions/masks.h"
#include "gst/base/regions/selectedmask.h"
#include "gst/memory/libgstcuda.h"
#include "gst/memory/mappedbuffer.h"
#include "gst/memory/streamorder.h"

namespace cudavision {

/// Transfers the masks of frames to the device. Masks in CUDA memory of the context are read in
/// place, as are all masks on the CPU device. Memory grows as necessary.
///
/// All calls, including the destructor, need the session's context.
class FrameMasks {
 public:
  FrameMasks(Device& device, const CudaContext& context)
      : device_(device), context_(context), order_(device) {}
  ~FrameMasks();
  FrameMasks(const FrameMasks&) = delete;
  FrameMasks& operator=(const FrameMasks&) = delete;

  /// What to do with a mask that cannot be mapped: throw ElementError, or continue without it.
  enum class Unreadable { refuse, skip };
  /// Enqueues work on masks in the device's memory.
  using Work = std::function<void(std::span<const regions::Mask> masks)>;

  /// Calls work() with a frame's masks. A mask without a picture, or a skipped mask, has no rows.
  void run(const std::vector<SelectedMask>& masks, Unreadable unreadable, const Work& work);

 private:
  /// A picture that one or more masks use.
  struct Picture {
    FrameFormat format;
    std::optional<MappedBuffer> mapped;  ///< reset when the picture is staged, or by wait()
    View<const std::uint8_t> rows;       ///< empty if the picture cannot be mapped
  };

  /// Memory for the masks of one frame. The device may still be reading it.
  struct Batch {
    Buffer staged;  ///< page-locked
    /// The first `count` are in use. Pictures must not move, because `mapped` refers to `format`.
    std::deque<Picture> pictures;
    std::size_t count = 0;
    std::unique_ptr<Event> passed;
    bool used = false;

    void wait();
  };

  Picture& map(Batch& batch, const SelectedMask& mask, Unreadable unreadable);
  void upload(Batch& batch);
  void reserve(Batch& batch, std::size_t bytes);

  Device& device_;
  const CudaContext context_;
  StreamOrder order_;
  std::array<Batch, 3> batches_;
  std::size_t current_ = 0;
  // Variables of run(). As members, they keep their memory.
  std::vector<const Picture*> pictures_;
  std::vector<regions::Mask> found_;
  Buffer uploaded_;  ///< device copies of masks that are not read in place
};

}  // namespace cudavision
