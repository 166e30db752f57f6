// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the two passes of the guided filter. The first pass makes a word of each window of
// samples; the second pass sums words and makes levels.

#include <type_traits>

#include "cuda/guided/arithmetic.h"
#include "cuda/windows/samples.cuh"
#include "cuda/windows/sums.cuh"

namespace cudavision::guided {

struct Settings {
  Scale scale;
  int shift;  ///< of samples of two bytes
};

using Arguments = windows::Arguments<Settings, FrameLayout::max_channels>;

/// kNarrow tells whether all windows are narrow.
template <class AnyElement, class AnySum, bool kNarrow>
struct GuidedPass {
  using Arguments = guided::Arguments;
  using Element = AnyElement;
  using Sum = AnySum;
  using AnySums = windows::Sums<Sum, 2>;
  static constexpr int kColumns = 8;
  static constexpr int kBlocks = 2, kWarpBlocks = sizeof(Sum) == 8 ? 2 : 4;
  static constexpr bool kGap = !kNarrow, kWindowTable = kNarrow, kEstimates = false;
};

template <class Sample, class Sum, bool kNarrow>
struct LinesPass : GuidedPass<Sample, Sum, kNarrow> {
  using Window = LineWindow<kNarrow, Sum>;
  using Samples = windows::NoSamples;
  using Quad = uint4;

  static __device__ Window window_of(std::uint32_t area, const Settings& settings) {
    return {area, settings.scale};
  }
  static __device__ std::uint32_t result(std::uint32_t, const windows::Sums<Sum, 2>& sums,
                                         const Window& window, const Settings&, bool&) {
    return window.word_of(sums.of[0], sums.of[1]);
  }
  static __device__ Quad quad_of(const std::uint32_t (&words)[4], const Settings&) {
    return make_uint4(words[0], words[1], words[2], words[3]);
  }

  /// A place in the words, whose rows have two halves.
  class Single {
   public:
    __device__ Single(const Settings&, const windows::Picture& picture, int x, int y)
        : word_(reinterpret_cast<std::uint32_t*>(picture.out +
                                                 static_cast<std::int64_t>(picture.out_pitch) * y) +
                windows::place_of_word(picture, x)),
          pitch_(picture.out_pitch / 4) {}
    __device__ std::uint32_t sample() const { return 0; }
    __device__ void store(std::uint32_t word, const Settings&) const { *word_ = word; }

   protected:
    std::uint32_t* word_;
    int pitch_;
  };
  class Place : public Single {
   public:
    using Single::Single;
    __device__ void next_row() { this->word_ += this->pitch_; }
    __device__ Samples samples(int, int) const { return {}; }
    /// distance is a multiple of 128 samples.
    __device__ void store(int distance, const Quad& words) const {
      *reinterpret_cast<uint4*>(this->word_ + distance / 2) = words;
    }
  };
};

template <class Sample, bool kNarrow>
struct LevelsPass : GuidedPass<std::uint32_t,
                               std::conditional_t<kNarrow, std::uint32_t, std::uint64_t>, kNarrow> {
  using Window = LevelWindow<kNarrow>;
  using Quad = windows::FourSamples<Sample>;
  struct Samples : windows::FourSamples<Sample> {
    /// Returns 2^(32 − bits) times a sample.
    __device__ std::uint32_t at(int i, const Settings& settings) const {
      if constexpr (sizeof(Sample) == 1)
        return __byte_perm(this->words[0], 0, i << 12 | 0x0444);
      else
        return __byte_perm(this->words[i / 2], 0, i % 2 == 0 ? 0x1044 : 0x3244)
               << (16 - settings.scale.bits);
    }
  };

  static __device__ Window window_of(std::uint32_t area, const Settings& settings) {
    return {area, settings.scale};
  }
  template <class AnySums>
  static __device__ std::uint32_t result(std::uint32_t sample, const AnySums& sums,
                                         const Window& window, const Settings&, bool&) {
    return window.level_of(sample, sums.of[0] + (sums.of[1] << 16), sums.of[1]);
  }
  static __device__ Quad quad_of(const std::uint32_t (&levels)[4], const Settings& settings) {
    if constexpr (sizeof(Sample) == 1)
      return {{__byte_perm(__byte_perm(levels[0], levels[1], 0x0040),
                           __byte_perm(levels[2], levels[3], 0x0040), 0x5410)}};
    else
      return {{(levels[0] | levels[1] << 16) << settings.shift, (levels[2] | levels[3] << 16)
                                                                    << settings.shift}};
  }

  class Place {
   public:
    __device__ Place(const Settings&, const windows::Picture& picture, int x, int y)
        : values_(picture, x, y), results_(picture, x, y) {}
    __device__ void next_row() {
      values_.next_row();
      results_.next_row();
    }
    __device__ Samples samples(int rows_below, int distance) const {
      return {values_.load(rows_below, distance)};
    }
    __device__ void store(int distance, const Quad& levels) const {
      results_.store<Sample>(distance, levels);
    }

   private:
    windows::SamplePlace<Sample> values_;
    windows::ResultPlace results_;
  };
  class Single {
   public:
    __device__ Single(const Settings& settings, const windows::Picture& picture, int x, int y)
        : sample_(windows::SamplePlace<Sample>(picture, x, y).one() << (32 - settings.scale.bits)),
          result_(picture, x, y) {}
    __device__ std::uint32_t sample() const { return sample_; }
    __device__ void store(std::uint32_t level, const Settings& settings) const {
      result_.store_one<Sample>(level << (sizeof(Sample) == 1 ? 0 : settings.shift));
    }

   private:
    std::uint32_t sample_;
    windows::ResultPlace result_;
  };
};

}  // namespace cudavision::guided
