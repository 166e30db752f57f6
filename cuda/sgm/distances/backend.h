// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface of the Distances backends, and their arithmetic. Callers validate all arguments.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "cuda/core/division.h"
#include "cuda/sgm/distances/distances.h"

namespace cudavision::sgm {

/// Returns the offset of a map value from range.first. For unknown pixels, it exceeds range.top.
CUDAVISION_HOST_DEVICE inline unsigned offset_in(const ValueRange& range, std::uint16_t number) {
  return static_cast<std::uint16_t>(number - range.first);
}

/// The largest possible range.top + 1, rounded up to a power of two.
inline constexpr int max_offsets = 1 << 14;

/// The samples of a box along one axis, in 16 bits because kernel arguments are limited to 4 KB.
struct SampledAxis {
  std::uint16_t first = 0, step = 1, count = 0;

  /// Samples the pixels [begin, end). The interval must not be empty.
  static SampledAxis of(int begin, int end, int max_count) {
    const int step = divide_up(end - begin, max_count);
    return {static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(step),
            static_cast<std::uint16_t>(divide_up(end - begin, step))};
  }

  /// Returns the samples that are in [begin, end).
  SampledAxis within(int begin, int end) const {
    const int skipped = divide_up(std::max(begin - first, 0), step);
    const int stop = std::min<int>(count, divide_up(std::max(end - first, 0), step));
    if (stop <= skipped)
      return {};
    return {static_cast<std::uint16_t>(first + skipped * step), step,
            static_cast<std::uint16_t>(stop - skipped)};
  }
};

struct SampledBox {
  SampledAxis x, y;
};

struct MeasuredBox {
  SampledBox inner;
  /// Samples of the visible box, which the mask may select. If the mask refers to the pixels of the
  /// map, samples outside of the mask's box are left out.
  SampledBox masked;
  std::int16_t mask = -1;  ///< index into BoxMasks::planes; −1: no mask
};

struct BoxMasks {
  const regions::MaskPlane* planes;  ///< device memory
  remap::MapView rectifying;
};

/// Returns true if the mask selects pixel (x, y) of the disparity map.
CUDAVISION_HOST_DEVICE inline bool selects(const regions::MaskPlane& mask,
                                           const remap::MapView& rectifying, int x, int y) {
  if (rectifying && !rectifying.nearest(x, y, x, y))
    return false;
  const regions::Box& box = mask.box;
  return x >= box.x0 && x < box.x1 && y >= box.y0 && y < box.y1 &&
         regions::selects(mask, regions::mask_row(mask, y), x);
}

CUDAVISION_HOST_DEVICE constexpr std::uint32_t percentile_rank(int percentile,
                                                               std::uint32_t known) {
  return (static_cast<std::uint32_t>(percentile) * known + 99) / 100;
}

class Distances::Backend {
 public:
  virtual ~Backend() = default;
  /// results points to page-locked memory. On CUDA, the kernel writes to it directly, because a
  /// download would take longer than the kernel.
  virtual void run(View<const std::uint8_t> disparity, std::span<const MeasuredBox> boxes,
                   const BoxMasks& masks, const ValueRange& range, BoxDisparity* results) = 0;
};

std::unique_ptr<Distances::Backend> make_distances_cpu(Device& device);
std::unique_ptr<Distances::Backend> make_distances_cuda(Device& device);

}  // namespace cudavision::sgm
