// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Masks of a frame, and the distance of each pixel from the selected pixels.
//
// A mask is an image of w×h region ids. It covers the box [x0, x1) × [y0, y1), which may extend
// beyond the frame. A pixel (x, y) of the frame in this box maps to the nearest sample, in
//   column ((2(x − x0) + 1)·w) div (2(x1 − x0)) and row ((2(y − y0) + 1)·h) div (2(y1 − y0)).
// A pixel is selected if, in at least one mask, the id of the sample is in the set Mask::ids.
//
// A pixel's distance is the Chebyshev distance max(|Δx|, |Δy|) from the nearest selected pixel of
// the frame, or 255 if this distance exceeds the radius (at most 254).

#include <cstdint>
#include <optional>
#include <span>

#include "cuda/core/device.h"
#include "cuda/core/tableuploader.h"
#include "cuda/core/view.h"
#include "cuda/regions/regions.h"

namespace cudavision::regions {

struct Mask {
  /// The ids in the device's memory, as bytes or as little-endian words of two bytes. Rows may have
  /// any pitch and begin at any address.
  View<const std::uint8_t> rows;
  int sample_bytes = 1;  ///< 1 or 2
  Box box;               ///< not empty
  /// The set of ids to select: bit id % 32 of word id / 32. Has 8 or 2048 words in host memory,
  /// which are only read during the call.
  const std::uint32_t* ids = nullptr;
};

/// A mask whose ids the device can read.
struct MaskPlane {
  const std::uint8_t* samples;
  std::int64_t pitch;
  const std::uint32_t* ids;
  int width, height;
  int sample_bytes;
  Box box;
};

struct MaskWork {
  const MaskPlane* masks;
  int count;
  int radius;
  std::uint8_t* scratch;      ///< memory of the same size as the result
  View<std::uint8_t> result;  ///< the pitch and all row addresses are multiples of 32
};

/// Validates the masks of a frame, and uploads their planes and ids.
class MaskTable {
 public:
  explicit MaskTable(Device& device) : device_(device) {}

  /// Returns device memory, one plane for each mask, which the next call overwrites. Throws
  /// invalid_argument. Only enqueues, unless the ids need more memory than before.
  const MaskPlane* upload(std::span<const Mask> masks);

 private:
  Device& device_;
  std::optional<TableUploader> tables_;
  std::size_t table_words_ = 0;
};

/// Computes the distances for frames of one size.
class MaskDistances {
 public:
  /// Allocates. Throws out_of_memory.
  MaskDistances(Device& device, int width, int height);

  /// Computes the distances for a frame with at most Parameters::max_masks masks. Throws
  /// invalid_argument. Only enqueues, unless the ids need more memory than before.
  void run(std::span<const Mask> masks, int radius);

  /// The distances of the last frame in the device's memory, one byte for each pixel.
  View<const std::uint8_t> distances() const { return result_; }

 private:
  Device& device_;
  Buffer memory_;
  View<std::uint8_t> result_;
  MaskTable table_;
};

/// The implementations for both backends. masks.cpp has validated the arguments.
void find_mask_distances_cpu(Device& device, const MaskWork& work);
void find_mask_distances_cuda(Device& device, const MaskWork& work);

/// Returns the index of the sample to which pixel `offset` of `side` pixels maps, along one axis.
CUDAVISION_HOST_DEVICE inline int nearest_sample(int offset, int side, int samples) {
  const std::uint64_t at =
      (2 * static_cast<std::uint64_t>(offset) + 1) * static_cast<std::uint64_t>(samples);
  const std::uint64_t length = 2 * static_cast<std::uint64_t>(side);
  // GPUs divide 32-bit integers several times faster than 64-bit integers.
  if (at >> 32 == 0)
    return static_cast<int>(static_cast<std::uint32_t>(at) / static_cast<std::uint32_t>(length));
  return static_cast<int>(at / length);
}

/// Returns the row of samples to which row y of the frame maps. y must be in the mask's box.
CUDAVISION_HOST_DEVICE inline const std::uint8_t* mask_row(const MaskPlane& mask, int y) {
  const int row = nearest_sample(y - mask.box.y0, mask.box.y1 - mask.box.y0, mask.height);
  return mask.samples + row * mask.pitch;
}

/// Returns the column of samples to which column x of the frame maps. x must be in the mask's box.
CUDAVISION_HOST_DEVICE inline int mask_column(const MaskPlane& mask, int x) {
  return nearest_sample(x - mask.box.x0, mask.box.x1 - mask.box.x0, mask.width);
}

/// Returns true if the id of a sample of kBytes bytes is in the set of the mask.
template <int kBytes>
CUDAVISION_HOST_DEVICE inline bool has_selected_id(const MaskPlane& mask, const std::uint8_t* row,
                                                   int column) {
  const std::uint8_t* const sample = row + kBytes * column;
  const std::uint32_t high = kBytes == 1 ? 0 : sample[kBytes - 1];
  const std::uint32_t id = sample[0] | high << 8;
  return (mask.ids[id / 32] >> (id % 32) & 1) != 0;
}

/// Returns true if the mask selects the pixel in column x, which must be in the mask's box.
CUDAVISION_HOST_DEVICE inline bool selects(const MaskPlane& mask, const std::uint8_t* row, int x) {
  const int column = mask_column(mask, x);
  return mask.sample_bytes == 1 ? has_selected_id<1>(mask, row, column)
                                : has_selected_id<2>(mask, row, column);
}

}  // namespace cudavision::regions
