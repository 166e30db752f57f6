// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The inner loops of the CPU backend, each over a part of a row. They have no branches, so that the
// compiler vectorises them.

#include <cstdint>

#include "cuda/core/parallel.h"
#include "cuda/guided/arithmetic.h"

namespace cudavision::guided {

/// Return the two numbers of an element that windows add up: of a sample, itself and its square;
/// of a word, its halves.
template <class Sample>
constexpr std::uint32_t first_of(Sample sample) {
  return sample;
}
template <class Sample>
constexpr std::uint32_t second_of(Sample sample) {
  return std::uint32_t{sample} * sample;
}
template <>
constexpr std::uint32_t first_of(std::uint32_t word) {
  return word & 0xffff;
}
template <>
constexpr std::uint32_t second_of(std::uint32_t word) {
  return word >> 16;
}

/// Adds one row to the sums of the columns and subtracts another.
template <class Sum, class Element>
CUDAVISION_TARGET_CLONES void slide(const Element* added, const Element* removed, int width,
                                    Sum* __restrict first, Sum* __restrict second) {
  for (int x = 0; x < width; ++x) {
    first[x] += Sum{first_of(added[x])} - first_of(removed[x]);
    second[x] += Sum{second_of(added[x])} - second_of(removed[x]);
  }
}

/// The running sums of a row's columns at both ends of windows: element x of `before` is the sum of
/// all columns to the left of window x, and that of `after` includes the window.
template <class Sum>
struct WindowEnds {
  const Sum *first_before, *first_after;
  const Sum *second_before, *second_after;

  Sum first(int x) const { return first_after[x] - first_before[x]; }
  Sum second(int x) const { return second_after[x] - second_before[x]; }
};

/// Writes the words of windows of one area.
template <bool kNarrow, class Sum>
CUDAVISION_TARGET_CLONES void write_words(int count, WindowEnds<Sum> sums,
                                          LineWindow<kNarrow, Sum> window,
                                          std::uint32_t* __restrict words) {
  for (int x = 0; x < count; ++x)
    words[x] = window.word_of(sums.first(x), sums.second(x));
}

/// Writes the results for samples whose windows have one area.
template <bool kNarrow, class Sample, class Sum>
CUDAVISION_TARGET_CLONES void write_levels(int count, WindowEnds<Sum> sums,
                                           LevelWindow<kNarrow> window, int bits,
                                           const Sample* samples, Sample* __restrict levels) {
  for (int x = 0; x < count; ++x)
    levels[x] = static_cast<Sample>(window.level_of(std::uint32_t{samples[x]} << (32 - bits),
                                                    sums.first(x), Sum{0} - sums.second(x)));
}

}  // namespace cudavision::guided
