// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The inner loops of the blur on the CPU. Each works on a part of a row. Rows are addressed in
// bytes and need no alignment.

#include <cstdint>
#include <cstring>

namespace cudavision::gaussblur {

/// Describes how samples are stored, as FrameLayout does.
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

/// Rows, or shifted copies of one row, to be added up with weights. The two rows of a pair have the
/// same weight.
struct WeightedRows {
  const std::uint8_t* centre;
  std::uint32_t centre_weight;
  int pair_count;
  const std::uint8_t* const* pairs;  ///< 2·pair_count rows, those of a pair side by side
  const std::uint32_t* weights;      ///< one per pair
};

/// sums[x − begin] = Σ weight·row[x] for begin ≤ x < end. Sums of 16 bits are enough for samples of
/// one byte if the weights add up to at most 256.
void weigh(const WeightedRows& rows, StoredSamples stored, int begin, int end, std::uint16_t* sums);
void weigh(const WeightedRows& rows, StoredSamples stored, int begin, int end, std::uint32_t* sums);

/// Splits each sum into its high and low half.
void split(const std::uint16_t* sums, int count, std::uint8_t* high, std::uint8_t* low);
void split(const std::uint32_t* sums, int count, std::uint16_t* high, std::uint16_t* low);

/// values = (high·2^b + low) / 2^2b, rounded half up: the result, from the weighted sums of both
/// halves. b is half the bits of a sum.
void round_halves(const std::uint16_t* high, const std::uint16_t* low, int count,
                  std::uint8_t* values);
void round_halves(const std::uint32_t* high, const std::uint32_t* low, int count,
                  std::uint8_t* values);
void round_halves(const std::uint32_t* high, const std::uint32_t* low, int count,
                  std::uint16_t* values);

/// values = saturate(2·source − values).
void sharpen(const std::uint8_t* source, StoredSamples stored, int count, std::uint8_t* values);
void sharpen(const std::uint8_t* source, StoredSamples stored, int count, std::uint16_t* values);

/// Stores values into row. With a mask, stores only those whose byte in the mask is not 0.
void store(const std::uint8_t* values, StoredSamples stored, int count, const std::uint8_t* mask,
           std::uint8_t* row);
void store(const std::uint16_t* values, StoredSamples stored, int count, const std::uint8_t* mask,
           std::uint8_t* row);

}  // namespace cudavision::gaussblur
