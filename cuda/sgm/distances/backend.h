// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface of the Distances backends, and the arithmetic that they share. Callers validate all
// arguments.

#include <cstdint>
#include <memory>
#include <span>

#include "cuda/core/division.h"
#include "cuda/sgm/distances/distances.h"

namespace cudavision::sgm {

/// Returns number − range.first. For unknown disparities, that is more than range.top.
CUDAVISION_HOST_DEVICE inline unsigned place_in(const NumberRange& range, std::uint16_t number) {
  return static_cast<std::uint16_t>(number - range.first);
}

/// Largest range.top + 1, rounded up.
inline constexpr int number_places = 1 << 14;

/// The samples of a box along one axis.
struct SampledAxis {
  int first = 0, step = 1, count = 0;

  /// Of the visible pixels [begin, end). count is 0 if there is none.
  static SampledAxis of(int begin, int end, int max_count) {
    if (begin >= end)
      return {};
    const int margin = (end - begin) / 4;
    const int pixels = end - begin - 2 * margin;
    const int step = divide_up(pixels, max_count);
    return {begin + margin, step, divide_up(pixels, step)};
  }
};

struct SampledBox {
  SampledAxis x, y;
};

CUDAVISION_HOST_DEVICE constexpr std::uint32_t percentile_rank(int percentile,
                                                               std::uint32_t known) {
  return (static_cast<std::uint32_t>(percentile) * known + 99) / 100;
}

class Distances::Backend {
 public:
  virtual ~Backend() = default;
  /// results is device memory.
  virtual void run(View<const std::uint8_t> disparity, std::span<const SampledBox> boxes,
                   const NumberRange& range, BoxDisparity* results) = 0;
};

std::unique_ptr<Distances::Backend> make_distances_cpu(Device& device);
std::unique_ptr<Distances::Backend> make_distances_cuda(Device& device);

}  // namespace cudavision::sgm
