// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "cuda/remap/pixel_words.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using remap::PixelKind;
using remap::PixelWords;
using remap::Position;

struct SampleBits {
  int count, bits, shift;
  int word_bits;  ///< bits per stored sample

  std::uint32_t word_of(std::uint32_t value) const { return value << shift; }
  std::uint32_t value_of(std::uint32_t word) const {
    return std::min(word >> shift, (1u << bits) - 1);
  }
};

template <PixelKind kKind>
std::uint32_t sample_in(const PixelWords<kKind>& pixel, const SampleBits& samples, int number) {
  const int low = number * samples.word_bits;
  return pixel.word[low / 32] >> low % 32 & ((1u << samples.word_bits) - 1);
}

/// Blends four pixels, whose samples are random or have all bits 0 or all bits 1.
template <PixelKind kKind>
void expect_blends(const SampleBits& samples) {
  Random random(static_cast<std::uint64_t>(samples.bits * 100 + samples.shift));
  const remap::WordCoding coding = remap::word_coding(samples.bits, samples.shift, samples.shift);
  const auto draw = [&] {
    PixelWords<kKind> pixel{};
    for (int i = 0; i < samples.count; ++i) {
      const std::uint32_t all = (1u << samples.word_bits) - 1;
      const auto word = static_cast<std::uint32_t>(random.next()) & all;
      const int low = i * samples.word_bits;
      pixel.word[low / 32] |= (random.one_in(2) ? word : random.one_in(2) ? all : 0) << low % 32;
    }
    return pixel;
  };
  // Tests all pairs of fractions, several times.
  for (int round = 0; round < 4; ++round)
    for (int fraction = 0; fraction < 1024; ++fraction) {
      const Position position = {32 * random.between(-9, 9) + fraction % 32,
                                 32 * random.between(-9, 9) + fraction / 32};
      const PixelWords<kKind> corner[4] = {draw(), draw(), draw(), draw()};
      const remap::Weights weights(position);
      const PixelWords<kKind> blended =
          coding.clips ? remap::blend_pixels<kKind, true>(coding, weights, corner[0], corner[1],
                                                          corner[2], corner[3])
                       : remap::blend_pixels<kKind, false>(coding, weights, corner[0], corner[1],
                                                           corner[2], corner[3]);
      for (int i = 0; i < samples.count; ++i) {
        int value[4];
        for (int k = 0; k < 4; ++k)
          value[k] = static_cast<int>(samples.value_of(sample_in(corner[k], samples, i)));
        const int expected = remap::blend(position, value[0], value[1], value[2], value[3]);
        ASSERT_EQ(sample_in(blended, samples, i),
                  samples.word_of(static_cast<std::uint32_t>(expected)))
            << "sample " << i << ", " << samples.bits << " bits";
      }
    }
}

TEST(RemapArithmetic, BlendsWholePixels) {
  expect_blends<PixelKind::byte>({1, 8, 0, 8});
  expect_blends<PixelKind::byte_pair>({2, 8, 0, 8});
  expect_blends<PixelKind::byte_triple>({3, 8, 0, 8});
  expect_blends<PixelKind::byte_quad>({4, 8, 0, 8});
  for (const auto& [bits, shift] : {std::pair(9, 0), std::pair(10, 0), std::pair(10, 3),
                                    std::pair(10, 6), std::pair(11, 5), std::pair(11, 0)})
    expect_blends<PixelKind::narrow_word_pair>({2, bits, shift, 16});
  for (const auto& [bits, shift] :
       {std::pair(9, 0), std::pair(10, 6), std::pair(12, 4), std::pair(14, 1), std::pair(16, 0)}) {
    expect_blends<PixelKind::word>({1, bits, shift, 16});
    expect_blends<PixelKind::word_pair>({2, bits, shift, 16});
    expect_blends<PixelKind::word_quad>({4, bits, shift, 16});
  }
}

}  // namespace
}  // namespace cudavision::test
