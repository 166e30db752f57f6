// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Winner takes all on the CPU: both maps in one pass over the sums. Column p − right_shift() of the
// right map has the sums (p + d, d), for all left columns x = p + d. So the sums of each x update
// the best sums of all p = x − d. The best sums are stored from right to left, in the order of the
// sums of x, so that the compiler vectorises the loop.

#include <algorithm>
#include <array>
#include <numeric>

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

constexpr std::uint16_t no_sum = 0xFFFF;

constexpr auto numbers = [] {
  std::array<std::uint16_t, Config::Ranges::disparities.max> numbers{};
  std::iota(numbers.begin(), numbers.end(), std::uint16_t{0});
  return numbers;
}();

struct RightBest {
  /// columns includes columns p < 0, which are in the map if the minimum disparity is negative.
  RightBest(Scratch& scratch, int columns)
      : sums(scratch.take<std::uint16_t>(columns)),
        disparities(scratch.take<std::uint16_t>(columns)) {}

  std::uint16_t* sums;
  std::uint16_t* disparities;
};

/// Returns the smallest sum, and updates the best sums of the right map. count is a multiple of 32.
[[gnu::always_inline]] inline std::uint16_t min_sum(const std::uint16_t* sums, int count,
                                                    std::uint16_t* __restrict right_sums,
                                                    std::uint16_t* __restrict right_disparities) {
  std::uint16_t minimum = no_sum;
  for (int d = 0; d < count; ++d) {
    const std::uint16_t sum = sums[d], right = right_sums[d];
    const auto better = mask_of<std::uint16_t>(sum < right);
    right_disparities[d] = static_cast<std::uint16_t>(
        (numbers[static_cast<std::size_t>(d)] & better) | (right_disparities[d] & ~better));
    right_sums[d] = std::min(sum, right);
    minimum = std::min(minimum, sum);
  }
  return minimum;
}

[[gnu::always_inline]] inline std::uint16_t first_with(const std::uint16_t* sums, int count,
                                                       std::uint16_t sum) {
  std::uint16_t first = no_sum;
  for (int d = 0; d < count; ++d)
    first = std::min<std::uint16_t>(
        first, numbers[static_cast<std::size_t>(d)] | mask_of<std::uint16_t>(sums[d] != sum));
  return first;
}

[[gnu::always_inline]] inline std::uint16_t second_sum(const std::uint16_t* sums, int count,
                                                       std::uint16_t best) {
  const auto before = static_cast<std::uint16_t>(best - 1);
  std::uint16_t minimum = no_sum;
  for (int d = 0; d < count; ++d) {
    const auto distance = static_cast<std::uint16_t>(numbers[static_cast<std::size_t>(d)] - before);
    minimum = std::min<std::uint16_t>(minimum, sums[d] | mask_of<std::uint16_t>(distance <= 2));
  }
  return minimum;
}

struct Rules {
  int disparities;
  float uniqueness;
  Subpixel subpixel;
  bool whole;  // true if map values are whole disparities
};

std::uint16_t number_of(const std::uint16_t* sums, int best, const Rules& rules) {
  if (rules.whole)
    return static_cast<std::uint16_t>(best);
  int number = 16 * best;
  if (best > 0 && best < rules.disparities - 1)
    number += offset_of(rules.subpixel, sums[best - 1], sums[best], sums[best + 1]);
  return static_cast<std::uint16_t>(number);
}

/// winners points to the row of the left map and the confidence. The right map is not used.
CUDAVISION_TARGET_CLONES
void select_row(const std::uint16_t* sums, int width, const Rules& rules, const RightBest& right,
                const WtaResult& winners) {
  const int count = rules.disparities & ~31;  // lets the compiler drop the loops' remainders
  for (int x = 0; x < width; ++x, sums += rules.disparities) {
    const int last = width - 1 - x;
    const std::uint16_t minimum = min_sum(sums, count, right.sums + last, right.disparities + last);
    const std::uint16_t best = first_with(sums, count, minimum);
    const std::uint16_t second = second_sum(sums, count, best);
    const bool known = is_unique(minimum, second, rules.uniqueness);
    winners.left[x] = known ? number_of(sums, best, rules) : unknown;
    if (winners.confidence)
      winners.confidence[x] = known ? confidence_of(minimum, second) : 0;
  }
}

/// Writes a row of the right map. found holds the disparities of columns p = width − 1 down to
/// −disparities + 1; column r of the map is p = r + shift.
void write_right(const std::uint16_t* found, int width, int disparities, int shift,
                 std::uint16_t* right) {
  const int begin = std::clamp(-disparities + 1 - shift, 0, width);
  const int end = std::clamp(width - shift, begin, width);
  std::fill(right, right + begin, unknown);
  for (int r = begin; r < end; ++r)
    right[r] = found[width - 1 - r - shift];
  std::fill(right + end, right + width, unknown);
}

}  // namespace

std::size_t winners_scratch(const StageConfig& config) {
  return scratch_bytes<RightBest>(config.width + config.disparities);
}

void select_cpu(const StageRows& rows, const std::uint16_t* sums, float uniqueness,
                Subpixel subpixel, const WtaResult& winners) {
  const StageConfig& config = rows.config;
  const int width = config.width, disparities = config.disparities;
  const Rules rules{disparities, uniqueness, subpixel,
                    config.libsgm() && subpixel == Subpixel::none};
  rows.bands.for_each([&](Band& band) {
    const RightBest right(band.scratch, width + disparities);
    for (int y = band.begin; y < band.end; ++y) {
      const std::int64_t first = std::int64_t{y} * width;
      const WtaResult row = winners.from_pixel(first);
      std::fill_n(right.sums, width + disparities, no_sum);
      select_row(sums + first * disparities, width, rules, right, row);
      write_right(right.disparities, width, disparities, config.right_shift(), row.right);
    }
  });
}

}  // namespace cudavision::sgm
