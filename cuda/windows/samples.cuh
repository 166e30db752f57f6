// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Loads the samples on which the results of some passes depend, and stores results.

#include <type_traits>

#include "cuda/windows/sums.cuh"

namespace cudavision::windows {

template <class Sample>
struct Samples : Elements<Sample, 4> {
  /// Waits for the loads: uses the samples in a shuffle, which the compiler cannot move.
  __device__ void wait_for_loads(int lane) {
    for (std::uint32_t& word : this->words)
      word = __shfl_sync(~0u, word, lane);
  }
};

struct NoSamples {
  __device__ std::uint32_t at(int) const { return 0; }
  __device__ void wait_for_loads(int) {}
};

/// Position of one result of kBytes bytes (0: Picture::out_bytes), maybe unaligned, and its sample.
template <class Sample, bool kReadsSamples, int kBytes>
class ResultPosition {
 public:
  __device__ ResultPosition(const Picture& picture, int x, int y)
      : row_(picture.values + static_cast<std::int64_t>(picture.values_pitch) * y +
             x * static_cast<int>(sizeof(Sample))),
        out_(picture.out + static_cast<std::int64_t>(picture.out_pitch) * y +
             static_cast<std::int64_t>(picture.out_step) * x),
        bytes_(kBytes == 0 ? picture.out_bytes : kBytes),
        shift_(kBytes == 1 ? 0 : picture.out_shift) {}

  __device__ std::uint32_t sample() const {
    return kReadsSamples ? *reinterpret_cast<const Sample*>(row_) : 0;
  }
  __device__ void store(std::uint32_t result) const { store_at(out_, result << shift_); }

 protected:
  __device__ void store_at(std::uint8_t* to, std::uint32_t word) const {
    to[0] = static_cast<std::uint8_t>(word);
    if (bytes_ == 2)
      to[1] = static_cast<std::uint8_t>(word >> 8);
  }

  const std::uint8_t* row_;
  std::uint8_t* out_;
  int bytes_, shift_;
};

/// Position of four adjacent results. Moves down row by row.
template <class Sample, bool kReadsSamples, int kBytes>
class QuadPosition : public ResultPosition<Sample, kReadsSamples, kBytes> {
 public:
  using Samples = std::conditional_t<kReadsSamples, windows::Samples<Sample>, NoSamples>;
  struct Quad {
    std::uint32_t words[2];
  };

  __device__ QuadPosition(const Picture& picture, int x, int y)
      : ResultPosition<Sample, kReadsSamples, kBytes>(picture, x, y),
        values_pitch_(picture.values_pitch),
        out_pitch_(picture.out_pitch),
        step_(picture.packed ? packed : picture.out_step) {}
  __device__ void next_row() {
    this->row_ += values_pitch_;
    this->out_ += out_pitch_;
  }

  __device__ Samples samples(int rows_below, int distance) const {
    if constexpr (!kReadsSamples) {
      return {};
    } else {
      const std::uint8_t* const from =
          this->row_ + values_pitch_ * rows_below + distance * static_cast<int>(sizeof(Sample));
      if constexpr (sizeof(Sample) == 1) {
        return {{{*reinterpret_cast<const std::uint32_t*>(from)}}};
      } else {
        const uint2 words = *reinterpret_cast<const uint2*>(from);
        return {{{words.x, words.y}}};
      }
    }
  }

  /// Packs four results into the bytes of one word, or into the halves of two words.
  __device__ Quad quad_of(const std::uint32_t (&results)[4]) const {
    const std::uint32_t halves[2] = {__byte_perm(results[0], results[1], 0x5410),
                                     __byte_perm(results[2], results[3], 0x5410)};
    if (this->bytes_ == 1)
      return {{__byte_perm(halves[0], halves[1], 0x6420), 0}};
    return {{halves[0] << this->shift_, halves[1] << this->shift_}};
  }
  __device__ void store(int distance, const Quad& quad) const {
    if (step_ != packed) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        this->store_at(
            this->out_ + static_cast<std::int64_t>(step_) * (distance + i),
            this->bytes_ == 1 ? quad.words[0] >> (8 * i) : quad.words[i / 2] >> (16 * (i % 2)));
    } else if (this->bytes_ == 1) {
      __stcs(reinterpret_cast<std::uint32_t*>(this->out_ + distance), quad.words[0]);
    } else {
      __stcs(reinterpret_cast<uint2*>(this->out_ + 2 * distance),
             make_uint2(quad.words[0], quad.words[1]));
    }
  }

 private:
  static constexpr int packed = 0;  // value of step_ for packed results

  int values_pitch_, out_pitch_, step_;
};

}  // namespace cudavision::windows
