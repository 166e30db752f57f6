// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/common/placement.h"

#include <algorithm>
#include <cstdlib>

namespace cudavision::test {
namespace {

// Guard bytes around each plane of a random placement, to detect writes just outside the plane.
constexpr std::size_t guard = 256;

std::size_t rounded_up(std::size_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

std::size_t plane_bytes(const PlaneShape& plane, std::ptrdiff_t pitch) {
  return static_cast<std::size_t>(std::abs(pitch)) * static_cast<std::size_t>(plane.rows);
}

/// Draws a log-uniform extent. One in three is rounded up to a multiple of 4, 8 … 1024, ±1.
int random_extent(Random& random, int largest) {
  int extent = random.log_uniform(largest);
  if (random.one_in(3)) {
    constexpr int steps[] = {4, 8, 16, 32, 64, 128, 256, 512, 1024};
    const int step = steps[random.between(0, 8)];
    extent = (extent + step - 1) / step * step + random.between(-1, 1);
  }
  return std::clamp(extent, 1, largest);
}

std::string describe_byte(const FrameLayout& layout, const Placement& placement, std::size_t byte) {
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneShape& shape = layout.planes[p];
    const auto [start, pitch] = placement.planes[p];
    for (int y = 0; y < shape.rows; ++y) {
      const std::ptrdiff_t x = static_cast<std::ptrdiff_t>(byte - start) - y * pitch;
      if (x >= 0 && x < shape.row_bytes)
        return "plane " + std::to_string(p) + ", row " + std::to_string(y) + ", byte " +
               std::to_string(x);
    }
  }
  return "outside the frame's rows, byte " + std::to_string(byte) + " of the block";
}

}  // namespace

std::pair<int, int> random_picture_size(Random& random, int max_pixels) {
  const int largest = std::min(max_pixels, random.one_in(10) ? 65535 : 4096);
  int width = random_extent(random, largest);
  int height = random_extent(random, std::max(1, std::min(largest, max_pixels / width)));
  if (random.one_in(2)) {
    height = random_extent(random, largest);
    width = random_extent(random, std::max(1, std::min(largest, max_pixels / height)));
  }
  return {width, height};
}

Placement dense_placement(const FrameLayout& layout) {
  Placement placement;
  for (int p = 0; p < layout.plane_count; ++p) {
    const std::ptrdiff_t pitch = layout.planes[p].row_bytes;
    placement.planes[p] = {placement.bytes, pitch};
    placement.bytes += rounded_up(plane_bytes(layout.planes[p], pitch), 256);
  }
  return placement;
}

Placement random_placement(const FrameLayout& layout, Random& random) {
  Placement placement;
  const bool upwards = random.one_in(8);
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneShape& plane = layout.planes[p];
    std::ptrdiff_t pitch = plane.row_bytes;
    switch (random.between(0, 4)) {
      case 0:
        break;
      case 1:
        pitch += random.between(1, 17);
        break;
      case 2:
        pitch = rounded_up(pitch, std::size_t{1} << random.between(2, 9));
        break;
      case 3:
        pitch = rounded_up(pitch, 4) + 4 * random.between(0, 20);
        break;
      default:
        pitch += random.between(0, 700);
    }
    placement.bytes = rounded_up(placement.bytes + guard, 256);
    placement.bytes += static_cast<std::size_t>(random.one_in(3) ? 0 : random.between(0, 15));
    std::size_t start = placement.bytes;
    placement.bytes += plane_bytes(plane, pitch);
    if (upwards) {
      start += static_cast<std::size_t>(pitch) * static_cast<std::size_t>(plane.rows - 1);
      pitch = -pitch;
    }
    placement.planes[p] = {start, pitch};
  }
  placement.bytes += guard;
  return placement;
}

std::string describe(const FrameLayout& layout, const Placement& placement) {
  std::string text;
  for (int p = 0; p < layout.plane_count; ++p)
    text += (p ? ", " : "") + std::string("plane ") + std::to_string(p) + " at " +
            std::to_string(placement.planes[p].start) + " (" +
            std::to_string(placement.planes[p].start % 16) + " mod 16) pitch " +
            std::to_string(placement.planes[p].pitch) + " for rows of " +
            std::to_string(layout.planes[p].row_bytes);
  return text;
}

std::string difference(const FrameLayout& layout, const Placement& placement,
                       const std::vector<std::uint8_t>& expected,
                       const std::vector<std::uint8_t>& actual) {
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin());
  if (e == expected.end())
    return {};
  return describe_byte(layout, placement, static_cast<std::size_t>(e - expected.begin())) +
         " must be " + std::to_string(*e) + " and is " + std::to_string(*a);
}

void add_rows(Hash& hash, const FrameLayout& layout, const Placement& placement,
              const std::vector<std::uint8_t>& block) {
  const ConstFrame frame = frame_in(layout, placement, block.data());
  for (int p = 0; p < layout.plane_count; ++p)
    for (int y = 0; y < layout.planes[p].rows; ++y)
      hash.add(frame.planes[p].row(y), static_cast<std::size_t>(layout.planes[p].row_bytes));
}

}  // namespace cudavision::test
