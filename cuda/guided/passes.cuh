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

/// kNarrow tells whether all windows are narrow, and Sum is the type of their sums.
template <class Sample, class AnySum, bool kNarrowWindows>
struct LinesPass {
  using Element = Sample;
  using Sum = AnySum;
  static constexpr bool kNarrow = kNarrowWindows;

  static __device__ int bits(const GuidedArguments& a) {
    return sizeof(Sample) == 1 ? 8 : a.scale.bits;
  }
  static __device__ const Element* elements(const FilteredPicture& picture) {
    return reinterpret_cast<const Sample*>(picture.values);
  }
  static __device__ int pitch(const FilteredPicture& picture) { return picture.values_pitch; }
  /// Returns the place of a column's element in a row.
  static __device__ int place_of(const FilteredPicture&, int column) { return column; }

  /// The first pass does not need the samples themselves.
  struct Samples {
    __device__ std::uint32_t at(int) const { return 0; }
  };

  /// A place in the output, which moves down row by row.
  class Place {
   public:
    __device__ Place(const GuidedArguments&, const FilteredPicture& picture, int x, int y)
        : word_(picture.words + 2 * static_cast<std::int64_t>(picture.half_pitch) * y +
                place_of_word(picture, x)),
          pitch_(2 * picture.half_pitch) {}
    __device__ void next_row() { word_ += pitch_; }

    __device__ Samples samples(int) const { return {}; }
    /// distance is a multiple of 128 samples, and i less than 4.
    __device__ void store(int distance, const std::uint32_t (&values)[4]) const {
      *reinterpret_cast<uint4*>(word_ + distance / 2) =
          make_uint4(values[0], values[1], values[2], values[3]);
    }
    __device__ void store_one(int distance, int i, std::uint32_t value) const {
      word_[distance / 2 + i] = value;
    }

   private:
    std::uint32_t* word_;
    int pitch_;
  };

  template <class AnyWindow>
  static __device__ std::uint32_t value(std::uint32_t, const SumPair<Sum>& sums,
                                        const AnyWindow& window, int bits) {
    return line_of_window<kNarrow>(sums.first, sums.second, window, bits);
  }
};

template <class Sample, bool kNarrowWindows>
struct LevelsPass {
  using Element = std::uint32_t;
  using Sum = std::conditional_t<kNarrowWindows, std::uint32_t, std::uint64_t>;
  static constexpr bool kNarrow = kNarrowWindows;

  static __device__ int bits(const GuidedArguments& a) {
    return sizeof(Sample) == 1 ? 8 : a.scale.bits;
  }
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

    __device__ std::uint32_t at(int i) const {
      if constexpr (sizeof(Sample) == 1)
        return __byte_perm(words[0], 0, 0x4440 | i);
      else
        return __byte_perm(words[i / 2], 0, i % 2 == 0 ? 0x4410 : 0x4432);
    }
  };

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

    __device__ Samples samples(int distance) const {
      if constexpr (sizeof(Sample) == 1) {
        return {{*reinterpret_cast<const std::uint32_t*>(value_ + distance)}};
      } else {
        const uint2 words = *reinterpret_cast<const uint2*>(value_ + distance);
        return {{words.x, words.y}};
      }
    }
    __device__ void store(int distance, const std::uint32_t (&values)[4]) const {
      if (step_ != packed) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          store_one(distance, i, values[i]);
      } else if constexpr (sizeof(Sample) == 1) {
        *reinterpret_cast<std::uint32_t*>(out_ + distance) =
            __byte_perm(__byte_perm(values[0], values[1], 0x0040),
                        __byte_perm(values[2], values[3], 0x0040), 0x5410);
      } else {
        *reinterpret_cast<uint2*>(out_ + 2 * distance) = make_uint2(
            (values[0] | values[1] << 16) << shift_, (values[2] | values[3] << 16) << shift_);
      }
    }
    __device__ void store_one(int distance, int i, std::uint32_t value) const {
      std::uint8_t* const to =
          out_ +
          static_cast<std::int64_t>(step_ == packed ? static_cast<int>(sizeof(Sample)) : step_) *
              (distance + i);
      value <<= shift_;
      to[0] = static_cast<std::uint8_t>(value);
      if constexpr (sizeof(Sample) == 2)
        to[1] = static_cast<std::uint8_t>(value >> 8);
    }

   private:
    static constexpr int packed = 0;  ///< in place of a step

    const Sample* value_;
    std::uint8_t* out_;
    int values_pitch_, out_pitch_, step_, shift_;
  };

  template <class AnyWindow>
  static __device__ std::uint32_t value(std::uint32_t sample, const SumPair<Sum>& sums,
                                        const AnyWindow& window, int bits) {
    return level_of<kNarrow>(sample, sums.first - (sums.second << 16), sums.second, window, bits);
  }
};

}  // namespace cudavision::guided
