// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Both maps from one look at the sums. Those of a pixel of the right picture lie on a diagonal, one
// with each of the pixels x = p + d of the left: as x goes along its row, the sums of each x are
// held against the best so far of all the p that it may belong to. These are kept from right to
// left, so that they lie in the order of the sums.

#include <algorithm>
#include <array>

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

constexpr int most_disparities = 1024;
constexpr std::uint16_t no_sum = 0xFFFF;

constexpr std::array<std::uint16_t, most_disparities> count_up() {
  std::array<std::uint16_t, most_disparities> numbers{};
  for (int i = 0; i < most_disparities; ++i)
    numbers[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(i);
  return numbers;
}
constexpr auto numbers = count_up();

/// The least sums of the pixels of the right map, and their disparities.
struct RightBest {
  std::uint16_t* sums;
  std::uint16_t* disparities;
};

/// The least of a pixel's sums, which the right map gets to know of. count: a multiple of 32.
[[gnu::always_inline]] inline std::uint16_t least_sum(const std::uint16_t* sums, int count,
                                                      std::uint16_t* __restrict right_sums,
                                                      std::uint16_t* __restrict right_disparities) {
  std::uint16_t least = no_sum;
  for (int d = 0; d < count; ++d) {
    const std::uint16_t sum = sums[d], right = right_sums[d];
    right_disparities[d] =
        sum < right ? numbers[static_cast<std::size_t>(d)] : right_disparities[d];
    right_sums[d] = std::min(sum, right);
    least = std::min(least, sum);
  }
  return least;
}

/// The first disparity with that sum.
[[gnu::always_inline]] inline std::uint16_t first_with(const std::uint16_t* sums, int count,
                                                       std::uint16_t sum) {
  std::uint16_t first = no_sum;
  for (int d = 0; d < count; ++d)
    first = std::min<std::uint16_t>(first,
                                    sums[d] == sum ? numbers[static_cast<std::size_t>(d)] : no_sum);
  return first;
}

/// The least sum of the disparities that are more than one away from the best.
[[gnu::always_inline]] inline std::uint16_t second_sum(const std::uint16_t* sums, int count,
                                                       std::uint16_t best) {
  const auto before = static_cast<std::uint16_t>(best - 1);
  std::uint16_t least = no_sum;
  for (int d = 0; d < count; ++d) {
    const auto distance = static_cast<std::uint16_t>(numbers[static_cast<std::size_t>(d)] - before);
    least = std::min(least, distance <= 2 ? no_sum : sums[d]);
  }
  return least;
}

struct Rules {
  int disparities;
  float uniqueness;
  bool subpixel, libsgm;
};

std::uint16_t number_of(const std::uint16_t* sums, int best, const Rules& rules) {
  if (rules.libsgm && !rules.subpixel)
    return static_cast<std::uint16_t>(best);
  int number = 16 * best;
  if (rules.subpixel && best > 0 && best < rules.disparities - 1) {
    const int l = sums[best - 1], c = sums[best], r = sums[best + 1];
    number += rules.libsgm ? libsgm_subpixel_offset(l, c, r) : subpixel_offset(l, c, r);
  }
  return static_cast<std::uint16_t>(number);
}

/// winners: of the row, without the right map.
CUDAVISION_TARGET_CLONES
void select_row(const std::uint16_t* sums, int width, const Rules& rules, const RightBest& right,
                const Stages::Winners& winners) {
  const int count = rules.disparities & ~31;  // tells the compiler that nothing is left over
  for (int x = 0; x < width; ++x, sums += rules.disparities) {
    const int last = width - 1 - x;
    const std::uint16_t least = least_sum(sums, count, right.sums + last, right.disparities + last);
    const std::uint16_t best = first_with(sums, count, least);
    const std::uint16_t second = second_sum(sums, count, best);
    const bool known = is_unique(least, second, rules.uniqueness);
    winners.left[x] = known ? number_of(sums, best, rules) : unknown;
    if (winners.confidence)
      winners.confidence[x] = known ? confidence_of(least, second) : 0;
  }
}

}  // namespace

SelectCpu::SelectCpu(Device& device, const Config& config)
    : config_(config), bands_(config.height) {
  for (int band = 0; band < bands_.count(); ++band)
    scratch_.push_back(device.allocate(
        2 * sizeof(std::uint16_t) *
        (static_cast<std::size_t>(config.width) + static_cast<std::size_t>(config.disparities))));
}

void SelectCpu::run(const std::uint16_t* sums, float uniqueness, bool subpixel,
                    const Stages::Winners& winners) const {
  const int width = config_.width, disparities = config_.disparities;
  const Rules rules{disparities, uniqueness, subpixel,
                    config_.compatibility == Parameters::Compatibility::libsgm};
  bands_.for_each([&](const Band& band) {
    auto* const memory = scratch_[static_cast<std::size_t>(band.number)].as<std::uint16_t>();
    // Pixels that would lie left of the right picture have places, too, which nobody looks at.
    const RightBest right{memory, memory + width + disparities};
    for (int y = band.begin; y < band.end; ++y) {
      const std::int64_t first = std::int64_t{y} * width;
      std::fill_n(right.sums, width + disparities, no_sum);
      select_row(sums + first * disparities, width, rules, right,
                 {winners.left + first, nullptr,
                  winners.confidence ? winners.confidence + first : nullptr});
      std::reverse_copy(right.disparities, right.disparities + width, winners.right + first);
    }
  });
}

}  // namespace cudavision::sgm
