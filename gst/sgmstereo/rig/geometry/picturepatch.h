// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/pixels/luminance.h"

/// Parts of pictures for PairInspector, on the CPU.
namespace cudavision::rig {

/// Reads `count` 8-bit levels of row y from column `first` on. Replicates the picture's edges.
void read_levels(const SamplePlane& picture, int y, int first, int count, std::uint8_t* out);

/// A picture in host memory, and the factor in 1/256 that gives it the other picture's contrast.
struct NormalizedPicture {
  const SamplePlane& picture;
  int gain;
};

/// A part of a picture, minus the mean of the 7×7 pixels around each pixel. 40 represents a
/// difference of 0, and differences are clipped to ±40.
struct Patch {
  static constexpr int zero = 40;

  int x, y, width, height;  ///< its place in the picture
  std::vector<std::uint8_t> values;

  const std::uint8_t* at(int column, int row) const {
    return values.data() + static_cast<std::ptrdiff_t>(row - y) * width + (column - x);
  }
};

class PatchReader {
 public:
  static constexpr int unit_gain = 256;

  /// Returns the rectangle's part inside the picture, valid until the next call.
  const Patch& take(const SamplePlane& picture, int gain, int x, int y, int width, int height);

 private:
  std::vector<std::uint8_t> rows_;      ///< of a patch with the pixels around it
  std::vector<std::uint16_t> columns_;  ///< sums of its columns
  Patch patch_;
};

}  // namespace cudavision::rig
