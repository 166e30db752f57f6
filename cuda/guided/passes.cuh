// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The two passes of the guided filter. The first pass converts each window of samples to a word.
// The second pass sums words and computes levels.

#include <type_traits>

#include "cuda/guided/arithmetic.h"
#include "cuda/windows/samples.cuh"
#include "cuda/windows/sums.cuh"

namespace cudavision::guided {

using Settings = Scale;
using Arguments = windows::Arguments<Settings, FrameLayout::max_channels>;

template <class AnyElement, class AnySum, bool kNarrow>
struct GuidedPass {
  using Arguments = guided::Arguments;
  using Element = AnyElement;
  using Sum = AnySum;
  using AnySums = windows::Sums<Sum, 2>;
  static constexpr int kColumns = 8;
  static constexpr int kBlocks = 2, kWarpBlocks = sizeof(Sum) == 8 ? 2 : 4;
  static constexpr bool kGap = !kNarrow, kWindowTable = kNarrow;
  static constexpr bool kEstimates = false, kExactAtEdges = false;
};

template <class Sample, class Sum, bool kNarrow>
struct LinesPass : GuidedPass<Sample, Sum, kNarrow> {
  using Window = LineWindow<kNarrow, Sum>;

  static __device__ Window window_of(std::uint32_t area, const Settings& settings) {
    return {area, settings};
  }
  static __device__ std::uint32_t result(std::uint32_t, const windows::Sums<Sum, 2>& sums,
                                         const Window& window, const Settings&, bool&) {
    return window.word_of(sums.of[0], sums.of[1]);
  }
  /// Cursor over the words. A row of words has two halves (Picture::half_pitch).
  class ResultPosition {
   public:
    __device__ ResultPosition(const windows::Picture& picture, int x, int y)
        : word_(reinterpret_cast<std::uint32_t*>(picture.out +
                                                 static_cast<std::int64_t>(picture.out_pitch) * y) +
                windows::word_index(picture, x)),
          pitch_(picture.out_pitch / 4) {}
    __device__ std::uint32_t sample() const { return 0; }
    __device__ void store(std::uint32_t word) const { *word_ = word; }

   protected:
    std::uint32_t* word_;
    int pitch_;
  };
  class QuadPosition : public ResultPosition {
   public:
    using Samples = windows::NoSamples;
    using Quad = uint4;

    using ResultPosition::ResultPosition;
    __device__ void next_row() { this->word_ += this->pitch_; }
    __device__ Quad quad_of(const std::uint32_t (&words)[4]) const {
      return make_uint4(words[0], words[1], words[2], words[3]);
    }
    __device__ Samples samples(int, int) const { return {}; }
    /// distance is in samples, a multiple of 128.
    __device__ void store(int distance, const Quad& words) const {
      *reinterpret_cast<uint4*>(this->word_ + distance / 2) = words;
    }
  };
};

template <class Sample, bool kNarrow>
struct LevelsPass : GuidedPass<std::uint32_t,
                               std::conditional_t<kNarrow, std::uint32_t, std::uint64_t>, kNarrow> {
  using Window = LevelWindow<kNarrow>;
  using QuadPosition = windows::QuadPosition<Sample, true, sizeof(Sample)>;
  using ResultPosition = windows::ResultPosition<Sample, true, sizeof(Sample)>;

  static __device__ Window window_of(std::uint32_t area, const Settings& settings) {
    return {area, settings};
  }
  template <class AnySums>
  static __device__ std::uint32_t result(std::uint32_t sample, const AnySums& sums,
                                         const Window& window, const Settings& settings, bool&) {
    return window.level_of(sample << (32 - (sizeof(Sample) == 1 ? 8 : settings.bits)),
                           sums.of[0] + (sums.of[1] << 16), sums.of[1]);
  }
};

}  // namespace cudavision::guided
