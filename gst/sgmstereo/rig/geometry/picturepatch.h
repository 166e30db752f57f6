// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/pixels/luminance.h"

/// Parts of pictures as PairInspector compares them, on the CPU.
namespace cudavision::rig {

/// Reads `count` levels of 8 bits of row y from column `first` on. The picture is replicated beyond
/// its edges.
void read_levels(const SamplePlane& picture, int y, int first, int count, std::uint8_t* out);

/// A picture in host memory, and the factor in 1/256 that gives it the contrast of the other one.
struct NormalizedPicture {
  const SamplePlane& picture;
  int gain;
};

/// A part of a picture, minus the mean of the 7×7 pixels around each pixel. 40 stands for no
/// difference from that mean, and all larger differences count as 40.
struct Patch {
  static constexpr int zero = 40;

  int x, y, width, height;  ///< its place in the picture
  std::vector<std::uint8_t> values;

  const std::uint8_t* at(int column, int row) const {
    return values.data() + static_cast<std::ptrdiff_t>(row - y) * width + (column - x);
  }
};

/// Takes patches, one after the other, without allocating for each of them.
class PatchReader {
 public:
  /// The factor 1, see take().
  static constexpr int unit_gain = 256;

  /// Returns that part of the rectangle of which the picture has pixels, valid until the next call.
  /// Differences are multiplied by gain/256.
  const Patch& take(const SamplePlane& picture, int gain, int x, int y, int width, int height);

 private:
  std::vector<std::uint8_t> rows_;      ///< of a patch with the pixels around it
  std::vector<std::uint16_t> columns_;  ///< sums of its columns
  Patch patch_;
};

}  // namespace cudavision::rig
