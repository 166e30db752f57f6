// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: reads samples of a picture at any pitch and alignment.

#include <cstdint>

#include "cuda/pixels/luminance.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::sgm {

struct Samples {
  const std::uint8_t* data = nullptr;
  std::int64_t pitch = 0;
  int width = 0, height = 0;
  int bytes = 1;  ///< bytes per sample
  int shift = 0;
  std::uint32_t largest = 255;

  Samples() = default;
  explicit Samples(const SamplePlane& plane)
      : data(plane.rows.data),
        pitch(plane.rows.pitch),
        width(plane.width),
        height(plane.height()),
        bytes(plane.bits > 8 ? 2 : 1),
        shift(plane.shift),
        largest((1u << plane.bits) - 1) {}

  /// Returns true if four samples can be loaded at once, from columns that are multiples of 4.
  bool has_words_of_four() const {
    return (reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(pitch)) %
               (4 * static_cast<unsigned>(bytes)) ==
           0;
  }

  CUDAVISION_HOST_DEVICE std::uint32_t at(int x, int y) const {
    const std::uint8_t* from = data + pitch * y + static_cast<std::int64_t>(bytes) * x;
    if (bytes == 1)
      return *from;
    return sample_value(from[0] | static_cast<std::uint32_t>(from[1]) << 8, shift, largest);
  }
  CUDAVISION_HOST_DEVICE std::uint32_t at_or_edge(int x, int y) const {
    return at(clamped(x, width), clamped(y, height));
  }

 private:
  CUDAVISION_HOST_DEVICE static int clamped(int index, int count) {
    return index < 0 ? 0 : index < count ? index : count - 1;
  }
};

}  // namespace cudavision::sgm
