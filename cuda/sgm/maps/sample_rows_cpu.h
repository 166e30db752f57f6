// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {

constexpr std::int16_t no_number = 0x7fff;
constexpr int lanes = 32;  // pixels processed at once

/// Five rows of a map and of the luminance, `step` rows apart, around the current row. Rows are
/// padded, so that samples up to two steps away need no bounds check.
class SampleRows {
 public:
  static constexpr int count = 5, middle = count / 2;

  SampleRows(Scratch& scratch, int width, int step) : step_(step) {
    const int padded = round_up(width, lanes), margin = middle * step;
    for (int i = 0; i < count; ++i) {
      numbers_[i] = scratch.take<std::int16_t>(padded, margin);
      luminances_[i] = scratch.take<std::uint8_t>(padded, margin);
      if (numbers_[i] == nullptr)
        continue;
      std::fill_n(numbers_[i] - margin, padded + 2 * margin, no_number);
      std::fill_n(luminances_[i] - margin, padded + 2 * margin, std::uint8_t{0});
    }
  }

  void load(const StageRows& rows, const std::uint16_t* map, const SamplePlane* picture, int y) {
    const int width = rows.config.width;
    for (int i = 0; i < count; ++i) {
      const int from = y + step_ * (i - middle);
      if (from < 0 || from >= rows.config.height) {
        std::fill_n(numbers_[i], width, no_number);
        continue;
      }
      const std::uint16_t* const row = rows.row(map, from);
      for (int x = 0; x < width; ++x)
        numbers_[i][x] = row[x] == unknown ? no_number : static_cast<std::int16_t>(row[x]);
      if (picture)
        read_eight_bits(*picture, from, luminances_[i]);
    }
  }

  int step() const { return step_; }
  const std::int16_t* numbers(int row) const { return numbers_[row]; }
  const std::uint8_t* luminances(int row) const { return luminances_[row]; }

 private:
  int step_;
  std::int16_t* numbers_[count];
  std::uint8_t* luminances_[count];
};

template <class Function>
void for_samples(const StageRows& rows, const std::uint16_t* map, const SamplePlane* picture,
                 int step, const Function& function) {
  rows.bands.for_each([&](Band& band) {
    SampleRows samples(band.scratch, rows.config.width, step);
    for (int y = band.begin; y < band.end; ++y) {
      samples.load(rows, map, picture, y);
      function(samples, y);
    }
  });
}

/// Returns 64 >> (difference >> 3), as a sum of comparisons, which vectorises well.
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
