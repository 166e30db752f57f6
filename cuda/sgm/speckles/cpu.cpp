// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Removes speckles with a union-find over runs. A run is a maximal stretch of joined pixels within
// a row; stretches of unknown pixels are runs as well, which are joined to no other. Each thread
// finds the components of its band. Then one thread joins those that touch at the seams between
// bands, and the roots count the pixels of whole components.
//
// Run i of a row has the number of the row's pixel i. A map has fewer than 2^32 pixels (65535×65535
// at most), so 32 bits hold numbers and counts.

#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

using Number = std::uint32_t;

/// Flags are read so many at a time.
constexpr int flags_at_once = sizeof(std::uint64_t);

std::uint64_t load_flags(const std::uint8_t* flags) {
  std::uint64_t all;
  std::memcpy(&all, flags, sizeof all);
  return all;
}

/// Sets flags[x] to 1 if a run ends before pixel x and another begins there, else to 0.
CUDAVISION_TARGET_CLONES
void mark_begins(const std::uint16_t* row, int width, int max_step,
                 std::uint8_t* __restrict flags) {
  flags[0] = 0;
  for (int x = 1; x < width; ++x) {
    const std::uint16_t before = row[x - 1], number = row[x];
    const bool both_unknown = (before & number) == unknown;
    flags[x] = !(both_unknown | are_joined(before, number, max_step));
  }
}

/// Sets flags[x] to 1 if pixel x is joined to the one above it, else to 0.
CUDAVISION_TARGET_CLONES
void mark_joined(const std::uint16_t* above, const std::uint16_t* row, int width, int max_step,
                 std::uint8_t* __restrict flags) {
  for (int x = 0; x < width; ++x)
    flags[x] = are_joined(above[x], row[x], max_step);
}

bool any_set(const std::uint8_t* flags, int count) {
  for (; count >= flags_at_once; count -= flags_at_once, flags += flags_at_once)
    if (load_flags(flags) != 0)
      return true;
  for (int i = 0; i < count; ++i)
    if (flags[i])
      return true;
  return false;
}

}  // namespace

/// The runs of a map.
class SpecklesCpu::Runs {
 public:
  Runs(const SpecklesCpu& scratch, int max_step, std::uint16_t* map)
      : width_(scratch.config_.width),
        max_step_(max_step),
        map_(map),
        ends_(scratch.ends_.as<std::uint16_t>()),
        parents_(scratch.parents_.as<Number>()),
        counts_(scratch.counts_.as<Number>()) {}

  /// Finds the runs of row y, each of which is a component by itself at first.
  void find(int y, std::uint8_t* flags) const {
    const Number first = row(y);
    std::uint16_t* const ends = ends_ + first;
    mark_begins(map_ + first, width_, max_step_, flags);
    int count = 0;
    for (int begin = 0; begin < width_; begin += flags_at_once) {
      if (load_flags(flags + begin) == 0)
        continue;
      for (int x = begin; x < begin + flags_at_once; ++x) {
        ends[count] = static_cast<std::uint16_t>(x);
        count += flags[x];
      }
    }
    ends[count++] = static_cast<std::uint16_t>(width_);
    int begin = 0;
    for (int i = 0; i < count; ++i) {
      const Number run = first + static_cast<Number>(i);
      parents_[run] = run;
      counts_[run] = static_cast<Number>(ends[i] - std::exchange(begin, ends[i]));
    }
  }

  /// Joins the components of row y with those of the row above it.
  void join_to_above(int y, std::uint8_t* flags) const {
    Number run = row(y), above = row(y - 1);
    mark_joined(map_ + above, map_ + run, width_, max_step_, flags);
    for (int x = 0; x < width_;) {
      const int run_end = ends_[run], above_end = ends_[above];
      const int end = std::min(run_end, above_end);
      if (any_set(flags + x, end - x))
        join(run, above);
      x = end;
      run += run_end == end;
      above += above_end == end;
    }
  }

  /// Makes the components of at most `size` pixels unknown in row y. Several threads may call this
  /// at once.
  void remove(int y, Number size) const {
    Number run = row(y);
    std::uint16_t* const numbers = map_ + run;
    for (int x = 0; x < width_; ++run) {
      const int end = ends_[run];
      if (size_of(run) <= size)
        std::fill(numbers + x, numbers + end, unknown);
      x = end;
    }
  }

 private:
  Number row(int y) const { return static_cast<Number>(y) * static_cast<Number>(width_); }

  Number size_of(Number run) const {
    while (parents_[run] != run)
      run = parents_[run];
    return counts_[run];
  }

  /// Halves the path to the root while following it.
  Number root(Number run) const {
    while (parents_[run] != run)
      run = parents_[run] = parents_[parents_[run]];
    return run;
  }

  /// The larger component's root becomes that of both, so that paths stay short.
  void join(Number a, Number b) const {
    Number root_a = root(a), root_b = root(b);
    if (root_a == root_b)
      return;
    if (counts_[root_a] < counts_[root_b])
      std::swap(root_a, root_b);
    parents_[root_b] = root_a;
    counts_[root_a] += counts_[root_b];
  }

  int width_, max_step_;
  std::uint16_t *map_, *ends_;
  Number *parents_, *counts_;
};

SpecklesCpu::SpecklesCpu(Device& device, const StageConfig& config)
    : config_(config),
      bands_(config.height),
      ends_(device.allocate(sizeof(std::uint16_t) * static_cast<std::size_t>(config.pixels()))),
      parents_(device.allocate(sizeof(Number) * static_cast<std::size_t>(config.pixels()))),
      counts_(device.allocate(sizeof(Number) * static_cast<std::size_t>(config.pixels()))) {
  for (int band = 0; band < bands_.count(); ++band) {
    flags_.push_back(device.allocate(static_cast<std::size_t>(config.width) + flags_at_once));
    std::memset(flags_.back().data(), 0, flags_.back().size());
  }
}

void SpecklesCpu::run(int size, int max_step, std::uint16_t* map) const {
  const Runs runs(*this, max_step, map);
  bands_.for_each([&](const Band& band) {
    auto* const flags = flags_[static_cast<std::size_t>(band.number)].as<std::uint8_t>();
    for (int y = band.begin; y < band.end; ++y) {
      runs.find(y, flags);
      if (y > band.begin)
        runs.join_to_above(y, flags);
    }
  });
  for (int band = 1; band < bands_.count(); ++band)
    runs.join_to_above(bands_.first_of(config_.height, band), flags_[0].as<std::uint8_t>());
  bands_.for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y)
      runs.remove(y, static_cast<Number>(size));
  });
}

}  // namespace cudavision::sgm
