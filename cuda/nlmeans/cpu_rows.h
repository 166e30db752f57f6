// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The loops of non-local means on the CPU, each over a part of a row.

#include <cstdint>

namespace cudavision::nlmeans {

/// columns[x] += (a[x] − b[x])².
void add_squares(const std::uint8_t* a, const std::uint8_t* b, int count, std::uint32_t* columns);
void add_squares(const std::uint16_t* a, const std::uint16_t* b, int count, std::uint64_t* columns);

/// columns[x] += (a[x] − b[x])² − (old_a[x] − old_b[x])².
void slide_squares(const std::uint8_t* a, const std::uint8_t* b, const std::uint8_t* old_a,
                   const std::uint8_t* old_b, int count, std::uint32_t* columns);
void slide_squares(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* old_a,
                   const std::uint16_t* old_b, int count, std::uint64_t* columns);

/// before[x] = the sum of all columns before x, for 0 ≤ x ≤ count.
void sum_columns(const std::uint32_t* columns, int count, std::uint32_t* before);
void sum_columns(const std::uint64_t* columns, int count, std::uint64_t* before);

/// A table of weights, to be looked up by sums of squared differences.
struct PatchWeights {
  const std::uint32_t* weights;
  std::uint32_t last;  ///< index of the last entry, which holds for all larger indices as well
  int shift;
};

/// indices[x] = the index of the weight for the columns x to x + patch − 1.
void find_weights(const std::uint32_t* before, int count, int patch, const PatchWeights& table,
                  std::uint32_t* indices);
void find_weights(const std::uint64_t* before, int count, int patch, const PatchWeights& table,
                  std::uint32_t* indices);

/// values[x] = the weight of that index.
void look_up(const PatchWeights& table, const std::uint32_t* indices, int count,
             std::uint32_t* values);

/// sums[x] += weights[x].
void add_weights(const std::uint32_t* weights, int count, std::uint32_t* sums);

/// sums[x] += weights[x]·samples[x].
void add_weighted(const std::uint32_t* weights, const std::uint8_t* samples, int count,
                  std::uint32_t* sums);
void add_weighted(const std::uint32_t* weights, const std::uint16_t* samples, int count,
                  std::uint64_t* sums);

}  // namespace cudavision::nlmeans
