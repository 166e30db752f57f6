// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/pixels/samples.h"
#include "cuda/sgm/sgmstereo.h"

namespace cudavision::rig {

/// Returns scale.per_pixel times the disparity of a pixel, or nullopt if the disparity is unknown.
inline std::optional<int> counts_at(View<const std::uint8_t> map, int x, int y,
                                    const sgm::DisparityScale& scale) {
  const std::uint16_t sample = load16(map.row(y) + 2 * static_cast<std::ptrdiff_t>(x));
  if (sample == scale.invalid)
    return std::nullopt;
  return static_cast<std::int16_t>(sample);
}

/// Reads `count` 8-bit levels of row y from column `first` on. Outside, repeats edge pixels.
void read_levels(const SamplePlane& picture, int y, int first, int count, std::uint8_t* out);

/// A picture in host memory, and its gain relative to the other picture; see gain_for().
struct NormalizedPicture {
  const SamplePlane& picture;
  int gain;
};

/// A part of a picture: the difference of each pixel from the mean of 7×7 pixels around it, times
/// gain / 256, clipped to ±40 and stored with an offset of 40.
struct Patch {
  static constexpr int zero = 40;

  int x, y, width, height;  ///< position and size in the picture
  std::vector<std::uint8_t> values;

  const std::uint8_t* at(int column, int row) const {
    return values.data() + static_cast<std::ptrdiff_t>(row - y) * width + (column - x);
  }
};

class PatchReader {
 public:
  static constexpr int unit_gain = 256;

  /// Returns the part of the rectangle that is inside the picture, valid until the next call.
  const Patch& take(const SamplePlane& picture, int gain, int x, int y, int width, int height);

 private:
  std::vector<std::uint8_t> rows_;      ///< rows of the patch and of the pixels around it
  std::vector<std::uint16_t> columns_;  ///< column sums of 7 rows
  Patch patch_;
};

}  // namespace cudavision::rig
