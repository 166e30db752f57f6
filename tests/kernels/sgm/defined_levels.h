// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "cuda/sgm/picture/disparitypicture.h"
#include "tests/kernels/sgm/sgm_definition.h"

namespace cudavision::test {

/// The ends of a range of values that map to levels 1 to 255; low < high.
struct Ends {
  std::int64_t low, high;

  int level(std::int64_t value, bool reversed) const {
    const std::int64_t clamped = std::clamp(value, low, high);
    const std::int64_t n = reversed ? high - clamped : clamped - low;
    return static_cast<int>(1 + (254 * n + (high - low) / 2) / (high - low));
  }
};

/// Computes the levels of the images of successive maps, as disparitypicture.h specifies them.
class DefinedLevels {
  using Look = sgm::PictureParameters;
  using Quantity = Look::Quantity;
  using Range = Look::Range;

 public:
  DefinedLevels(const sgm::Parameters& parameters, const Look& look)
      : parameters_(parameters), look_(look), scale_(sgm::disparity_scale(parameters).per_pixel) {}

  void set(const Look& look) { look_ = look; }
  void restart() { smooth_.reset(); }

  std::vector<int> levels(const std::vector<std::uint16_t>& numbers, double seconds) {
    const Ends ends = ends_for(numbers, seconds);
    std::vector<int> levels;
    for (const std::uint16_t number : numbers)
      levels.push_back(known(number) ? ends.level(value_of(number), is(Quantity::depth)) : 0);
    return levels;
  }

 private:
  bool is(Quantity quantity) const { return look_.quantity == quantity; }

  bool known(std::uint16_t number) const {
    return is(Quantity::confidence) ? number != 0
           : is(Quantity::depth)    ? defined_depth(parameters_, look_, number) != 0
                                    : number != sgm::disparity_scale(parameters_).invalid;
  }

  int value_of(std::uint16_t number) const {
    return is(Quantity::confidence) ? number
           : is(Quantity::depth)    ? defined_depth(parameters_, look_, number)
                                    : static_cast<std::int16_t>(number);
  }

  Ends value_range() const {
    if (is(Quantity::confidence))
      return {1, 255};
    const int first = scale_ * parameters_.minimum;
    const int last = scale_ * (parameters_.minimum + parameters_.disparities - 1);
    return is(Quantity::depth) ? Ends{std::max(1, first), std::max(1, last)} : Ends{first, last};
  }

  Ends ends_for(const std::vector<std::uint16_t>& numbers, double seconds) {
    switch (look_.range) {
      case Range::full:
        return is(Quantity::depth) ? Ends{1, 65535} : value_range();
      case Range::fixed: {
        const int factor = is(Quantity::disparity) ? scale_ : 1;
        const std::int64_t low = std::llround(factor * look_.minimum);
        return {low, std::max<std::int64_t>(low + 1, std::llround(factor * look_.maximum))};
      }
      case Range::automatic:
        break;
    }
    return automatic_ends(numbers, seconds);
  }

  Ends automatic_ends(const std::vector<std::uint16_t>& numbers, double seconds) {
    const Ends all = value_range();
    std::int64_t width = 1;  // width of a bin
    while ((all.high - all.low) / width + 1 > 1024)
      width *= 2;
    std::vector<std::int64_t> bins;
    for (const std::uint16_t number : numbers) {
      const int v = is(Quantity::confidence) ? number : static_cast<std::int16_t>(number);
      const bool valid =
          is(Quantity::confidence) || number != sgm::disparity_scale(parameters_).invalid;
      if (valid && v >= all.low && v <= all.high)
        bins.push_back((v - all.low) / width);
    }
    std::sort(bins.begin(), bins.end());
    if (!bins.empty()) {
      const auto percentile = [&](std::size_t p) {
        return bins[(p * bins.size() + 99) / 100 - 1];  // by the nearest-rank method
      };
      const std::int64_t low = all.low + percentile(2) * width;
      const std::int64_t high = std::min(all.high, all.low + (percentile(98) + 1) * width - 1);
      move_to({65536 * low, 65536 * high}, seconds);
    }
    Ends ends = all;
    if (smooth_)
      ends = {floored(smooth_->low + 32768), floored(smooth_->high + 32768)};
    ends.high = std::max(ends.high, ends.low + (is(Quantity::confidence) ? 1 : scale_));
    if (!is(Quantity::depth))
      return ends;
    const auto depth = [&](std::int64_t v) {
      return defined_depth(parameters_, look_, static_cast<std::uint16_t>(v));
    };
    const std::int64_t low = depth(ends.high);
    return {low, std::max<std::int64_t>(low + 1, depth(ends.low))};
  }

  static std::int64_t floored(std::int64_t number) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(number) / 65536));
  }

  void move_to(const Ends& target, double seconds) {
    const auto weight = static_cast<std::int64_t>(std::rint(65536 * (1 - std::exp(-seconds))));
    const auto moved = [&](std::int64_t from, std::int64_t to) {
      return from + floored((to - from) * weight);
    };
    smooth_ =
        smooth_ ? Ends{moved(smooth_->low, target.low), moved(smooth_->high, target.high)} : target;
  }

  sgm::Parameters parameters_;
  Look look_;
  int scale_;
  std::optional<Ends> smooth_;  ///< the smoothed ends, times 65536
};

}  // namespace cudavision::test
