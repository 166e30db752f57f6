// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The loops of the blur on the CPU, each over one stretch of a row. Rows are bytes without
// alignment.

#include <cstdint>
#include <cstring>

namespace cudavision::gaussblur {

/// How the samples of a row are stored, as frame.h says it.
struct StoredSamples {
  int bytes;  ///< of one sample: 1 or 2
  int shift;
  std::uint32_t largest;
};

inline void store_value(std::uint8_t* row, std::ptrdiff_t x, StoredSamples stored,
                        std::uint32_t value) {
  if (stored.bytes == 1) {
    row[x] = static_cast<std::uint8_t>(value);
    return;
  }
  const auto word = static_cast<std::uint16_t>(value << stored.shift);
  std::memcpy(row + 2 * x, &word, sizeof word);
}

/// Rows, or one row at several places, to be added with weights. The two of a pair have the same.
struct WeightedRows {
  const std::uint8_t* centre;
  std::uint32_t centre_weight;
  int pair_count;
  const std::uint8_t* const* pairs;  ///< twice pair_count rows, those of a pair side by side
  const std::uint32_t* weights;      ///< of the pairs
};

/// sums[x − begin] = Σ weight·row[x] for begin ≤ x < end. Where the weights add up to at most 256,
/// samples of one byte leave sums that fit 16 bits.
void weigh(const WeightedRows& rows, StoredSamples stored, int begin, int end, std::uint16_t* sums);
void weigh(const WeightedRows& rows, StoredSamples stored, int begin, int end, std::uint32_t* sums);

/// The two halves of each sum.
void split(const std::uint16_t* sums, int count, std::uint8_t* high, std::uint8_t* low);
void split(const std::uint32_t* sums, int count, std::uint16_t* high, std::uint16_t* low);

/// What the weighted sums of such halves stand for, high·2^b + low with b half the bits of a sum,
/// divided by 2^2b and rounded half up.
void round_halves(const std::uint16_t* high, const std::uint16_t* low, int count,
                  std::uint8_t* values);
void round_halves(const std::uint32_t* high, const std::uint32_t* low, int count,
                  std::uint8_t* values);
void round_halves(const std::uint32_t* high, const std::uint32_t* low, int count,
                  std::uint16_t* values);

/// values = saturate(2·source − values).
void sharpen(const std::uint8_t* source, StoredSamples stored, int count, std::uint8_t* values);
void sharpen(const std::uint8_t* source, StoredSamples stored, int count, std::uint16_t* values);

/// Stores the values into row: all of them without a mask, else those whose byte of it is not 0.
void store(const std::uint8_t* values, StoredSamples stored, int count, const std::uint8_t* mask,
           std::uint8_t* row);
void store(const std::uint16_t* values, StoredSamples stored, int count, const std::uint8_t* mask,
           std::uint8_t* row);

}  // namespace cudavision::gaussblur
