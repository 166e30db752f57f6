// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sharpens a map by the pictures. What a pixel contributes depends on its own number alone, so it
// is computed once, and then summed over neighbourhoods.

#include <algorithm>

#include "cuda/sgm/stages_cpu.h"
#include "cuda/sgm/surfaces/arithmetic.h"

namespace cudavision::sgm {
namespace {

/// The contributions of the pixels of three successive rows. Unknown pixels and the pixel beyond
/// each end of a row contribute nothing.
class ContributionRows {
 public:
  static constexpr int count = 3;

  static std::size_t bytes(int width) {
    return count * pitch(width) * 3 * sizeof(std::int16_t) + 2 * picture_pitch(width);
  }

  ContributionRows(const StageConfig& config, std::uint8_t* memory)
      : width_(config.width),
        height_(config.height),
        minimum_(config.minimum),
        known_(reinterpret_cast<std::int16_t*>(memory)),
        left_(memory + count * pitch(width_) * 3 * sizeof(std::int16_t)),
        right_(left_ + picture_pitch(width_)) {
    std::fill_n(known_, count * pitch(width_) * 3, std::int16_t{0});
  }

  /// Computes row y, which may lie outside the picture.
  void load(const SamplePlane& left_picture, const SamplePlane& right_picture,
            const std::uint16_t* map, int y) {
    std::int16_t* const known = this->known(y);
    if (y < 0 || y >= height_) {
      std::fill_n(known, width_, std::int16_t{0});
      std::fill_n(residuals(y), width_, std::int16_t{0});
      std::fill_n(gradients(y), width_, std::int16_t{0});
      return;
    }
    load_picture(left_picture, y, left_);
    load_picture(right_picture, y, right_);
    load_row(map + std::int64_t{y} * width_, known, residuals(y), gradients(y));
  }

  std::int16_t* known(int y) const { return known_ + place_of(y); }
  std::int16_t* residuals(int y) const { return known(y) + count * pitch(width_); }
  std::int16_t* gradients(int y) const { return known(y) + 2 * count * pitch(width_); }

 private:
  static std::size_t pitch(int width) { return static_cast<std::size_t>(width) + 2; }
  static std::size_t picture_pitch(int width) { return static_cast<std::size_t>(width) + 2; }
  std::size_t place_of(int y) const {
    return static_cast<std::size_t>((y + count) % count) * pitch(width_) + 1;
  }

  void load_picture(const SamplePlane& picture, int y, std::uint8_t* to) const {
    read_eight_bits(picture, y, to + 1);
    to[0] = to[1];
    to[width_ + 1] = to[width_];
  }

  void load_row(const std::uint16_t* map, std::int16_t* known, std::int16_t* residuals,
                std::int16_t* gradients) const {
    const std::uint8_t* const left = left_ + 1;
    const std::uint8_t* const right = right_ + 1;
    for (int x = 0; x < width_; ++x) {
      const int place = 16 * (x - minimum_) - map[x], fraction = place & 15;
      // Columns −1 and 0 show the same pixel, as do the last two.
      const int column = std::clamp(place >> 4, -1, width_ - 1);
      const int residual =
          16 * left[x] - (16 - fraction) * right[column] - fraction * right[column + 1];
      const bool is_known = map[x] != unknown;
      known[x] = is_known;
      residuals[x] = static_cast<std::int16_t>(is_known ? residual : 0);
      gradients[x] = static_cast<std::int16_t>(is_known ? 8 * (left[x + 1] - left[x - 1]) : 0);
    }
  }

  int width_, height_, minimum_;
  std::int16_t* known_;
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

SharpenCpu::SharpenCpu(Device& device, const StageConfig& config)
    : config_(config), bands_(config.height) {
  for (int band = 0; band < bands_.count(); ++band)
    scratch_.push_back(device.allocate(ContributionRows::bytes(config.width)));
}

void SharpenCpu::run(const SamplePlane& left_picture, const SamplePlane& right_picture,
                     const std::uint16_t* from, std::uint16_t* to) const {
  const int width = config_.width, top = 16 * (config_.disparities - 1);
  bands_.for_each([&](const Band& band) {
    ContributionRows rows(config_,
                          scratch_[static_cast<std::size_t>(band.number)].as<std::uint8_t>());
    rows.load(left_picture, right_picture, from, band.begin - 1);
    rows.load(left_picture, right_picture, from, band.begin);
    for (int y = band.begin; y < band.end; ++y) {
      rows.load(left_picture, right_picture, from, y + 1);
      const std::int16_t* const known[] = {rows.known(y - 1), rows.known(y), rows.known(y + 1)};
      const std::int16_t* const residuals[] = {rows.residuals(y - 1), rows.residuals(y),
                                               rows.residuals(y + 1)};
      const std::int16_t* const gradients[] = {rows.gradients(y - 1), rows.gradients(y),
                                               rows.gradients(y + 1)};
      sharpen_row(known, residuals, gradients, from + std::int64_t{y} * width, width, top,
                  to + std::int64_t{y} * width);
    }
  });
}

}  // namespace cudavision::sgm
