// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/gaussblur/cpu_rows.h"

#include <algorithm>

#include "cuda/core/parallel.h"

// The compiler vectorises every loop here in each of its target clones. So whatever depends on the
// row is decided outside of the loop, and lanes are as narrow as the sums allow.

namespace cudavision::gaussblur {
namespace {

// The ways to load sample x of a row.

struct LoadByte {
  static constexpr std::ptrdiff_t bytes = 1;
  [[gnu::always_inline]] std::uint8_t operator()(const std::uint8_t* row, std::ptrdiff_t x) const {
    return row[x];
  }
};

struct LoadWord {
  static constexpr std::ptrdiff_t bytes = 2;
  [[gnu::always_inline]] std::uint16_t operator()(const std::uint8_t* row, std::ptrdiff_t x) const {
    std::uint16_t word;
    std::memcpy(&word, row + 2 * x, sizeof word);
    return word;
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

LoadValue value_of(StoredSamples stored) {
  return {stored.shift, static_cast<std::uint16_t>(stored.largest)};
}

/// Returns true if words need neither shifting nor clamping.
bool plain_words(StoredSamples stored) {
  return stored.shift == 0 && stored.largest == 0xffff;
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
[[gnu::always_inline]] inline void weigh_with(const WeightedRows& rows, std::ptrdiff_t begin,
                                              int count, Load load, Sum* __restrict sums) {
  const auto centre_weight = static_cast<Sum>(rows.centre_weight);
  const std::uint8_t* centre = rows.centre + begin * Load::bytes;
  for (int x = 0; x < count; ++x)
    sums[x] = static_cast<Sum>(centre_weight * load(centre, x));

  // Pairs are added four at a time, as many as there are registers for, so that the sums are loaded
  // and stored once for all four.
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

CUDAVISION_TARGET_CLONES
void weigh_bytes(const WeightedRows& rows, int begin, int count, std::uint16_t* sums) {
  weigh_with(rows, begin, count, LoadByte{}, sums);
}

CUDAVISION_TARGET_CLONES
void weigh_bytes_wide(const WeightedRows& rows, int begin, int count, std::uint32_t* sums) {
  weigh_with(rows, begin, count, LoadByte{}, sums);
}

CUDAVISION_TARGET_CLONES
void weigh_words(const WeightedRows& rows, int begin, int count, std::uint32_t* sums) {
  weigh_with(rows, begin, count, LoadWord{}, sums);
}

CUDAVISION_TARGET_CLONES
void weigh_values(const WeightedRows& rows, int begin, int count, LoadValue load,
                  std::uint32_t* sums) {
  weigh_with(rows, begin, count, load, sums);
}

template <class Sum, class Half>
[[gnu::always_inline]] inline void split_with(const Sum* __restrict sums, int count,
                                              Half* __restrict high, Half* __restrict low) {
  for (int x = 0; x < count; ++x) {
    high[x] = static_cast<Half>(sums[x] >> (8 * sizeof(Half)));
    low[x] = static_cast<Half>(sums[x]);
  }
}

template <class Sum, class Value>
[[gnu::always_inline]] inline void round_with(const Sum* __restrict high, const Sum* __restrict low,
                                              int count, Value* __restrict values) {
  constexpr int bits = 4 * sizeof(Sum);
  constexpr Sum half = Sum{1} << (bits - 1);
  // This does not overflow: high + low / 2^b is at most the largest sample times 2^b.
  for (int x = 0; x < count; ++x)
    values[x] = static_cast<Value>(
        static_cast<Sum>(static_cast<Sum>(high[x] + static_cast<Sum>(low[x] >> bits)) + half) >>
        bits);
}

template <class Value, class Load>
[[gnu::always_inline]] inline void sharpen_with(const std::uint8_t* source, int count, Load load,
                                                int largest, Value* __restrict values) {
  for (int x = 0; x < count; ++x)
    values[x] = static_cast<Value>(std::clamp(2 * load(source, x) - values[x], 0, largest));
}

CUDAVISION_TARGET_CLONES
void store_masked(const std::uint8_t* __restrict values, int count,
                  const std::uint8_t* __restrict mask, std::uint8_t* __restrict row) {
  for (int x = 0; x < count; ++x)
    row[x] = static_cast<std::uint8_t>((row[x] & ~mask[x]) | (values[x] & mask[x]));
}

CUDAVISION_TARGET_CLONES
void store_words(const std::uint16_t* __restrict values, int shift, int count,
                 std::uint8_t* __restrict row) {
  for (int x = 0; x < count; ++x) {
    const auto word = static_cast<std::uint16_t>(values[x] << shift);
    std::memcpy(row + 2 * static_cast<std::ptrdiff_t>(x), &word, sizeof word);
  }
}

CUDAVISION_TARGET_CLONES
void store_words_masked(const std::uint16_t* __restrict values, int shift, int count,
                        const std::uint8_t* __restrict mask, std::uint8_t* __restrict row) {
  for (int x = 0; x < count; ++x) {
    const std::uint16_t old = LoadWord{}(row, x);
    const auto word = mask[x] ? static_cast<std::uint16_t>(values[x] << shift) : old;
    std::memcpy(row + 2 * static_cast<std::ptrdiff_t>(x), &word, sizeof word);
  }
}

}  // namespace

void weigh(const WeightedRows& rows, StoredSamples, int begin, int end, std::uint16_t* sums) {
  weigh_bytes(rows, begin, end - begin, sums);
}

void weigh(const WeightedRows& rows, StoredSamples stored, int begin, int end,
           std::uint32_t* sums) {
  if (stored.bytes == 1)
    weigh_bytes_wide(rows, begin, end - begin, sums);
  else if (plain_words(stored))
    weigh_words(rows, begin, end - begin, sums);
  else
    weigh_values(rows, begin, end - begin, value_of(stored), sums);
}

CUDAVISION_TARGET_CLONES
void split(const std::uint16_t* sums, int count, std::uint8_t* high, std::uint8_t* low) {
  split_with(sums, count, high, low);
}

CUDAVISION_TARGET_CLONES
void split(const std::uint32_t* sums, int count, std::uint16_t* high, std::uint16_t* low) {
  split_with(sums, count, high, low);
}

CUDAVISION_TARGET_CLONES
void round_halves(const std::uint16_t* high, const std::uint16_t* low, int count,
                  std::uint8_t* values) {
  round_with(high, low, count, values);
}

CUDAVISION_TARGET_CLONES
void round_halves(const std::uint32_t* high, const std::uint32_t* low, int count,
                  std::uint8_t* values) {
  round_with(high, low, count, values);
}

CUDAVISION_TARGET_CLONES
void round_halves(const std::uint32_t* high, const std::uint32_t* low, int count,
                  std::uint16_t* values) {
  round_with(high, low, count, values);
}

CUDAVISION_TARGET_CLONES
void sharpen(const std::uint8_t* source, StoredSamples, int count, std::uint8_t* values) {
  sharpen_with(source, count, LoadByte{}, 255, values);
}

CUDAVISION_TARGET_CLONES
void sharpen(const std::uint8_t* source, StoredSamples stored, int count, std::uint16_t* values) {
  sharpen_with(source, count, value_of(stored), static_cast<int>(stored.largest), values);
}

void store(const std::uint8_t* values, StoredSamples, int count, const std::uint8_t* mask,
           std::uint8_t* row) {
  if (mask)
    store_masked(values, count, mask, row);
  else
    std::memcpy(row, values, static_cast<std::size_t>(count));
}

void store(const std::uint16_t* values, StoredSamples stored, int count, const std::uint8_t* mask,
           std::uint8_t* row) {
  if (mask)
    store_words_masked(values, stored.shift, count, mask, row);
  else
    store_words(values, stored.shift, count, row);
}

}  // namespace cudavision::gaussblur
