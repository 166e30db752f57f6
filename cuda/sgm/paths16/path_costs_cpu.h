// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// One step along paths: computes a pixel's path costs from the previous pixel's costs.

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cudavision::sgm {

/// Path costs of some pixels, one byte per disparity. Bytes between pixels and at both ends are
/// 255, which no cost exceeds, so d ± 1 needs no bounds check.
class PathCosts {
 public:
  static constexpr std::size_t pad = 32;

  static std::size_t bytes(int pixels, int disparities) {
    return static_cast<std::size_t>(pixels) * pitch(disparities) + pad;
  }

  PathCosts() = default;
  PathCosts(std::uint8_t* memory, int pixels, int disparities)
      : costs_(memory + pad), disparities_(disparities) {
    std::memset(memory, 0xff, bytes(pixels, disparities));
    for (int pixel = 0; pixel < pixels; ++pixel)
      start(pixel);
  }

  std::uint8_t* of(int pixel) const {
    return costs_ + static_cast<std::size_t>(pixel) * pitch(disparities_);
  }

  /// Sets a pixel's costs to 0, as outside the picture. The next pixel then has L = C.
  void start(int pixel) const { std::memset(of(pixel), 0, static_cast<std::size_t>(disparities_)); }

 private:
  static std::size_t pitch(int disparities) { return static_cast<std::size_t>(disparities) + pad; }

  std::uint8_t* costs_ = nullptr;
  int disparities_ = 0;
};

struct PathStep {
  const std::uint8_t* before;  ///< costs of the previous pixel
  std::uint8_t* costs;         ///< receives the costs of this pixel
  std::uint8_t minimum;        ///< smallest cost of the previous pixel, then of this pixel
  std::uint8_t p2;
};

/// Returns a path cost. lower, same and higher are the costs L' of the previous pixel at d − 1, d
/// and d + 1, and minimum is their minimum m over all d. bound is m + P2 − P1. Bytes suffice,
/// because m ≤ feature bits and L' ≤ feature bits + P2.
[[gnu::always_inline]] inline std::uint8_t path_cost(std::uint8_t matching, std::uint8_t lower,
                                                     std::uint8_t same, std::uint8_t higher,
                                                     std::uint8_t minimum, std::uint8_t bound,
                                                     std::uint8_t p1) {
  const auto other = static_cast<std::uint8_t>(std::min(std::min(lower, higher), bound) + p1);
  return static_cast<std::uint8_t>(matching +
                                   static_cast<std::uint8_t>(std::min(same, other) - minimum));
}

/// Takes one step of a path. Writes the path costs to `sums` if `first`, and adds them otherwise.
template <bool first>
[[gnu::always_inline]] inline void advance(const std::uint8_t* matching, int disparities,
                                           std::uint8_t p1, PathStep& path, std::uint16_t* sums) {
  const int count = disparities & ~31;  // lets the compiler drop the loop's remainder
  const std::uint8_t* const before = path.before;
  std::uint8_t* const costs = path.costs;
  const std::uint8_t minimum = path.minimum;
  const auto bound = static_cast<std::uint8_t>(minimum + path.p2 - p1);
  std::uint8_t next = 0xff;
#pragma GCC ivdep
  for (int d = 0; d < count; ++d) {
    const std::uint8_t cost =
        path_cost(matching[d], before[d - 1], before[d], before[d + 1], minimum, bound, p1);
    costs[d] = cost;
    next = std::min(next, cost);
    sums[d] = static_cast<std::uint16_t>(first ? cost : sums[d] + cost);
  }
  path.minimum = next;
}

[[gnu::always_inline]] inline void advance(const std::uint8_t* matching, int disparities,
                                           std::uint8_t p1, PathStep (&paths)[3],
                                           std::uint16_t* sums) {
  const int count = disparities & ~31;
  const std::uint8_t* const before0 = paths[0].before;
  const std::uint8_t* const before1 = paths[1].before;
  const std::uint8_t* const before2 = paths[2].before;
  std::uint8_t* const costs0 = paths[0].costs;
  std::uint8_t* const costs1 = paths[1].costs;
  std::uint8_t* const costs2 = paths[2].costs;
  const std::uint8_t least0 = paths[0].minimum, least1 = paths[1].minimum,
                     least2 = paths[2].minimum;
  const auto bound0 = static_cast<std::uint8_t>(least0 + paths[0].p2 - p1);
  const auto bound1 = static_cast<std::uint8_t>(least1 + paths[1].p2 - p1);
  const auto bound2 = static_cast<std::uint8_t>(least2 + paths[2].p2 - p1);
  std::uint8_t next0 = 0xff, next1 = 0xff, next2 = 0xff;
#pragma GCC ivdep
  for (int d = 0; d < count; ++d) {
    const std::uint8_t cost0 =
        path_cost(matching[d], before0[d - 1], before0[d], before0[d + 1], least0, bound0, p1);
    const std::uint8_t cost1 =
        path_cost(matching[d], before1[d - 1], before1[d], before1[d + 1], least1, bound1, p1);
    const std::uint8_t cost2 =
        path_cost(matching[d], before2[d - 1], before2[d], before2[d + 1], least2, bound2, p1);
    costs0[d] = cost0;
    costs1[d] = cost1;
    costs2[d] = cost2;
    next0 = std::min(next0, cost0);
    next1 = std::min(next1, cost1);
    next2 = std::min(next2, cost2);
    sums[d] = static_cast<std::uint16_t>(sums[d] + cost0 + cost1 + cost2);
  }
  paths[0].minimum = next0;
  paths[1].minimum = next1;
  paths[2].minimum = next2;
}

}  // namespace cudavision::sgm
