// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/geometry/repetition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "cuda/core/parallel.h"

namespace cudavision::rig {
namespace {

constexpr int radius = 4, side = 2 * radius + 1;  // size of the compared blocks
constexpr int max_samples = 2400, min_step = 4;

constexpr int min_period = 4;
constexpr int distinct_within = 6;
constexpr int min_rise = 3 * side * side;
constexpr double as_well = 0.9;

constexpr int area_radius = 4;  // in samples
constexpr int fewest_equal = 5;
constexpr double enough_equal = 0.35, same_period = 0.15, min_tolerance = 1.5;

using Byte = std::uint8_t;

struct Sample {
  bool known = false;
  int period = nothing_distinct;

  bool repeats() const { return period > 0; }
};

/// Adds the absolute differences between a block and the blocks at from, from + 1… to the costs.
CUDAVISION_TARGET_CLONES
void add_differences(const Byte* block, int block_pitch, const Byte* from, int pitch, int count,
                     std::uint16_t* costs) {
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const int level = block[static_cast<std::ptrdiff_t>(y) * block_pitch + x];
      const Byte* const others = from + static_cast<std::ptrdiff_t>(y) * pitch + x;
      for (int i = 0; i < count; ++i)
        costs[i] = static_cast<std::uint16_t>(costs[i] + std::abs(level - others[i]));
    }
}

bool is_distinct(const CostProfile& costs, int position) {
  const int count = static_cast<int>(costs.size());
  const auto largest = [&](int first, int end) {
    return *std::max_element(costs.begin() + first, costs.begin() + end);
  };
  const int cost = costs[static_cast<std::size_t>(position)];
  // Costs beyond the searched positions are unknown, and are assumed to rise.
  int rise = std::numeric_limits<int>::max();
  if (position > 0)
    rise = largest(std::max(position - distinct_within, 0), position);
  if (position < count - 1)
    rise =
        std::min<int>(rise, largest(position + 1, std::min(position + distinct_within + 1, count)));
  return count > 1 && rise - cost >= min_rise && rise >= 2 * cost;
}

/// A grid of samples. Each row is shifted, so that even narrow vertical patterns contain samples.
class Samples {
 public:
  Samples(int width, int height)
      : step_(std::max(min_step,
                       static_cast<int>(std::ceil(std::sqrt(1.0 * width * height / max_samples))))),
        columns_(width / step_),
        rows_(height / step_),
        samples_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)) {}

  int columns() const { return columns_; }
  int rows() const { return rows_; }
  int x(int column, int row) const {
    constexpr double golden = 0.618034;
    return column * step_ + static_cast<int>(step_ * std::fmod(golden * row, 1));
  }
  int y(int row) const { return row * step_ + step_ / 2; }
  Sample& at(int column, int row) {
    return samples_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                    static_cast<std::size_t>(column)];
  }

  /// Returns the period of the area around the sample, or 0 if the area does not repeat.
  int area_period(int column, int row) {
    periods_.clear();
    int distinct = 0;
    for (int j = std::max(row - area_radius, 0); j <= std::min(row + area_radius, rows_ - 1); ++j)
      for (int i = std::max(column - area_radius, 0);
           i <= std::min(column + area_radius, columns_ - 1); ++i) {
        const Sample& sample = at(i, j);
        distinct += sample.period != nothing_distinct;
        if (sample.repeats())
          periods_.push_back(sample.period);
      }
    if (periods_.size() < fewest_equal)
      return 0;
    const int own = at(column, row).period;
    const int period = own > 0 ? own : median(periods_);
    const double tolerance = std::max(min_tolerance, same_period * period);
    const auto equal = std::count_if(periods_.begin(), periods_.end(), [&](int other) {
      return std::abs(other - period) <= tolerance;
    });
    const bool enough =
        equal >= fewest_equal && static_cast<double>(equal) >= enough_equal * distinct;
    return enough ? period : 0;
  }

  static int median(std::vector<int>& numbers) {
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), middle, numbers.end());
    return *middle;
  }

 private:
  const int step_, columns_, rows_;
  std::vector<Sample> samples_;
  std::vector<int> periods_;  ///< scratch
};

struct Scratch {
  PatchReader left, right;
  CostProfile costs;
};

void sample_row(const NormalizedPicture& left_picture, const NormalizedPicture& right_picture,
                View<const std::uint8_t> map, const sgm::Parameters& parameters, int row,
                Samples& samples, Scratch& scratch) {
  const sgm::DisparityScale scale = sgm::disparity_scale(parameters);
  const int width = left_picture.picture.width, y = samples.y(row);
  if (y < radius || y + radius >= left_picture.picture.height())
    return;
  const Patch& left =
      scratch.left.take(left_picture.picture, left_picture.gain, 0, y - radius, width, side);
  const Patch& right =
      scratch.right.take(right_picture.picture, right_picture.gain, 0, y - radius, width, side);
  for (int column = 0; column < samples.columns(); ++column) {
    const int x = samples.x(column, row);
    if (x < radius || x + radius >= width)
      continue;
    Sample& sample = samples.at(column, row);
    const std::optional<int> disparity = counts_at(map, x, y, scale);
    sample.known = disparity.has_value();
    if (!sample.known)
      continue;
    const int first = std::max(x - (parameters.minimum + parameters.disparities - 1), radius);
    const int last = std::min(x - parameters.minimum, width - 1 - radius);
    const int own =
        x - static_cast<int>(std::lround(static_cast<double>(*disparity) / scale.per_pixel));
    if (own < first || own > last)
      continue;
    scratch.costs.assign(static_cast<std::size_t>(last - first + 1), 0);
    add_differences(left.at(x - radius, y - radius), left.width,
                    right.at(first - radius, y - radius), right.width, last - first + 1,
                    scratch.costs.data());
    sample.period = period_of(scratch.costs, own - first);
  }
}

}  // namespace

int period_of(const CostProfile& costs, int own) {
  const int count = static_cast<int>(costs.size());
  const auto cost = [&](int position) {
    return static_cast<int>(costs[static_cast<std::size_t>(position)]);
  };
  // Rounding and filters may have changed the disparity by a pixel.
  int best = own;
  for (int position = std::max(own - 1, 0); position <= std::min(own + 1, count - 1); ++position)
    if (cost(position) < cost(best))
      best = position;
  if (!is_distinct(costs, best))
    return nothing_distinct;
  int period = 0;
  for (const int direction : {-1, 1}) {
    int peak = 0;  // largest cost between `best` and `position`
    for (int distance = 1; period == 0 || distance < period; ++distance) {
      const int position = best + direction * distance;
      if (position < 1 || position >= count - 1)
        break;
      peak = std::max(peak, cost(position));
      const bool is_minimum =
          cost(position) <= cost(position - 1) && cost(position) <= cost(position + 1);
      if (distance >= min_period && is_minimum &&
          peak - cost(position) >= as_well * (peak - cost(best)) && is_distinct(costs, position)) {
        period = distance;
        break;
      }
    }
  }
  return period;
}

Repetition detect_repetition(const NormalizedPicture& left, const NormalizedPicture& right,
                             View<const std::uint8_t> map, const sgm::Parameters& parameters) {
  Samples samples(left.picture.width, left.picture.height());
  if (samples.rows() == 0)
    return {};
  const Bands bands(samples.rows());
  bands.for_each([&](const Band& band) {
    Scratch scratch;
    for (int row = band.begin; row < band.end; ++row)
      sample_row(left, right, map, parameters, row, samples, scratch);
  });
  int known = 0;
  std::vector<int> periods;
  for (int row = 0; row < samples.rows(); ++row)
    for (int column = 0; column < samples.columns(); ++column) {
      if (!samples.at(column, row).known)
        continue;
      ++known;
      if (const int period = samples.area_period(column, row); period > 0)
        periods.push_back(period);
    }
  if (periods.empty())
    return {};
  return {static_cast<double>(periods.size()) / known, Samples::median(periods)};
}

}  // namespace cudavision::rig
