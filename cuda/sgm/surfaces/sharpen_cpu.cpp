// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sharpens a map on the CPU. Each pixel's contribution is computed once, before sums are built.

#include <algorithm>

#include "cuda/sgm/stages_cpu.h"
#include "cuda/sgm/surfaces/arithmetic.h"

namespace cudavision::sgm {
namespace {

/// Contributions of three rows. Unknown pixels, and one pixel beyond each row end, contribute 0.
class ContributionRows {
 public:
  static constexpr int count = 3;

  ContributionRows(Scratch& scratch, int width)
      : left_(scratch.take<std::uint8_t>(width, 1)), right_(scratch.take<std::uint8_t>(width, 1)) {
    for (auto* rows : {&known, &residuals, &gradients})
      for (std::int16_t*& row : *rows) {
        row = scratch.take<std::int16_t>(width, 1);
        if (row)
          row[-1] = row[width] = 0;
      }
  }

  /// Drops the first row and appends row y, which may be outside the picture.
  void load(const StageRows& rows, const Sharpen& stage, int y) {
    for (auto* each : {&known, &residuals, &gradients})
      std::rotate(*each, *each + 1, *each + count);
    const int width = rows.config.width;
    if (y < 0 || y >= rows.config.height) {
      for (auto* each : {&known, &residuals, &gradients})
        std::fill_n((*each)[count - 1], width, std::int16_t{0});
      return;
    }
    load_picture(stage.left_picture, y, left_);
    load_picture(stage.right_picture, y, right_);
    load_row(rows.row(stage.from, y), width, rows.config.minimum);
  }

  std::int16_t *known[count], *residuals[count], *gradients[count];

 private:
  static void load_picture(const SamplePlane& picture, int y, std::uint8_t* to) {
    read_eight_bits(picture, y, to);
    to[-1] = to[0];
    to[picture.width] = to[picture.width - 1];
  }

  void load_row(const std::uint16_t* map, int width, int minimum) const {
    constexpr int last = count - 1;
    for (int x = 0; x < width; ++x) {
      const int place = 16 * (x - minimum) - map[x], fraction = place & 15;
      // Columns −1 and width replicate the edge pixels.
      const int column = std::clamp(place >> 4, -1, width - 1);
      const int residual =
          16 * left_[x] - (16 - fraction) * right_[column] - fraction * right_[column + 1];
      const bool is_known = map[x] != unknown;
      known[last][x] = is_known;
      residuals[last][x] = static_cast<std::int16_t>(is_known ? residual : 0);
      gradients[last][x] =
          static_cast<std::int16_t>(is_known ? 8 * (left_[x + 1] - left_[x - 1]) : 0);
    }
  }

  std::uint8_t *left_, *right_;
};

CUDAVISION_TARGET_CLONES
void sharpen_row(const std::int16_t* const known[3], const std::int16_t* const residuals[3],
                 const std::int16_t* const gradients[3], const std::uint16_t* from, int width,
                 int top, std::uint16_t* __restrict to) {
  for (int x = 0; x < width; ++x) {
    SharpeningSums sums;
    for (int j = 0; j < 3; ++j)
      for (int i = -1; i <= 1; ++i) {
        const int e = residuals[j][x + i], g = gradients[j][x + i];
        sums.n += known[j][x + i];
        sums.e += e;
        sums.g += g;
        sums.eg += e * g;
        sums.gg += g * g;
      }
    const std::uint16_t number = sharpened(from[x], sums, top);
    to[x] = from[x] == unknown ? unknown : number;
  }
}

}  // namespace

std::size_t sharpen_scratch(const StageConfig& config) {
  return scratch_bytes<ContributionRows>(config.width);
}

void run_stage(const StageRows& rows, const Sharpen& stage) {
  const int width = rows.config.width, top = 16 * (rows.config.disparities - 1);
  rows.bands.for_each([&](Band& band) {
    ContributionRows window(band.scratch, width);
    window.load(rows, stage, band.begin - 1);
    window.load(rows, stage, band.begin);
    for (int y = band.begin; y < band.end; ++y) {
      window.load(rows, stage, y + 1);
      sharpen_row(window.known, window.residuals, window.gradients, rows.row(stage.from, y), width,
                  top, rows.row(stage.to, y));
    }
  });
}

}  // namespace cudavision::sgm
