// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: what the two passes of the guided filter read, and what they make of the sums of a
// window. The first one makes a word of each window of samples; the second one adds up words.

#include <type_traits>

#include "cuda/guided/columns.cuh"

namespace cudavision::guided {

/// Returns the place of a column's word in a row.
__device__ inline int place_of_word(const FilteredPicture& picture, int column) {
  return (column / 4 % 2 == 0 ? 0 : picture.half_pitch) + column / 8 * 4 + column % 4;
}

/// Stores a sample that need not be aligned.
template <class Sample>
__device__ void store_sample(std::uint8_t* to, std::uint32_t word) {
  to[0] = static_cast<std::uint8_t>(word);
  if constexpr (sizeof(Sample) == 2)
    to[1] = static_cast<std::uint8_t>(word >> 8);
}

/// kNarrow tells whether all windows are narrow, and Sum is the type of their sums.
template <class Sample, class AnySum, bool kNarrowWindows>
struct LinesPass {
  using Element = Sample;
  using Sum = AnySum;
  using Window = LineWindow<kNarrowWindows, Sum>;
  static constexpr bool kNarrow = kNarrowWindows;

  static __device__ const Element* elements(const FilteredPicture& picture) {
    return reinterpret_cast<const Sample*>(picture.values);
  }
  static __device__ int pitch(const FilteredPicture& picture) { return picture.values_pitch; }
  /// Returns the place of a column's element in a row.
  static __device__ int place_of(const FilteredPicture&, int column) { return column; }

  /// The first pass does not need the samples themselves.
  struct Samples {
    __device__ std::uint32_t at(int, int) const { return 0; }
    __device__ void settle(int) {}
  };

  /// The words of four neighbouring windows.
  using Quad = uint4;
  static __device__ Quad quad_of(const std::uint32_t (&words)[4]) {
    return make_uint4(words[0], words[1], words[2], words[3]);
  }

  /// A place in the output, which moves down row by row.
  class Place {
   public:
    __device__ Place(const GuidedArguments&, const FilteredPicture& picture, int x, int y)
        : word_(picture.words + 2 * static_cast<std::int64_t>(picture.half_pitch) * y +
                place_of_word(picture, x)),
          pitch_(2 * picture.half_pitch) {}
    __device__ void next_row() { word_ += pitch_; }

    __device__ Samples samples(int, int) const { return {}; }
    /// distance is a multiple of 128 samples.
    __device__ void store(int distance, const Quad& words) const {
      *reinterpret_cast<uint4*>(word_ + distance / 2) = words;
    }

   private:
    std::uint32_t* word_;
    int pitch_;
  };

  /// The place of one sample.
  class Single {
   public:
    __device__ Single(const GuidedArguments&, const FilteredPicture& picture, int x, int y)
        : word_(picture.words + 2 * static_cast<std::int64_t>(picture.half_pitch) * y +
                place_of_word(picture, x)) {}
    __device__ std::uint32_t sample() const { return 0; }
    __device__ void store(std::uint32_t word) const { *word_ = word; }

   private:
    std::uint32_t* word_;
  };

  static __device__ std::uint32_t value(std::uint32_t, const SumPair<Sum>& sums,
                                        const Window& window) {
    return window.word_of(sums.first, sums.second);
  }
};

template <class Sample, bool kNarrowWindows>
struct LevelsPass {
  using Element = std::uint32_t;
  using Sum = std::conditional_t<kNarrowWindows, std::uint32_t, std::uint64_t>;
  using Window = LevelWindow<kNarrowWindows>;
  static constexpr bool kNarrow = kNarrowWindows;

  static __device__ const Element* elements(const FilteredPicture& picture) {
    return picture.words;
  }
  static __device__ int pitch(const FilteredPicture& picture) { return 8 * picture.half_pitch; }
  static __device__ int place_of(const FilteredPicture& picture, int column) {
    return place_of_word(picture, column);
  }

  /// Four neighbouring samples.
  struct Samples {
    std::uint32_t words[sizeof(Sample)];

    /// Makes words that no longer depend on the loads that they come from.
    __device__ void settle(int lane) {
      for (std::uint32_t& word : words)
        word = __shfl_sync(~0u, word, lane);
    }
    /// Returns 2^(32 − bits) times a sample.
    __device__ std::uint32_t at(int i, int bits) const {
      if constexpr (sizeof(Sample) == 1)
        return __byte_perm(words[0], 0, i << 12 | 0x0444);
      else
        return __byte_perm(words[i / 2], 0, i % 2 == 0 ? 0x1044 : 0x3244) << (16 - bits);
    }
  };

  /// Four neighbouring levels, side by side.
  using Quad = Samples;
  static __device__ Quad quad_of(const std::uint32_t (&levels)[4]) {
    if constexpr (sizeof(Sample) == 1)
      return {{__byte_perm(__byte_perm(levels[0], levels[1], 0x0040),
                           __byte_perm(levels[2], levels[3], 0x0040), 0x5410)}};
    else
      return {{levels[0] | levels[1] << 16, levels[2] | levels[3] << 16}};
  }

  /// A place in the input and in the output, which moves down row by row.
  class Place {
   public:
    __device__ Place(const GuidedArguments& a, const FilteredPicture& picture, int x, int y)
        : value_(reinterpret_cast<const Sample*>(
                     picture.values + static_cast<std::int64_t>(picture.values_pitch) * y) +
                 x),
          out_(picture.out + static_cast<std::int64_t>(picture.out_pitch) * y +
               static_cast<std::int64_t>(picture.step) * x),
          values_pitch_(picture.values_pitch),
          out_pitch_(picture.out_pitch),
          step_(picture.packed ? packed : picture.step),
          shift_(sizeof(Sample) == 1 ? 0 : a.shift) {}

    __device__ void next_row() {
      value_ = reinterpret_cast<const Sample*>(reinterpret_cast<const std::uint8_t*>(value_) +
                                               values_pitch_);
      out_ += out_pitch_;
    }

    __device__ Samples samples(int rows_below, int distance) const {
      const auto* const row = reinterpret_cast<const Sample*>(
          reinterpret_cast<const std::uint8_t*>(value_) + values_pitch_ * rows_below);
      if constexpr (sizeof(Sample) == 1) {
        return {{*reinterpret_cast<const std::uint32_t*>(row + distance)}};
      } else {
        const uint2 words = *reinterpret_cast<const uint2*>(row + distance);
        return {{words.x, words.y}};
      }
    }
    __device__ void store(int distance, const Quad& levels) const {
      if (step_ != packed) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          store_sample<Sample>(out_ + static_cast<std::int64_t>(step_) * (distance + i),
                               levels.words[i / per_word] >> i % per_word * 8 * sizeof(Sample)
                                                                 << shift_);
      } else if constexpr (sizeof(Sample) == 1) {
        __stcs(reinterpret_cast<std::uint32_t*>(out_ + distance), levels.words[0]);
      } else {
        __stcs(reinterpret_cast<uint2*>(out_ + 2 * distance),
               make_uint2(levels.words[0] << shift_, levels.words[1] << shift_));
      }
    }

   private:
    static constexpr int packed = 0;  ///< in place of a step
    static constexpr int per_word = 4 / sizeof(Sample);

    const Sample* value_;
    std::uint8_t* out_;
    int values_pitch_, out_pitch_, step_, shift_;
  };

  /// The place of one sample.
  class Single {
   public:
    __device__ Single(const GuidedArguments& a, const FilteredPicture& picture, int x, int y)
        : sample_(std::uint32_t{reinterpret_cast<const Sample*>(
                      picture.values + static_cast<std::int64_t>(picture.values_pitch) * y)[x]}
                  << (32 - (sizeof(Sample) == 1 ? 8 : a.scale.bits))),
          out_(picture.out + static_cast<std::int64_t>(picture.out_pitch) * y +
               static_cast<std::int64_t>(picture.step) * x),
          shift_(sizeof(Sample) == 1 ? 0 : a.shift) {}
    /// Returns 2^(32 − bits) times the sample.
    __device__ std::uint32_t sample() const { return sample_; }
    __device__ void store(std::uint32_t level) const {
      store_sample<Sample>(out_, level << shift_);
    }

   private:
    std::uint32_t sample_;
    std::uint8_t* out_;
    int shift_;
  };

  static __device__ std::uint32_t value(std::uint32_t sample, const SumPair<Sum>& sums,
                                        const Window& window) {
    return window.level_of(sample, sums.first + (sums.second << 16), sums.second);
  }
};

}  // namespace cudavision::guided
