// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Removes speckles with a union-find over runs. A run is a maximal sequence of joined pixels in a
// row. Sequences of unknown pixels are runs, too, which are joined to no other run. Each thread
// finds the components of its band. Then one thread joins components across the seams between
// bands, and the roots count the pixels of whole components.
//
// Run i of a row has the index of the row's pixel i. A map has fewer than 2^32 pixels (65535×65535
// at most), so 32 bits hold indices and counts.

#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

using Number = std::uint32_t;

constexpr int flags_at_once = sizeof(std::uint64_t);

std::uint64_t load_flags(const std::uint8_t* flags) {
  std::uint64_t all;
  std::memcpy(&all, flags, sizeof all);
  return all;
}

/// Sets flags[x] to 1 if a run begins at pixel x and x > 0, else to 0.
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

class Runs {
 public:
  Runs(int width, int max_step, std::uint16_t* map, const Buffer& ends, const Buffer& parents,
       const Buffer& counts)
      : width_(width),
        max_step_(max_step),
        map_(map),
        ends_(ends.as<std::uint16_t>()),
        parents_(parents.as<Number>()),
        counts_(counts.as<Number>()) {}

  /// Finds the runs of row y, each a separate component.
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

  /// Several threads may call it at once.
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

  /// The larger component's root becomes the root of both, so that paths stay short.
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

/// The flags after the end of the row are 0.
struct Flags {
  Flags(Scratch& scratch, int width)
      : flags(scratch.take<std::uint8_t>(static_cast<std::size_t>(width + flags_at_once))) {
    if (flags)
      std::fill_n(flags + width, flags_at_once, std::uint8_t{0});
  }
  std::uint8_t* flags;
};

}  // namespace

std::size_t speckles_scratch(const StageConfig& config) {
  return scratch_bytes<Flags>(config.width);
}

SpecklesCpu::SpecklesCpu(Device& device, const StageConfig& config)
    : ends_(device.allocate(sizeof(std::uint16_t) * static_cast<std::size_t>(config.pixels()))),
      parents_(device.allocate(sizeof(Number) * static_cast<std::size_t>(config.pixels()))),
      counts_(device.allocate(sizeof(Number) * static_cast<std::size_t>(config.pixels()))) {}

void SpecklesCpu::run(const StageRows& rows, int size, int max_step, std::uint16_t* map) const {
  const int width = rows.config.width;
  const Runs runs(width, max_step, map, ends_, parents_, counts_);
  rows.bands.for_each([&](Band& band) {
    const Flags row(band.scratch, width);
    for (int y = band.begin; y < band.end; ++y) {
      runs.find(y, row.flags);
      if (y > band.begin)
        runs.join_to_above(y, row.flags);
    }
  });
  for (int number = 1; number < rows.bands.count(); ++number) {
    Band band = rows.bands.band(number);
    runs.join_to_above(band.begin, Flags(band.scratch, width).flags);
  }
  for_rows(rows.config.height, [&](int y) { runs.remove(y, static_cast<Number>(size)); });
}

}  // namespace cudavision::sgm
