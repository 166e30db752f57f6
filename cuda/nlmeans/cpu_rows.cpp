// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/nlmeans/cpu_rows.h"

#include <algorithm>

#include "cuda/core/parallel.h"

// The compiler vectorises every loop of a function with target clones.

namespace cudavision::nlmeans {
namespace {

template <class Sample>
[[gnu::always_inline]] inline std::uint32_t squared_difference(Sample a, Sample b) {
  // In this arithmetic modulo 2^32, the square of a negative difference is right as well.
  const std::uint32_t difference = std::uint32_t{a} - std::uint32_t{b};
  return difference * difference;
}

template <class Sum>
[[gnu::always_inline]] inline void sum_all(const Sum* columns, int count, Sum* __restrict before) {
  Sum sum = 0;
  for (int x = 0; x < count; ++x) {
    before[x] = sum;
    sum += columns[x];
  }
  before[count] = sum;
}

template <class Sum>
[[gnu::always_inline]] inline void find_all(const Sum* before, int count, int patch,
                                            const PatchWeights& table,
                                            std::uint32_t* __restrict indices) {
  const Sum last = table.last;
  const int shift = table.shift;
  for (int x = 0; x < count; ++x)
    indices[x] = static_cast<std::uint32_t>(
        std::min(static_cast<Sum>(before[x + patch] - before[x]) >> shift, last));
}

}  // namespace

CUDAVISION_TARGET_CLONES
void add_squares(const std::uint8_t* a, const std::uint8_t* b, int count,
                 std::uint32_t* __restrict columns) {
  for (int x = 0; x < count; ++x)
    columns[x] += squared_difference(a[x], b[x]);
}

CUDAVISION_TARGET_CLONES
void add_squares(const std::uint16_t* a, const std::uint16_t* b, int count,
                 std::uint64_t* __restrict columns) {
  for (int x = 0; x < count; ++x)
    columns[x] += squared_difference(a[x], b[x]);
}

CUDAVISION_TARGET_CLONES
void slide_squares(const std::uint8_t* a, const std::uint8_t* b, const std::uint8_t* old_a,
                   const std::uint8_t* old_b, int count, std::uint32_t* __restrict columns) {
  for (int x = 0; x < count; ++x) {
    const std::uint32_t added = squared_difference(a[x], b[x]);
    columns[x] += added - squared_difference(old_a[x], old_b[x]);
  }
}

CUDAVISION_TARGET_CLONES
void slide_squares(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* old_a,
                   const std::uint16_t* old_b, int count, std::uint64_t* __restrict columns) {
  for (int x = 0; x < count; ++x) {
    const std::uint64_t added = squared_difference(a[x], b[x]);
    columns[x] += added - squared_difference(old_a[x], old_b[x]);
  }
}

void sum_columns(const std::uint32_t* columns, int count, std::uint32_t* __restrict before) {
  sum_all(columns, count, before);
}

void sum_columns(const std::uint64_t* columns, int count, std::uint64_t* __restrict before) {
  sum_all(columns, count, before);
}

CUDAVISION_TARGET_CLONES
void find_weights(const std::uint32_t* before, int count, int patch, const PatchWeights& table,
                  std::uint32_t* __restrict indices) {
  find_all(before, count, patch, table, indices);
}

CUDAVISION_TARGET_CLONES
void find_weights(const std::uint64_t* before, int count, int patch, const PatchWeights& table,
                  std::uint32_t* __restrict indices) {
  find_all(before, count, patch, table, indices);
}

// This function has no clones, because these would use gather instructions, which are slower than
// single loads on many machines.
void look_up(const PatchWeights& table, const std::uint32_t* indices, int count,
             std::uint32_t* __restrict values) {
  for (int x = 0; x < count; ++x)
    values[x] = table.weights[indices[x]];
}

CUDAVISION_TARGET_CLONES
void add_weights(const std::uint32_t* weights, int count, std::uint32_t* __restrict sums) {
  for (int x = 0; x < count; ++x)
    sums[x] += weights[x];
}

CUDAVISION_TARGET_CLONES
void add_weighted(const std::uint32_t* weights, const std::uint8_t* samples, int count,
                  std::uint32_t* __restrict sums) {
  for (int x = 0; x < count; ++x)
    sums[x] += weights[x] * samples[x];
}

CUDAVISION_TARGET_CLONES
void add_weighted(const std::uint32_t* weights, const std::uint16_t* samples, int count,
                  std::uint64_t* __restrict sums) {
  for (int x = 0; x < count; ++x)
    sums[x] += std::uint64_t{weights[x]} * samples[x];
}

}  // namespace cudavision::nlmeans
