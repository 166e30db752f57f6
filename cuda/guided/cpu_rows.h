// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The inner loops of the CPU backend, each over a part of a row. They have no branches, so that the
// compiler vectorises them.

#include <cstdint>

#include "cuda/guided/arithmetic.h"
#include "cuda/windows/cpu.h"

namespace cudavision::guided {

/// Writes the words of windows of one area.
template <bool kNarrow, class Sum>
CUDAVISION_TARGET_CLONES void write_words(int count, windows::WindowEnds<Sum, Sum> sums,
                                          LineWindow<kNarrow, Sum> window,
                                          std::uint32_t* __restrict words) {
  for (int x = 0; x < count; ++x)
    words[x] = window.word_of(sums.first(x), sums.second(x));
}

/// Writes the results for samples whose windows have one area.
template <bool kNarrow, class Sample, class Sum>
CUDAVISION_TARGET_CLONES void write_levels(int count, windows::WindowEnds<Sum, Sum> sums,
                                           LevelWindow<kNarrow> window, int bits,
                                           const Sample* samples, Sample* __restrict levels) {
  for (int x = 0; x < count; ++x)
    levels[x] = static_cast<Sample>(window.level_of(std::uint32_t{samples[x]} << (32 - bits),
                                                    sums.first(x), Sum{0} - sums.second(x)));
}

}  // namespace cudavision::guided
