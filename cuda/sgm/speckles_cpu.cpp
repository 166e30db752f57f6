// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Removes speckles with a union-find. A run is a maximal stretch of joined pixels within a row; its
// pixels point at its first pixel. Runs that touch in neighbouring rows are joined: the root of a
// region is its first pixel. A map has fewer than 2^32 pixels (65535×65535 at most), so 32 bits
// hold their numbers and counts.

#include <algorithm>

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

using Number = std::uint32_t;

class Regions {
 public:
  Regions(const StageConfig& config, int max_step, const std::uint16_t* map, Number* parents,
          Number* counts)
      : width_(config.width),
        height_(config.height),
        max_step_(max_step),
        map_(map),
        parents_(parents),
        counts_(counts) {}

  void find() const {
    Bands(height_).for_each([&](const Band& band) {
      for (int y = band.begin; y < band.end; ++y)
        find_runs(row(y));
    });
    for (int y = 1; y < height_; ++y)
      join_rows(row(y));
    count();
  }

  /// The number of pixels in the region of pixel i. Several threads may ask at once.
  Number size(Number i) const {
    while (parents_[i] != i)
      i = parents_[i];
    return counts_[i];
  }

  Number row(int y) const { return static_cast<Number>(y) * static_cast<Number>(width_); }

 private:
  bool joined(Number a, Number b) const { return are_joined(map_[a], map_[b], max_step_); }

  void find_runs(Number first) const {
    for (Number i = first; i < first + static_cast<Number>(width_); ++i) {
      parents_[i] = i > first && joined(i - 1, i) ? parents_[i - 1] : i;
      counts_[i] = 0;
    }
  }

  void join_rows(Number first) const {
    const auto width = static_cast<Number>(width_);
    for (Number i = first; i < first + width; ++i)
      if (joined(i - width, i) && !already_joined(i, first))
        join(i - width, i);
  }

  /// True if the pixel to the left has joined the same two runs, which makes joining them again
  /// superfluous.
  bool already_joined(Number i, Number first) const {
    const auto width = static_cast<Number>(width_);
    return i > first && joined(i - 1, i) && joined(i - width - 1, i - width) &&
           joined(i - width - 1, i - 1);
  }

  /// Halves the path to the root while following it.
  Number root(Number i) const {
    while (parents_[i] != i)
      i = parents_[i] = parents_[parents_[i]];
    return i;
  }

  void join(Number a, Number b) const {
    const Number first = root(a), second = root(b);
    parents_[std::max(first, second)] = std::min(first, second);
  }

  void count() const {
    const auto pixels = static_cast<Number>(static_cast<std::int64_t>(width_) * height_);
    for (Number i = 0; i < pixels; ++i)
      ++counts_[root(i)];
  }

  int width_, height_, max_step_;
  const std::uint16_t* map_;
  Number *parents_, *counts_;
};

}  // namespace

SpecklesCpu::SpecklesCpu(Device& device, const StageConfig& config)
    : config_(config),
      parents_(device.allocate(sizeof(Number) * static_cast<std::size_t>(config.pixels()))),
      counts_(device.allocate(sizeof(Number) * static_cast<std::size_t>(config.pixels()))) {}

void SpecklesCpu::run(int size, int max_step, std::uint16_t* map) const {
  const Regions regions(config_, max_step, map, parents_.as<Number>(), counts_.as<Number>());
  regions.find();
  const auto width = static_cast<Number>(config_.width);
  Bands(config_.height).for_each([&](const Band& band) {
    const Number end = regions.row(band.begin) + width * static_cast<Number>(band.end - band.begin);
    for (Number i = regions.row(band.begin); i < end; ++i)
      if (map[i] != unknown && regions.size(i) <= static_cast<Number>(size))
        map[i] = unknown;
  });
}

}  // namespace cudavision::sgm
