// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The rows of samples around a row, which refine, write_confidence, keep_confident and smooth read
// on the CPU.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {

/// Marks unknown numbers in the copied rows. As a signed number it is larger than all others.
constexpr std::int16_t no_number = 0x7fff;

constexpr int lanes = 32;  // pixels at once

/// Five rows of a map and, if needed, of the luminance, `step` rows apart, the middle one of which
/// is worked on. They have room at both ends, so that samples up to two steps away need no bounds
/// checks.
class SampleRows {
 public:
  static constexpr int count = 5, middle = count / 2;

  static std::size_t bytes(int width, int step) {
    return count * pitch(width, step) * (sizeof(std::int16_t) + 1);
  }

  SampleRows(int width, int height, int step, std::uint8_t* memory)
      : width_(width),
        height_(height),
        step_(step),
        pitch_(pitch(width, step)),
        numbers_(reinterpret_cast<std::int16_t*>(memory)),
        luminances_(reinterpret_cast<std::uint8_t*>(numbers_ + count * pitch_)) {
    std::fill_n(numbers_, count * pitch_, no_number);
    std::fill_n(luminances_, count * pitch_, std::uint8_t{0});
  }

  /// Loads the rows around row y. picture may be null.
  void load(const std::uint16_t* map, const SamplePlane* picture, int y) {
    for (int i = 0; i < count; ++i) {
      const int from = y + step_ * (i - middle);
      std::int16_t* const to = numbers_ + place_of(i);
      if (from < 0 || from >= height_) {
        std::fill_n(to, width_, no_number);
        continue;
      }
      const std::uint16_t* const row = map + std::int64_t{from} * width_;
      for (int x = 0; x < width_; ++x)
        to[x] = row[x] == unknown ? no_number : static_cast<std::int16_t>(row[x]);
      if (picture)
        read_eight_bits(*picture, from, luminances_ + place_of(i));
    }
  }

  int step() const { return step_; }
  const std::int16_t* numbers(int row) const { return numbers_ + place_of(row); }
  const std::uint8_t* luminances(int row) const { return luminances_ + place_of(row); }

 private:
  static std::size_t pitch(int width, int step) {
    return (static_cast<std::size_t>(width) + lanes - 1) / lanes * lanes + 2 * margin(step);
  }
  static std::size_t margin(int step) { return static_cast<std::size_t>(middle * step); }
  std::size_t place_of(int row) const {
    return static_cast<std::size_t>(row) * pitch_ + margin(step_);
  }

  int width_, height_, step_;
  std::size_t pitch_;
  std::int16_t* numbers_;
  std::uint8_t* luminances_;
};

/// Returns 64 >> (difference >> 3) for a difference of luminances, as a sum of comparisons, which
/// vectorises well.
[[gnu::always_inline]] inline std::uint8_t weight_of(std::uint8_t difference) {
  return static_cast<std::uint8_t>((difference < 8 ? 32 : 0) + (difference < 16 ? 16 : 0) +
                                   (difference < 24 ? 8 : 0) + (difference < 32 ? 4 : 0) +
                                   (difference < 40 ? 2 : 0) + (difference < 48 ? 1 : 0) +
                                   (difference < 56 ? 1 : 0));
}

[[gnu::always_inline]] inline std::uint8_t difference_of(std::uint8_t a, std::uint8_t b) {
  return static_cast<std::uint8_t>(a < b ? b - a : a - b);
}

}  // namespace cudavision::sgm
