// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: what the two passes of the guided filter read, and what they make of the sums of a
// window. The first one makes a word of each window of samples; the second one adds up words.

#include <type_traits>

#include "cuda/guided/columns.cuh"

namespace cudavision::guided {

/// kNarrow tells whether all windows are narrow, and Sum is the type of their sums.
template <class Sample, class AnySum, bool kNarrowWindows>
struct LinesPass {
  using Element = Sample;
  using Sum = AnySum;
  static constexpr bool kNarrow = kNarrowWindows;

  static __device__ const Element* elements(const FilteredPicture& picture, int y) {
    return reinterpret_cast<const Sample*>(picture.values +
                                           static_cast<std::int64_t>(picture.values_pitch) * y);
  }
  static __device__ std::int64_t pitch(const FilteredPicture& picture) {
    return picture.values_pitch;
  }

  /// The first pass does not need the samples themselves.
  struct Samples {
    __device__ std::uint32_t at(int) const { return 0; }
  };
  static __device__ Samples samples(const FilteredPicture&, int, int) { return {}; }
  static __device__ std::uint32_t sample(const FilteredPicture&, int, int) { return 0; }

  template <class AnyWindow>
  static __device__ std::uint32_t value(std::uint32_t, const SumPair<Sum>& sums,
                                        const AnyWindow& window, int bits) {
    return line_of_window<kNarrow>(sums.first, sums.second, window, bits);
  }

  static __device__ void store(const GuidedArguments&, const FilteredPicture& picture, int x, int y,
                               const std::uint32_t (&values)[4]) {
    *reinterpret_cast<uint4*>(word(picture, x, y)) =
        make_uint4(values[0], values[1], values[2], values[3]);
  }
  static __device__ void store_one(const GuidedArguments&, const FilteredPicture& picture, int x,
                                   int y, std::uint32_t value) {
    *word(picture, x, y) = value;
  }

 private:
  static __device__ std::uint32_t* word(const FilteredPicture& picture, int x, int y) {
    return picture.words + static_cast<std::int64_t>(picture.words_pitch) * y + x;
  }
};

template <class Sample, bool kNarrowWindows>
struct LevelsPass {
  using Element = std::uint32_t;
  using Sum = std::conditional_t<kNarrowWindows, std::uint32_t, std::uint64_t>;
  static constexpr bool kNarrow = kNarrowWindows;

  static __device__ const Element* elements(const FilteredPicture& picture, int y) {
    return picture.words + static_cast<std::int64_t>(picture.words_pitch) * y;
  }
  static __device__ std::int64_t pitch(const FilteredPicture& picture) {
    return 4 * static_cast<std::int64_t>(picture.words_pitch);
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
  static __device__ Samples samples(const FilteredPicture& picture, int x, int y) {
    if constexpr (sizeof(Sample) == 1) {
      return {{*reinterpret_cast<const std::uint32_t*>(values(picture, y) + x)}};
    } else {
      const uint2 words = *reinterpret_cast<const uint2*>(values(picture, y) + x);
      return {{words.x, words.y}};
    }
  }
  static __device__ std::uint32_t sample(const FilteredPicture& picture, int x, int y) {
    return values(picture, y)[x];
  }

  template <class AnyWindow>
  static __device__ std::uint32_t value(std::uint32_t sample, const SumPair<Sum>& sums,
                                        const AnyWindow& window, int bits) {
    return level_of<kNarrow>(sample, sums.first - (sums.second << 16), sums.second, window, bits);
  }

  static __device__ void store(const GuidedArguments& a, const FilteredPicture& picture, int x,
                               int y, const std::uint32_t (&values)[4]) {
    if (!picture.packed) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        store_one(a, picture, x + i, y, values[i]);
    } else if constexpr (sizeof(Sample) == 1) {
      *reinterpret_cast<std::uint32_t*>(place(picture, x, y)) =
          __byte_perm(__byte_perm(values[0], values[1], 0x0040),
                      __byte_perm(values[2], values[3], 0x0040), 0x5410);
    } else {
      *reinterpret_cast<uint2*>(place(picture, x, y)) = make_uint2(
          (values[0] | values[1] << 16) << a.shift, (values[2] | values[3] << 16) << a.shift);
    }
  }
  static __device__ void store_one(const GuidedArguments& a, const FilteredPicture& picture, int x,
                                   int y, std::uint32_t value) {
    std::uint8_t* const to = place(picture, x, y);
    value <<= a.shift;
    to[0] = static_cast<std::uint8_t>(value);
    if constexpr (sizeof(Sample) == 2)
      to[1] = static_cast<std::uint8_t>(value >> 8);
  }

 private:
  static __device__ const Sample* values(const FilteredPicture& picture, int y) {
    return reinterpret_cast<const Sample*>(picture.values +
                                           static_cast<std::int64_t>(picture.values_pitch) * y);
  }
  static __device__ std::uint8_t* place(const FilteredPicture& picture, int x, int y) {
    return picture.out + static_cast<std::int64_t>(picture.out_pitch) * y +
           static_cast<std::int64_t>(picture.step) * x;
  }
};

}  // namespace cudavision::guided
