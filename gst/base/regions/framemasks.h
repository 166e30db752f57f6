// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/core/device.h"
#include "cuda/regions/masks.h"
#include "gst/core/scoped.h"
#include "gst/core/videoformat.h"
#include "gst/memory/libgstcuda.h"
#include "gst/memory/mappedbuffer.h"
#include "gst/memory/streamorder.h"

namespace cudavision {

/// A mask whose region ids partly count.
struct SelectedMask {
  OwnedBuffer picture;
  FrameFormat format;  ///< of the picture: GRAY8 or GRAY16_LE
  regions::Box box;
  std::vector<std::uint32_t> ids;  ///< as in regions::Mask
  bool known = false;              ///< the mask names an id that counts
  int side = 0;                    ///< shorter side of the largest object that it covers

  SelectedMask copy() const;
};

/// Brings the masks of frames to the device, and finds the distances from them. Masks in CUDA
/// memory of the context are read in place. Later masks need no more memory than the largest that
/// came before.
///
/// All calls, the destructor included, are made in the session's context.
class FrameMasks {
 public:
  FrameMasks(Device& device, const CudaContext& context, int width, int height)
      : device_(device), context_(context), order_(device), distances_(device, width, height) {}
  ~FrameMasks();
  FrameMasks(const FrameMasks&) = delete;
  FrameMasks& operator=(const FrameMasks&) = delete;

  /// Enqueues the work. The distances stay until the next call. Throws ElementError if a mask
  /// cannot be mapped.
  View<const std::uint8_t> find(const std::vector<SelectedMask>& masks, int radius);

 private:
  /// Memory of the masks of one frame, which the device may still be reading.
  struct Batch {
    Buffer staged;  ///< page-locked
    std::array<std::optional<MappedBuffer>, regions::Parameters::max_masks> in_place;
    std::array<FrameFormat, regions::Parameters::max_masks> formats;  ///< of in_place
    std::unique_ptr<Event> passed;
    bool used = false;

    void wait();
  };

  using Masks = std::array<regions::Mask, regions::Parameters::max_masks>;

  Batch& next_batch();
  void bring(Batch& batch, const std::vector<SelectedMask>& masks, Masks& found);
  void reserve(Batch& batch, std::size_t bytes);

  Device& device_;
  const CudaContext context_;
  StreamOrder order_;
  regions::MaskDistances distances_;
  std::array<Batch, 3> batches_;
  std::size_t current_ = 0;
  Buffer uploaded_;  ///< of masks in host memory
};

}  // namespace cudavision
