// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the functions that the kernels of repack are made of with plain forms.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "cuda/core/division.h"
#include "cuda/repack/fields.h"
#include "cuda/repack/packed_pixels.h"
#include "cuda/repack/word_pairs.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/repack/repack_case.h"

namespace cudavision::test {
namespace {

using repack::PairCoding;

/// The weighted sum has 26 bits. Each weight is tried with all samples, the others at their ends.
TEST(RepackArithmetic, LuminanceIsExactForAllDepths) {
  for (std::uint32_t value = 0; value < 65536; ++value)
    for (const std::uint32_t low : {0u, 1u, 65534u, 65535u})
      for (const std::uint32_t high : {0u, 511u, 65535u}) {
        const auto expected = [](std::uint64_t r, std::uint64_t g, std::uint64_t b) {
          return (299 * r + 587 * g + 114 * b) / 1000;
        };
        ASSERT_EQ(repack::deep_luminance(value, low, high), expected(value, low, high));
        ASSERT_EQ(repack::deep_luminance(low, value, high), expected(low, value, high));
        ASSERT_EQ(repack::deep_luminance(low, high, value), expected(low, high, value));
      }
}

/// Every depth comes back from every larger one.
TEST(RepackArithmetic, RescalingGivesBackEveryValue) {
  for (int depth = 1; depth <= 16; ++depth)
    for (int bits = std::max(depth, 9); bits <= 16; ++bits) {
      const std::uint32_t maximum = (1u << depth) - 1, largest = (1u << bits) - 1;
      for (std::uint32_t value = 0; value <= maximum; ++value) {
        const std::uint32_t wide = repack::rescaled(value, maximum, largest);
        ASSERT_LE(wide, largest);
        ASSERT_EQ(repack::rescaled(wide, largest, maximum), value) << depth << " of " << bits;
      }
    }
}

/// All values of all pairs of depths, in both directions.
TEST(RepackArithmetic, RescalesByReciprocals) {
  for (int from = 1; from <= 16; ++from)
    for (int to = 1; to <= 16; ++to) {
      const std::uint32_t maximum = (1u << from) - 1, largest = (1u << to) - 1;
      const repack::Rescale scale = repack::make_rescale(maximum, largest);
      for (std::uint32_t value = 0; value <= maximum; ++value)
        ASSERT_EQ(repack::rescaled(value, scale), repack::rescaled(value, maximum, largest))
            << value << " of " << from << " bits to " << to;
    }
}

/// Numbers next to multiples of the divisor, and the largest ones.
TEST(RepackArithmetic, DividesByMultiplication) {
  for (std::uint32_t divisor = 1; divisor <= 65536; ++divisor) {
    const Division division = make_division(divisor);
    const std::uint32_t last = (1u << 31) - 1, most = last / divisor;
    for (const std::uint32_t multiple : {0u, 1u, 2u, 3u, 1000u, most / 3, most / 2, most - 1, most})
      for (const std::uint32_t beside : {0u, 1u, divisor - 1}) {
        const std::uint64_t number = std::uint64_t{multiple} * divisor + beside;
        if (number > last)
          continue;
        ASSERT_EQ(quotient(static_cast<std::uint32_t>(number), division), number / divisor)
            << number << " by " << divisor;
      }
  }
}

/// All words, in both halves, with a different word in the other half.
TEST(RepackArithmetic, ConvertsPairsOfWords) {
  for (const auto& [bits, shift] :
       {std::pair(16, 0), std::pair(10, 6), std::pair(12, 3), std::pair(10, 0), std::pair(9, 1)}) {
    const PairCoding coding = repack::pair_coding(false, bits, shift);
    const std::uint32_t largest = (1u << bits) - 1;
    const auto value_of = [&, down = shift](std::uint32_t word) {
      return std::min(word >> down, largest);
    };
    const auto word_of = [&, up = shift](std::uint32_t value) {
      return std::min(value, largest) << up;
    };
    for (std::uint32_t low = 0; low < 65536; ++low) {
      const std::uint32_t high = low * 40503 % 65536, pair = repack::pair_of(low, high);
      ASSERT_EQ(repack::values_of_words(pair, coding),
                repack::pair_of(value_of(low), value_of(high)));
      ASSERT_EQ(repack::words_of_values(pair, coding),
                repack::pair_of(word_of(low), word_of(high)));
    }
  }
}

template <int kChannels>
void expect_separation(bool swapped) {
  const PairCoding coding = repack::pair_coding(swapped, 16, 0);
  std::uint8_t bytes[16];
  for (std::uint8_t i = 0; i < 16; ++i)
    bytes[i] = i;
  std::uint32_t stored[4], pairs[4], again[4];
  std::memcpy(stored, bytes, 16);
  repack::separate<kChannels>(stored, coding, pairs);
  for (int i = 0; i < 8; ++i) {
    // Value x of channel c.
    const int c = i / (8 / kChannels), x = i % (8 / kChannels);
    const int first = 2 * (kChannels * x + c);
    const std::uint32_t expected = swapped ? static_cast<std::uint32_t>(first << 8 | (first + 1))
                                           : static_cast<std::uint32_t>((first + 1) << 8 | first);
    EXPECT_EQ(pairs[i / 2] >> (16 * (i % 2)) & 0xffff, expected) << i;
  }
  repack::interleave<kChannels>(pairs, coding, again);
  EXPECT_EQ(std::memcmp(again, bytes, 16), 0);
}

TEST(RepackArithmetic, SeparatesChannels) {
  for (const bool swapped : {false, true}) {
    SCOPED_TRACE(swapped ? "swapped" : "native");
    expect_separation<1>(swapped);
    expect_separation<2>(swapped);
    expect_separation<4>(swapped);
  }
}

std::uint32_t saturated_sum(std::uint32_t value, std::int64_t change, std::uint32_t largest) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(value + change, 0, std::int64_t{largest}));
}

TEST(RepackArithmetic, AdjustsPairs) {
  Random random(1);
  const std::uint32_t weights[4] = {114, 0, 299, 587};
  for (const std::uint32_t largest : {1023u, 65535u})
    for (int i = 0; i < 20000; ++i) {
      const auto draw = [&] {
        const int top = static_cast<int>(largest);
        return static_cast<std::uint32_t>(random.one_in(4) ? random.between(0, 1) * top
                                                           : random.between(0, top));
      };
      std::uint32_t values[2][4], pairs[4], luminance[2];
      for (int k = 0; k < 4; ++k) {
        values[0][k] = draw();
        values[1][k] = draw();
        pairs[k] = repack::pair_of(values[0][k], values[1][k]);
      }
      luminance[0] = draw();
      luminance[1] = draw();
      const auto own = [&](int n) {
        return repack::deep_luminance(values[n][2], values[n][3], values[n][0]);
      };
      ASSERT_EQ(repack::luminance_of_pairs(pairs, weights), repack::pair_of(own(0), own(1)));
      repack::adjust_pairs(repack::pair_of(luminance[0], luminance[1]), weights, largest, pairs);
      for (int n = 0; n < 2; ++n)
        for (int k = 0; k < 4; ++k) {
          const std::int64_t change = k == 1 ? 0 : std::int64_t{luminance[n]} - own(n);
          ASSERT_EQ(pairs[k] >> (16 * n) & 0xffff, saturated_sum(values[n][k], change, largest));
        }
    }
}

/// Random words of all storages whose pixels share one.
TEST(RepackArithmetic, AdjustsPackedPixels) {
  for (const char* name : {"RGB10A2", "BGR10A2", "Uneven"}) {
    const repack::StoredLayout storage = storage_named(name, 8, 8);
    const repack::Fields fields = repack::fields_of(storage);
    const repack::PackedColors colors = repack::packed_colors(fields);
    Random random(2);
    for (int i = 0; i < 20000; ++i) {
      const auto word = static_cast<std::uint32_t>(random.next());
      const auto luminance =
          static_cast<std::uint32_t>(random.between(0, static_cast<int>(fields.largest)));
      std::uint32_t values[4]{}, expected = 0;
      for (int c = 0; c < fields.count; ++c) {
        const repack::Field& field = fields.field[c];
        values[c] =
            repack::rescaled(word >> field.low_bit & field.mask, field.maximum, fields.largest);
      }
      const std::uint32_t own =
          repack::deep_luminance(values[fields.red], values[fields.green], values[fields.blue]);
      for (int c = 0; c < fields.count; ++c) {
        const repack::Field& field = fields.field[c];
        const std::int64_t change = field.colour ? std::int64_t{luminance} - own : 0;
        expected |= repack::rescaled(saturated_sum(values[c], change, fields.largest),
                                     fields.largest, field.maximum)
                    << field.low_bit;
      }
      ASSERT_EQ(repack::luminance_of<true>(colors, word), own) << name;
      ASSERT_EQ(repack::adjusted<true>(colors, word, luminance), expected) << name;
      if (!colors.scaled) {
        ASSERT_EQ(repack::luminance_of<false>(colors, word), own) << name;
        ASSERT_EQ(repack::adjusted<false>(colors, word, luminance), expected) << name;
      }
    }
  }
}

}  // namespace
}  // namespace cudavision::test
