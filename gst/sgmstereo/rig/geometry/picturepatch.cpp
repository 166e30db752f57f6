// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/geometry/picturepatch.h"

#include <algorithm>

#include "cuda/core/parallel.h"

namespace cudavision::rig {
namespace {

constexpr int mean_radius = 3;
constexpr int mean_width = 2 * mean_radius + 1;

using Byte = std::uint8_t;

Byte level(const SamplePlane& picture, const Byte* row, int x) {
  if (picture.bits == 8)
    return row[x];
  const int value = load16(row + 2 * static_cast<std::ptrdiff_t>(x)) >> picture.shift;
  return static_cast<Byte>(std::min(value, (1 << picture.bits) - 1) >> (picture.bits - 8));
}

CUDAVISION_TARGET_CLONES
void move_sums(const Byte* added, const Byte* removed, int width, std::uint16_t* sums) {
  for (int x = 0; x < width; ++x)
    sums[x] = static_cast<std::uint16_t>(sums[x] + added[x] - removed[x]);
}

CUDAVISION_TARGET_CLONES
void subtract_means(const Byte* centre, const std::uint16_t* columns, int width, Byte* out) {
  for (int x = 0; x < width; ++x) {
    std::uint16_t sum = mean_width * mean_width / 2;
    for (int i = 0; i < mean_width; ++i)
      sum = static_cast<std::uint16_t>(sum + columns[x + i]);
    const int difference = centre[x] - sum / (mean_width * mean_width);
    out[x] = static_cast<Byte>(std::clamp(difference, -Patch::zero, Patch::zero) + Patch::zero);
  }
}

/// Subtracts the local mean from each pixel, and multiplies the difference by gain/256.
CUDAVISION_TARGET_CLONES
void subtract_means(const Byte* centre, const std::uint16_t* columns, int width, int gain,
                    Byte* out) {
  constexpr int area = mean_width * mean_width;
  for (int x = 0; x < width; ++x) {
    int sum = 0;
    for (int i = 0; i < mean_width; ++i)
      sum += columns[x + i];
    const int difference = (area * centre[x] - sum) * gain / (area * PatchReader::unit_gain);
    out[x] = static_cast<Byte>(std::clamp(difference, -Patch::zero, Patch::zero) + Patch::zero);
  }
}

}  // namespace

void read_levels(const SamplePlane& picture, int y, int first, int count, Byte* out) {
  const Byte* row = picture.rows.row(std::clamp(y, 0, picture.height() - 1));
  const int before = std::clamp(-first, 0, count);
  const int end = std::clamp(picture.width - first, before, count);
  std::fill_n(out, before, level(picture, row, 0));
  if (picture.bits == 8)
    std::copy(row + first + before, row + first + end, out + before);
  else
    for (int i = before; i < end; ++i)
      out[i] = level(picture, row, first + i);
  std::fill(out + end, out + count, level(picture, row, picture.width - 1));
}

const Patch& PatchReader::take(const SamplePlane& picture, int gain, int x, int y, int width,
                               int height) {
  patch_.x = std::max(x, 0);
  patch_.y = std::max(y, 0);
  patch_.width = std::max(std::min(x + width, picture.width) - patch_.x, 0);
  patch_.height = std::max(std::min(y + height, picture.height()) - patch_.y, 0);
  patch_.values.resize(static_cast<std::size_t>(patch_.width) *
                       static_cast<std::size_t>(patch_.height));
  const int wide = patch_.width + 2 * mean_radius, high = patch_.height + 2 * mean_radius;
  // An additional row of zeros is subtracted from the first sums.
  rows_.assign(static_cast<std::size_t>(wide) * static_cast<std::size_t>(high + 1), 0);
  columns_.assign(static_cast<std::size_t>(wide), 0);
  const auto row = [&](int number) {
    return rows_.data() + static_cast<std::ptrdiff_t>(number) * wide;
  };
  for (int j = 0; j < high; ++j) {
    read_levels(picture, patch_.y - mean_radius + j, patch_.x - mean_radius, wide, row(j));
    move_sums(row(j), row(j < mean_width ? high : j - mean_width), wide, columns_.data());
    const int out = j - 2 * mean_radius;
    if (out < 0)
      continue;
    const Byte* const centre = row(out + mean_radius) + mean_radius;
    Byte* const values = patch_.values.data() + static_cast<std::ptrdiff_t>(out) * patch_.width;
    if (gain == unit_gain)
      subtract_means(centre, columns_.data(), patch_.width, values);
    else
      subtract_means(centre, columns_.data(), patch_.width, gain, values);
  }
  return patch_;
}

}  // namespace cudavision::rig
