// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the samples that results depend on, and the places of results.

#include "cuda/windows/picture.h"

namespace cudavision::windows {

/// Four neighbouring samples, or results as they are stored.
template <class Sample>
struct FourSamples {
  static constexpr int per_word = 4 / sizeof(Sample);
  std::uint32_t words[sizeof(Sample)];

  template <class Settings>
  __device__ std::uint32_t at(int i, const Settings&) const {
    if constexpr (sizeof(Sample) == 1)
      return __byte_perm(words[0], 0, 0x4440 | i);
    else
      return __byte_perm(words[i / 2], 0, i % 2 == 0 ? 0x4410 : 0x4432);
  }
  /// Makes words that no longer depend on the loads that they come from.
  __device__ void settle(int lane) {
    for (std::uint32_t& word : words)
      word = __shfl_sync(~0u, word, lane);
  }
};

/// For results that do not depend on the samples themselves.
struct NoSamples {
  template <class Settings>
  __device__ std::uint32_t at(int, const Settings&) const {
    return 0;
  }
  __device__ void settle(int) {}
};

/// Four neighbouring samples, which move down row by row.
template <class Sample>
class SamplePlace {
 public:
  __device__ SamplePlace(const Picture& picture, int x, int y)
      : row_(picture.values + static_cast<std::int64_t>(picture.values_pitch) * y +
             x * static_cast<int>(sizeof(Sample))),
        pitch_(picture.values_pitch) {}
  __device__ void next_row() { row_ += pitch_; }

  __device__ std::uint32_t one() const { return *reinterpret_cast<const Sample*>(row_); }
  __device__ FourSamples<Sample> load(int rows_below, int distance) const {
    const std::uint8_t* const from =
        row_ + pitch_ * rows_below + distance * static_cast<int>(sizeof(Sample));
    if constexpr (sizeof(Sample) == 1) {
      return {{*reinterpret_cast<const std::uint32_t*>(from)}};
    } else {
      const uint2 words = *reinterpret_cast<const uint2*>(from);
      return {{words.x, words.y}};
    }
  }

 private:
  const std::uint8_t* row_;
  int pitch_;
};

/// Four neighbouring results, which move down row by row.
class ResultPlace {
 public:
  __device__ ResultPlace(const Picture& picture, int x, int y)
      : row_(picture.out + static_cast<std::int64_t>(picture.out_pitch) * y +
             static_cast<std::int64_t>(picture.out_step) * x),
        pitch_(picture.out_pitch),
        step_(picture.packed ? packed : picture.out_step) {}
  __device__ void next_row() { row_ += pitch_; }

  /// Stores one result, which need not be aligned.
  template <class Result>
  static __device__ void store_one(std::uint8_t* to, std::uint32_t word) {
    to[0] = static_cast<std::uint8_t>(word);
    if constexpr (sizeof(Result) == 2)
      to[1] = static_cast<std::uint8_t>(word >> 8);
  }
  template <class Result>
  __device__ void store_one(std::uint32_t word) const {
    store_one<Result>(row_, word);
  }

  template <class Result>
  __device__ void store(int distance, const FourSamples<Result>& results) const {
    constexpr int kPerWord = FourSamples<Result>::per_word;
    if (step_ != packed) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        store_one<Result>(row_ + static_cast<std::int64_t>(step_) * (distance + i),
                          results.words[i / kPerWord] >> i % kPerWord * 8 * sizeof(Result));
    } else if constexpr (sizeof(Result) == 1) {
      __stcs(reinterpret_cast<std::uint32_t*>(row_ + distance), results.words[0]);
    } else {
      __stcs(reinterpret_cast<uint2*>(row_ + 2 * distance),
             make_uint2(results.words[0], results.words[1]));
    }
  }

 private:
  static constexpr int packed = 0;  // in place of a step

  std::uint8_t* row_;
  int pitch_, step_;
};

}  // namespace cudavision::windows
