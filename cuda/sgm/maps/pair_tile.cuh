// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: a tile of a map and its picture in shared memory, with two neighbouring pixels per
// word. Windows have samples at even distances, so a thread can process both pixels of a word.

#include "cuda/sgm/half2.cuh"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

/// Map values and luminances of two pixels. Luminances are 8-bit levels / 64, as 16-bit floats.
struct alignas(8) Pair {
  std::uint32_t numbers, luminances;
};

struct PairSource {
  int width = 0, height = 0;
  const std::uint16_t* map = nullptr;
  Samples picture;
  int shift = 0;         ///< right shift from samples to 8-bit levels
  bool vectors = false;  ///< true if alignment allows loading four pixels at once

  PairSource() = default;
  PairSource(const StageConfig& config, const SamplePlane& plane, const std::uint16_t* map)
      : width(config.width),
        height(config.height),
        map(map),
        picture(plane),
        shift(plane.bits - 8),
        vectors(width % 4 == 0 && reinterpret_cast<std::uintptr_t>(map) % 8 == 0 &&
                picture.has_words_of_four()) {}
};

/// Returns 0xffff in each half whose highest bit is set.
__device__ inline std::uint32_t halves_with_sign(std::uint32_t word) {
  return (word >> 15 & 0x00010001) * 0xffff;
}

/// Four neighbouring pixels of the map and of the picture, whose samples have kBytes bytes.
template <int kBytes>
struct FourPixels {
  std::uint32_t numbers[2] = {0xffffffff, 0xffffffff};  ///< initially unknown
  std::uint32_t samples[kBytes] = {};

  /// x is a multiple of 4. Pixels outside the picture stay unknown.
  template <bool kVectors>
  __device__ void load(const PairSource& from, int x, int y) {
    if (y < 0 || y >= from.height || x < 0 || x >= from.width)
      return;
    const std::uint16_t* const row = from.map + static_cast<std::int64_t>(y) * from.width + x;
    const std::uint8_t* const picture =
        from.picture.data + from.picture.pitch * y + static_cast<std::int64_t>(kBytes) * x;
    if constexpr (kVectors) {
      const uint2 four = *reinterpret_cast<const uint2*>(row);
      numbers[0] = four.x, numbers[1] = four.y;
      if constexpr (kBytes == 1) {
        samples[0] = *reinterpret_cast<const std::uint32_t*>(picture);
      } else {
        const uint2 words = *reinterpret_cast<const uint2*>(picture);
        samples[0] = words.x, samples[1] = words.y;
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (x + i >= from.width)
          break;
        numbers[i / 2] ^= (std::uint32_t{row[i]} ^ unknown) << 16 * (i % 2);
#pragma unroll
        for (int byte = i * kBytes; byte < (i + 1) * kBytes; ++byte)
          samples[byte / 4] |= std::uint32_t{picture[byte]} << 8 * (byte % 4);
      }
    }
  }

  /// Unknown pixels get the value kUnknown and an infinite luminance, so that their weight is 0.
  template <std::uint16_t kUnknown>
  __device__ uint4 pairs(const PairSource& from) const {
    std::uint32_t levels[2];
    if constexpr (kBytes == 1) {
      levels[0] = __byte_perm(samples[0], 0, 0x4140);
      levels[1] = __byte_perm(samples[0], 0, 0x4342);
    } else {
      const auto level = [&](std::uint32_t word) {
        return sample_value(word & 0xffff, from.picture.shift, from.picture.largest) >> from.shift;
      };
#pragma unroll
      for (int i = 0; i < 2; ++i)
        levels[i] = level(samples[i]) | level(samples[i] >> 16) << 16;
    }
    const Pair first = pair_of<kUnknown>(numbers[0], levels[0]);
    const Pair second = pair_of<kUnknown>(numbers[1], levels[1]);
    return {first.numbers, first.luminances, second.numbers, second.luminances};
  }

 private:
  template <std::uint16_t kUnknown>
  static __device__ Pair pair_of(std::uint32_t numbers, std::uint32_t levels) {
    const std::uint32_t is_unknown = halves_with_sign(numbers);
    // Divides the levels by 64, exactly: (1024 + level) / 64 − 16.
    const std::uint32_t luminances = bits_of(
        __hfma2(floats_of(luminance_0 * 0x00010001 + levels), twice(0x2400), twice(0xcc00)));
    return {(numbers & ~is_unknown) | (0x00010001u * kUnknown & is_unknown),
            (luminances & ~is_unknown) | (0x00010001u * infinity & is_unknown)};
  }
};

/// A tile of kWidth × kHeight pixels, with a halo of kHalo pixels. load() may load fewer rows. Rows
/// end with kPadding unused pairs, to avoid bank conflicts.
template <int kWidth, int kHeight, int kHalo, int kPadding = 0>
struct PairTile {
  static constexpr int width = kWidth, height = kHeight, halo = kHalo;
  static constexpr int row_pairs = (kWidth + 2 * kHalo) / 2;
  static constexpr int rows = kHeight + 2 * kHalo;
  static constexpr int pitch = row_pairs + kPadding;  ///< in pairs
  static constexpr int size = pitch * rows;

  static __device__ constexpr int index_of(int x, int y) { return y * pitch + x / 2; }

  /// (x, y) is the tile's first pixel. All loads of a thread are in flight at once.
  template <int kThreads, int kBytes, std::uint16_t kUnknown>
  static __device__ void load(const PairSource& from, int x, int y, int height, Pair* samples) {
    const int vectors = row_vectors * (height + 2 * kHalo);
    if (from.vectors)
      load_some<kThreads, kBytes, kUnknown, true>(from, x - kHalo, y - kHalo, vectors, samples);
    else
      load_some<kThreads, kBytes, kUnknown, false>(from, x - kHalo, y - kHalo, vectors, samples);
    __syncthreads();
  }

 private:
  static constexpr int row_vectors = row_pairs / 2;
  static_assert(row_pairs % 2 == 0 && pitch % 2 == 0 && kHalo % 4 == 0);

  template <int kThreads, int kBytes, std::uint16_t kUnknown, bool kVectors>
  static __device__ void load_some(const PairSource& from, int x, int y, int vectors,
                                   Pair* samples) {
    constexpr int rounds = (row_vectors * rows + kThreads - 1) / kThreads;
    const int thread = static_cast<int>(threadIdx.x);
    FourPixels<kBytes> loaded[rounds];
#pragma unroll
    for (int i = 0; i < rounds; ++i)
      if (const int vector = thread + i * kThreads, row = vector / row_vectors; vector < vectors)
        loaded[i].template load<kVectors>(from, x + 4 * (vector - row * row_vectors), y + row);
#pragma unroll
    for (int i = 0; i < rounds; ++i)
      if (const int vector = thread + i * kThreads, row = vector / row_vectors; vector < vectors)
        reinterpret_cast<uint4*>(samples)[row * (pitch / 2) + vector - row * row_vectors] =
            loaded[i].template pairs<kUnknown>(from);
  }
};

/// nearness_of() returns bits_of_128 + 7 − min(7, d >> 3) per half, for a difference of d levels.
constexpr std::uint32_t bits_of_128 = 0x58005800;
__device__ inline std::uint32_t nearness_of(__half2 differences) {
  // nearness = max(0, 59.5 − d) / 64
  const __half2 nearness = __hadd2_sat(twice(0x3b70), __hneg2(__habs2(differences)));
  // 16-bit floats from 128 to 256 are multiples of 1/8, so adding 128 rounds to eighths.
  return bits_of(__hadd2_rn(nearness, floats_of(bits_of_128)));
}

}  // namespace cudavision::sgm
