// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/noise/noise_definition.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

struct Blocks {
  std::vector<std::int64_t> near, far, spreads;
};

std::int64_t quietest_of(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 50];
}

/// Sorts sums into 1024 bins of width 16. Returns the squared centre of the 2 % quantile's bin.
std::int64_t square_of_quietest(const std::vector<std::int64_t>& sums) {
  const std::int64_t middle = std::min<std::int64_t>(1023, quietest_of(sums) / 16) * 16 + 8;
  return middle * middle;
}

/// Returns the variance of white noise from spreads, in 16 steps per power of two from 1024 on.
std::int64_t variance_of_spreads(const std::vector<std::int64_t>& spreads) {
  const std::int64_t spread = quietest_of(spreads);
  std::int64_t step = 64;
  while (spread >= 32 * step)
    step *= 2;
  const std::int64_t number = std::max<std::int64_t>(spread / step, 16);
  return (2 * number + 1) * step / 21;
}

DefinedClass class_of(int number, const Blocks& blocks) {
  const std::int64_t near = square_of_quietest(blocks.near) / 185,
                     far = square_of_quietest(blocks.far) / 200,
                     spread = variance_of_spreads(blocks.spreads);
  return {number, static_cast<std::int64_t>(blocks.near.size()),
          std::min(std::max(near, (far - near) * 3 / 2), spread * 5 / 4), spread};
}

bool has_smooth_blocks(const DefinedClass& one) {
  return 2 * one.spread <= 3 * one.variance + 512;
}

/// Returns true if `other` is reliable, and `one` has over 4 times the noise that `other` suggests.
bool is_too_noisy(const DefinedClass& one, const DefinedClass& other, std::int64_t all) {
  const std::int64_t brightness = 2 * one.number + 1, of_other = 2 * other.number + 1;
  return has_smooth_blocks(other) && 16 * other.count >= all &&
         one.variance * of_other > 4 * (other.variance + 1024) * std::max(brightness, of_other);
}

DefinedMeasurement measurement_of(std::vector<DefinedClass> classes,
                                  const std::optional<DefinedClass>& extremes) {
  std::int64_t blocks = 0, smooth_blocks = 0, smooth_sum = 0;
  for (const DefinedClass& one : classes)
    blocks += one.count;
  const std::int64_t all = blocks + (extremes ? extremes->count : 0);
  for (DefinedClass& one : classes) {
    one.smooth = has_smooth_blocks(one) &&
                 std::none_of(classes.begin(), classes.end(), [&](const DefinedClass& other) {
                   return is_too_noisy(one, other, all);
                 });
    smooth_blocks += one.smooth ? one.count : 0;
    smooth_sum += one.smooth ? one.count * one.variance : 0;
  }
  const bool limits = smooth_blocks >= 32 && 16 * smooth_blocks >= all;
  const std::int64_t limit = limits ? 3 * smooth_sum / (2 * smooth_blocks) : std::int64_t{1} << 40;
  if (limits && 6 * smooth_blocks >= all) {
    std::int64_t sum = 0;
    for (const DefinedClass& one : classes)
      sum += one.count * (one.smooth ? one.variance : std::min(one.variance, limit));
    return {static_cast<std::uint32_t>(sum / blocks)};
  }
  if (extremes)
    classes.push_back(*extremes);
  std::sort(classes.begin(), classes.end(),
            [](const DefinedClass& a, const DefinedClass& b) { return a.limit() < b.limit(); });
  auto quietest = classes.begin();
  for (std::int64_t up_to = quietest->count; 4 * up_to < all; up_to += quietest->count)
    ++quietest;
  return {static_cast<std::uint32_t>(std::min(quietest->limit(), limit)), true};
}

}  // namespace

std::optional<DefinedMeasurement> defined_measurement(const std::vector<DefinedClass>& classes,
                                                      const std::optional<DefinedClass>& extremes,
                                                      const DefinedBlocks& blocks) {
  const DefinedMeasurement silence{0};
  if (blocks.constant > blocks.others)
    return blocks.constant >= 32 ? std::optional(silence) : std::nullopt;
  std::int64_t counted = 0;
  for (const DefinedClass& one : classes)
    counted += one.count;
  if (counted < 32)
    return blocks.flat >= 32 ? std::optional(silence) : std::nullopt;
  return measurement_of(classes, extremes);
}

std::optional<DefinedMeasurement> defined_noise(const FrameLayout& layout, const Channel& channel,
                                                const ConstFrame& in) {
  const auto level = [&](int x, int y) {
    const std::int64_t value =
        defined_sample(layout, in, channel, std::clamp(x, 0, channel.width - 1),
                       std::clamp(y, 0, channel.height - 1));
    return static_cast<int>(value / (1 << (layout.bits - 8)));
  };
  const auto difference = [&](int x, int y, int spacing) {
    const int weights[3] = {1, -2, 1};
    int sum = 0;
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        sum += weights[i + 1] * weights[j + 1] * level(x + spacing * i, y + spacing * j);
    return std::abs(sum);
  };
  const auto are_equal = [&](int x, int y, int width, int height) {
    for (int j = y; j < y + height; ++j)
      for (int i = x; i < x + width; ++i)
        if (level(i, j) != level(x, y))
          return false;
    return true;
  };
  const int step = 1 + static_cast<int>(std::int64_t{channel.width} * channel.height / 524288);
  std::map<int, Blocks> blocks_by_class;
  Blocks extreme_blocks;
  DefinedBlocks numbers{};
  for (int top = 0; top + 8 <= channel.height; top += 8 * step)
    for (int left = 0; left + 8 <= channel.width; left += 8) {
      int extremes = 0, levels = 0, near = 0, far = 0;
      std::int64_t squares = 0;
      for (int y = top; y < top + 8; ++y)
        for (int x = left; x < left + 8; ++x) {
          extremes += level(x, y) < 8 || level(x, y) > 247;
          levels += level(x, y);
          squares += level(x, y) * level(x, y);
          near += difference(x, y, 1);
          far += difference(x, y, 3);
        }
      if (are_equal(left, top, 8, 8) || are_equal(left, top - 3, 8, 1) ||
          are_equal(left, top + 10, 8, 1) || are_equal(left - 3, top, 1, 8) ||
          are_equal(left + 10, top, 1, 8)) {
        numbers.flat += extremes <= 4;
        numbers.constant += extremes <= 4 && are_equal(left, top, 8, 8);
        continue;
      }
      ++numbers.others;
      Blocks& blocks = extremes > 4 ? extreme_blocks : blocks_by_class[levels / 2048];
      blocks.near.push_back(near);
      blocks.far.push_back(far);
      blocks.spreads.push_back(64 * squares - std::int64_t{levels} * levels);
    }
  std::vector<DefinedClass> classes;
  for (const auto& [number, blocks] : blocks_by_class)
    if (blocks.near.size() >= 16)
      classes.push_back(class_of(number, blocks));
  std::optional<DefinedClass> extremes;
  if (extreme_blocks.near.size() >= 16) {
    const std::int64_t limit = 2 * variance_of_spreads(extreme_blocks.spreads);
    extremes = {8, static_cast<std::int64_t>(extreme_blocks.near.size()), limit, limit};
  }
  return defined_measurement(classes, extremes, numbers);
}

void DefinedEstimate::take(std::optional<DefinedMeasurement> measurement) {
  if (!measurement)
    return;
  measured = measurement->variance;
  uncertain = measurement->uncertain;
  const std::int64_t more = 256 * measured - average;
  average = any ? average + (more >= 0 ? more / 8 : -((-more + 7) / 8)) : 256 * measured;
  const std::int64_t mean = (average + 128) / 256;
  if (!any || std::abs(mean - used) > 64 + used / 4)
    used = mean;
  any = true;
}

}  // namespace cudavision::test
