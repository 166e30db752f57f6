// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How kernels of this folder share out rows. A thread takes a chunk, 16 bytes of each stored plane,
// and the pixels after the last whole chunk of a row have a thread each. Where rows do not lie at
// multiples of 16 bytes there are no chunks, and each pixel has a thread.

#include <cstdint>

#include "cuda/core/division.h"
#include "cuda/repack/word_pairs.h"

namespace cudavision::repack {

constexpr unsigned max_threads = 256;

/// The threads of a row of blocks.
struct Units {
  int width;      ///< pixels
  int chunks;     ///< of a row
  int in_chunks;  ///< pixels
  Division blocks_per_row;

  __device__ int pixel(int unit) const { return in_chunks + unit - chunks; }
};

/// A thread's place in its row, and the number of the row of blocks.
struct Unit {
  int unit, row;
};

__device__ inline Unit find_unit(const Units& units, unsigned block) {
  const unsigned row = quotient(block, units.blocks_per_row);
  const unsigned in_row = block - row * units.blocks_per_row.divisor;
  return {static_cast<int>(in_row * blockDim.x + threadIdx.x), static_cast<int>(row)};
}

/// Words of two bytes, or of four.
template <class Word>
__device__ std::uint32_t load_unaligned(const std::uint8_t* from) {
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(Word) == 0)
    return load_word<Word, true>(from);
  return load_word<Word, false>(from);
}

template <class Word>
__device__ void store_unaligned(std::uint8_t* to, std::uint32_t word) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Word) == 0)
    store_word<Word, true>(to, word);
  else
    store_word<Word, false>(to, word);
}

/// kWords words of four bytes, at a multiple of their size.
template <int kWords>
__device__ void load_chunk(const std::uint8_t* from, std::uint32_t* words) {
  if constexpr (kWords == 4) {
    load_words(from, words);
  } else if constexpr (kWords == 2) {
    const uint2 loaded = __ldg(reinterpret_cast<const uint2*>(from));
    words[0] = loaded.x;
    words[1] = loaded.y;
  } else {
    static_assert(kWords == 1);
    words[0] = __ldg(reinterpret_cast<const std::uint32_t*>(from));
  }
}

template <int kWords>
__device__ void store_chunk(std::uint8_t* to, const std::uint32_t* words) {
  if constexpr (kWords == 4) {
    store_words(to, words);
  } else if constexpr (kWords == 2) {
    *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
  } else {
    static_assert(kWords == 1);
    *reinterpret_cast<std::uint32_t*>(to) = words[0];
  }
}

/// One sample of two bytes, at any address.
__device__ inline std::uint32_t load_value(const PairCoding& coding, const std::uint8_t* from) {
  const std::uint32_t word = select_bytes(load_unaligned<std::uint16_t>(from), 0, coding.both);
  return values_of_words(word, coding);
}

__device__ inline void store_value(const PairCoding& coding, std::uint8_t* to,
                                   std::uint32_t value) {
  store_unaligned<std::uint16_t>(to, select_bytes(words_of_values(value, coding), 0, coding.both));
}

}  // namespace cudavision::repack
