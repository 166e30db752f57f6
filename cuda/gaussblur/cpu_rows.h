// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Inner loops of the blur on the CPU, over a part of a row. Rows are addressed in bytes and need no
// alignment. The loops have target clones for vectorisation, no branches that depend on the row,
// and the narrowest SIMD lanes that hold the sums.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"

namespace cudavision::gaussblur {

struct StoredSamples {
  int bytes;  ///< per sample, 1 or 2
  int shift;
  std::uint32_t largest;
};

inline void store_value(std::uint8_t* row, std::ptrdiff_t x, StoredSamples stored,
                        std::uint32_t value) {
  if (stored.bytes == 1)
    row[x] = static_cast<std::uint8_t>(value);
  else
    store16(row + 2 * x, value << stored.shift);
}

/// A row and pairs of rows around it, or shifted copies of one row. Each pair shares one weight.
struct WeightedRows {
  const std::uint8_t* centre;
  std::uint32_t centre_weight;
  int pair_count;
  const std::uint8_t* const* pairs;  ///< 2·pair_count rows; the two rows of a pair are adjacent
  const std::uint32_t* weights;      ///< one per pair
};

struct LoadByte {
  static constexpr std::ptrdiff_t bytes = 1;
  [[gnu::always_inline]] std::uint8_t operator()(const std::uint8_t* row, std::ptrdiff_t x) const {
    return row[x];
  }
};

struct LoadWord {
  static constexpr std::ptrdiff_t bytes = 2;
  [[gnu::always_inline]] std::uint16_t operator()(const std::uint8_t* row, std::ptrdiff_t x) const {
    return load16(row + 2 * x);
  }
};

struct LoadValue {
  static constexpr std::ptrdiff_t bytes = 2;
  int shift;
  std::uint16_t largest;
  [[gnu::always_inline]] std::uint16_t operator()(const std::uint8_t* row, std::ptrdiff_t x) const {
    const auto value = static_cast<std::uint16_t>(LoadWord{}(row, x) >> shift);
    return std::min(value, largest);
  }
};

inline LoadValue value_of(StoredSamples stored) {
  return {stored.shift, static_cast<std::uint16_t>(stored.largest)};
}

template <int kPairs, class Sum, class Load>
[[gnu::always_inline]] inline void add_pairs(const std::uint8_t* const* pairs,
                                             const std::uint32_t* weights, std::ptrdiff_t begin,
                                             int count, Load load, Sum* __restrict sums) {
  const std::uint8_t* rows[2 * kPairs];
  Sum weight[kPairs];
  for (int i = 0; i < 2 * kPairs; ++i)
    rows[i] = pairs[i] + begin * Load::bytes;
  for (int i = 0; i < kPairs; ++i)
    weight[i] = static_cast<Sum>(weights[i]);
  for (int x = 0; x < count; ++x) {
    Sum sum = sums[x];
    for (int i = 0; i < kPairs; ++i) {
      const auto both = static_cast<Sum>(Sum{load(rows[2 * i], x)} + load(rows[2 * i + 1], x));
      sum = static_cast<Sum>(sum + static_cast<Sum>(weight[i] * both));
    }
    sums[x] = sum;
  }
}

template <class Sum, class Load>
CUDAVISION_TARGET_CLONES void weigh_with(const WeightedRows& rows, std::ptrdiff_t begin, int count,
                                         Load load, Sum* __restrict sums) {
  const auto centre_weight = static_cast<Sum>(rows.centre_weight);
  const std::uint8_t* centre = rows.centre + begin * Load::bytes;
  for (int x = 0; x < count; ++x)
    sums[x] = static_cast<Sum>(centre_weight * load(centre, x));

  // Adds four pairs per load and store of the sums, as many as registers allow.
  const std::uint8_t* const* pairs = rows.pairs;
  const std::uint32_t* weights = rows.weights;
  int left = rows.pair_count;
  for (; left >= 4; left -= 4, pairs += 8, weights += 4)
    add_pairs<4>(pairs, weights, begin, count, load, sums);
  if (left == 3)
    add_pairs<3>(pairs, weights, begin, count, load, sums);
  else if (left == 2)
    add_pairs<2>(pairs, weights, begin, count, load, sums);
  else if (left == 1)
    add_pairs<1>(pairs, weights, begin, count, load, sums);
}

/// sums[x − begin] = Σ weight·row[x] for begin ≤ x < end. 16 bits suffice for bytes if the weights
/// add up to at most 256.
template <class Sum>
void weigh(const WeightedRows& rows, StoredSamples stored, int begin, int end, Sum* sums) {
  if constexpr (sizeof(Sum) == 4)
    if (stored.bytes == 2) {
      if (stored.shift == 0 && stored.largest == 0xffff)
        weigh_with(rows, begin, end - begin, LoadWord{}, sums);
      else
        weigh_with(rows, begin, end - begin, value_of(stored), sums);
      return;
    }
  weigh_with(rows, begin, end - begin, LoadByte{}, sums);
}

template <class Sum, class Half>
CUDAVISION_TARGET_CLONES void split(const Sum* __restrict sums, int count, Half* __restrict high,
                                    Half* __restrict low) {
  for (int x = 0; x < count; ++x) {
    high[x] = static_cast<Half>(sums[x] >> (8 * sizeof(Half)));
    low[x] = static_cast<Half>(sums[x]);
  }
}

/// values = (high·2^b + low) / 2^2b, rounded half up. b is half the bits of a sum.
template <class Sum, class Value>
CUDAVISION_TARGET_CLONES void round_halves(const Sum* __restrict high, const Sum* __restrict low,
                                           int count, Value* __restrict values) {
  constexpr int bits = 4 * sizeof(Sum);
  constexpr Sum half = Sum{1} << (bits - 1);
  // Cannot overflow: high + low / 2^b is at most the largest sample times 2^b.
  for (int x = 0; x < count; ++x)
    values[x] = static_cast<Value>(
        static_cast<Sum>(static_cast<Sum>(high[x] + static_cast<Sum>(low[x] >> bits)) + half) >>
        bits);
}

template <class Value, class Load>
CUDAVISION_TARGET_CLONES void sharpen_with(const std::uint8_t* source, int count, Load load,
                                           int largest, Value* __restrict values) {
  for (int x = 0; x < count; ++x)
    values[x] = static_cast<Value>(std::clamp(2 * load(source, x) - values[x], 0, largest));
}

template <class Value>
void sharpen(const std::uint8_t* source, StoredSamples stored, int count, Value* values) {
  if constexpr (sizeof(Value) == 1)
    sharpen_with(source, count, LoadByte{}, 255, values);
  else
    sharpen_with(source, count, value_of(stored), static_cast<int>(stored.largest), values);
}

template <class Value>
CUDAVISION_TARGET_CLONES void store_masked(const Value* __restrict values, int shift, int count,
                                           const std::uint8_t* __restrict mask,
                                           std::uint8_t* __restrict row) {
  for (std::ptrdiff_t x = 0; x < count; ++x)
    if constexpr (sizeof(Value) == 1) {
      row[x] = static_cast<std::uint8_t>((row[x] & ~mask[x]) | (values[x] & mask[x]));
    } else {
      const std::uint16_t old = load16(row + 2 * x);
      store16(row + 2 * x, mask[x] ? static_cast<std::uint16_t>(values[x] << shift) : old);
    }
}

CUDAVISION_TARGET_CLONES
inline void store_words(const std::uint16_t* __restrict values, int shift, int count,
                        std::uint8_t* __restrict row) {
  for (std::ptrdiff_t x = 0; x < count; ++x)
    store16(row + 2 * x, std::uint32_t{values[x]} << shift);
}

/// If mask is not nullptr, stores only the values whose mask byte is not 0.
template <class Value>
void store(const Value* values, StoredSamples stored, int count, const std::uint8_t* mask,
           std::uint8_t* row) {
  if (mask)
    store_masked(values, stored.shift, count, mask, row);
  else if constexpr (sizeof(Value) == 1)
    std::memcpy(row, values, static_cast<std::size_t>(count));
  else
    store_words(values, stored.shift, count, row);
}

}  // namespace cudavision::gaussblur
