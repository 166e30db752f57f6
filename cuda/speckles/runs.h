// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Removes small components on the CPU, with a union-find over runs. A run is a maximal sequence of
// joined pixels in a row. Sequences of background are runs too, but are never joined. Each thread
// finds the components of a band of rows. Then a single thread joins components across bands.
//
// Run i of a row has the index of the row's pixel i. Pictures have fewer than 2^32 pixels, so 32
// bits hold indices and counts.

#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda/core/device.h"
#include "cuda/core/parallel.h"

namespace cudavision::speckles {

using Number = std::uint32_t;

constexpr int flags_at_once = sizeof(std::uint64_t);

inline std::uint64_t load_flags(const std::uint8_t* flags) {
  std::uint64_t all;
  std::memcpy(&all, flags, sizeof all);
  return all;
}

inline bool any_set(const std::uint8_t* flags, int count) {
  for (; count >= flags_at_once; count -= flags_at_once, flags += flags_at_once)
    if (load_flags(flags) != 0)
      return true;
  return std::any_of(flags, flags + count, [](std::uint8_t flag) { return flag != 0; });
}

struct RunMemory {
  RunMemory(Device& device, std::int64_t pixels)
      : ends(device.allocate(sizeof(std::uint16_t) * static_cast<std::size_t>(pixels))),
        parents(device.allocate(sizeof(Number) * static_cast<std::size_t>(pixels))),
        counts(device.allocate(sizeof(Number) * static_cast<std::size_t>(pixels))) {}

  Buffer ends, parents, counts;
};

/// One flag per pixel of a row, padded with flags of 0.
struct RunFlags {
  RunFlags(Scratch& scratch, int width)
      : flags(scratch.take<std::uint8_t>(static_cast<std::size_t>(width + flags_at_once))) {
    if (flags)
      std::fill_n(flags + width, flags_at_once, std::uint8_t{0});
  }
  std::uint8_t* flags;
};

/// The runs of a picture. A Picture has
///
///   int width
///   void mark_begins(int y, std::uint8_t* flags) const
///       flags[x] = 1 if a run begins at pixel x > 0, otherwise 0
///   void mark_joined(int y, std::uint8_t* flags) const
///       flags[x] = 1 if pixel x is joined to the pixel above, otherwise 0
///   void remove(int y, int begin, int end) const     replaces a run with background
///   static constexpr bool diagonals      ink is joined to its diagonal neighbours; runs of ink and
///                                        of background alternate
///   bool is_ink(int x, int y) const      only with diagonals
template <class Picture>
class Runs {
 public:
  Runs(const Picture& picture, const RunMemory& memory)
      : picture_(picture),
        ends_(memory.ends.as<std::uint16_t>()),
        parents_(memory.parents.as<Number>()),
        counts_(memory.counts.as<Number>()) {}

  /// Finds the runs of row y. Each run starts as a separate component.
  void find(int y, std::uint8_t* flags) const {
    const Number first = row(y);
    std::uint16_t* const ends = ends_ + first;
    picture_.mark_begins(y, flags);
    int count = 0;
    for (int begin = 0; begin < picture_.width; begin += flags_at_once) {
      if (load_flags(flags + begin) == 0)
        continue;
      for (int x = begin; x < begin + flags_at_once; ++x) {
        ends[count] = static_cast<std::uint16_t>(x);
        count += flags[x];
      }
    }
    ends[count++] = static_cast<std::uint16_t>(picture_.width);
    int begin = 0;
    for (int i = 0; i < count; ++i) {
      const Number run = first + static_cast<Number>(i);
      parents_[run] = run;
      counts_[run] = static_cast<Number>(ends[i] - std::exchange(begin, ends[i]));
    }
  }

  void join_to_above(int y, std::uint8_t* flags) const {
    Number run = row(y), above = row(y - 1);
    picture_.mark_joined(y, flags);
    for (int x = 0; x < picture_.width;) {
      const int run_end = ends_[run], above_end = ends_[above];
      const int end = std::min(run_end, above_end);
      if (any_set(flags + x, end - x))
        join(run, above);
      if constexpr (Picture::diagonals)
        if (run_end == above_end && end < picture_.width) {
          // Both runs end here. The next have the opposite colours, so ink may touch diagonally.
          const bool ink = picture_.is_ink(x, y);
          if (ink != picture_.is_ink(x, y - 1))
            join(run + !ink, above + ink);
        }
      x = end;
      run += run_end == end;
      above += above_end == end;
    }
  }

  void remove(int y, Number size) const {
    Number run = row(y);
    for (int x = 0; x < picture_.width; ++run) {
      const int end = ends_[run];
      if (size_of(run) <= size)
        picture_.remove(y, x, end);
      x = end;
    }
  }

 private:
  Number row(int y) const { return static_cast<Number>(y) * static_cast<Number>(picture_.width); }

  Number size_of(Number run) const {
    while (parents_[run] != run)
      run = parents_[run];
    return counts_[run];
  }

  /// Finds the root of a run, with path halving.
  Number root(Number run) const {
    while (parents_[run] != run)
      run = parents_[run] = parents_[parents_[run]];
    return run;
  }

  /// The root of the larger component becomes the common root, which keeps paths short.
  void join(Number a, Number b) const {
    Number root_a = root(a), root_b = root(b);
    if (root_a == root_b)
      return;
    if (counts_[root_a] < counts_[root_b])
      std::swap(root_a, root_b);
    parents_[root_b] = root_a;
    counts_[root_a] += counts_[root_b];
  }

  Picture picture_;
  std::uint16_t* ends_;
  Number *parents_, *counts_;
};

/// Removes components of at most `size` pixels. The bands must have scratch memory for RunFlags.
template <class Picture>
void remove_components(const Picture& picture, const RunMemory& memory, const Bands& bands,
                       int size) {
  const Runs<Picture> runs(picture, memory);
  bands.for_each([&](Band& band) {
    const RunFlags row(band.scratch, picture.width);
    for (int y = band.begin; y < band.end; ++y) {
      runs.find(y, row.flags);
      if (y > band.begin)
        runs.join_to_above(y, row.flags);
    }
  });
  for (int number = 1; number < bands.count(); ++number) {
    Band band = bands.band(number);
    runs.join_to_above(band.begin, RunFlags(band.scratch, picture.width).flags);
  }
  bands.for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y)
      runs.remove(y, static_cast<Number>(size));
  });
}

}  // namespace cudavision::speckles
