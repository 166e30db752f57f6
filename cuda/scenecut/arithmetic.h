// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The areas of a frame and their comparison, shared by both backends.

#include <algorithm>
#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision::scenecut {

constexpr int max_areas_along = 16, min_area_side = 8, max_area_rows = 16;
constexpr int max_areas = max_areas_along * max_areas_along;

struct Parts {
  int size = 0, count = 0;

  Parts() = default;
  explicit Parts(int whole)
      : size(whole), count(std::clamp(whole / min_area_side, 1, max_areas_along)) {}

  CUDAVISION_HOST_DEVICE int begin(int part) const { return part * size / count; }
  CUDAVISION_HOST_DEVICE int size_of(int part) const { return begin(part + 1) - begin(part); }
};

CUDAVISION_HOST_DEVICE inline int sampled_rows(int rows) {
  return rows < max_area_rows ? rows : max_area_rows;
}
CUDAVISION_HOST_DEVICE inline int sampled_row(int number, int first, int rows) {
  return first + (2 * number + 1) * rows / (2 * sampled_rows(rows));
}

/// Mean m of an area (scenecut.h). `sum` fits into 32 bits, as an area has at most 4096 columns.
CUDAVISION_HOST_DEVICE inline std::uint32_t mean_of(std::uint32_t sum, int samples, int bits) {
  return static_cast<std::uint32_t>(std::uint64_t{16} * sum /
                                    (static_cast<std::uint64_t>(samples) << (bits - 8)));
}

/// A value of an area in the current and the previous frame, or the sums of a value over all areas.
struct AreaPair {
  std::uint32_t now = 0, before = 0;
};

/// |E − E'| and |E| + |E'| (scenecut.h) of an area, or their sums over all areas.
struct Comparison {
  std::uint32_t difference = 0, structure = 0;
};
CUDAVISION_HOST_DEVICE inline Comparison compared(const AreaPair& means, const AreaPair& sums,
                                                  int areas) {
  const auto magnitude = [](int number) {
    return static_cast<std::uint32_t>(number < 0 ? -number : number);
  };
  const int now = areas * static_cast<int>(means.now) - static_cast<int>(sums.now);
  const int before = areas * static_cast<int>(means.before) - static_cast<int>(sums.before);
  return {magnitude(now - before), magnitude(now) + magnitude(before)};
}

CUDAVISION_HOST_DEVICE inline std::uint32_t change_of(const Comparison& all, int areas) {
  constexpr std::uint32_t min_difference = 10 * 16;  // 10 levels, in sixteenths
  if (all.difference <= min_difference * static_cast<std::uint32_t>(areas * areas))
    return 0;
  return static_cast<std::uint32_t>(std::uint64_t{2 * 65536} * all.difference /
                                    (std::uint64_t{3} * all.structure));
}

}  // namespace cudavision::scenecut
