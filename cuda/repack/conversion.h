// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Converts channels of equal size between forms of words (repack.h), for both backends.

#include <cstdint>
#include <type_traits>

#include "cuda/core/device.h"
#include "cuda/core/division.h"
#include "cuda/core/frame.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::repack {

/// One channel: the position and the form of its words in a plane.
struct Field {
  int plane = 0;
  int offset = 0, step = 2;  ///< first word of a row, and distance between words, in bytes
  int word_bytes = 2;        ///< 2: one word per sample; 4 or 8: one word per pixel
  int low_bit = 0;           ///< lowest bit of the sample in its word
  Division mask{};           ///< divides by the largest sample; only for words of four bytes
  int rotation = 0;          ///< 8 if the two bytes of the sample are swapped
  int shift = 0;             ///< lowest bit of the value in its sample
  std::uint32_t weight = 0;  ///< contribution to the luminance, in thousandths
};

/// Copies the values of the fields `from` to the fields `to`. `measures` writes the luminance of
/// red, green and blue. `adjusts` shifts red, green and blue to the luminance in the first plane.
struct Conversion {
  int width = 0, height = 0;  ///< size of each channel, in samples
  Division largest{};         ///< divides by the largest value
  Division row_blocks{};      ///< on the GPU, divides by the number of blocks per row
  bool measures = false, adjusts = false;
  int from_count = 0, to_count = 0;
  Field from[FrameLayout::max_channels]{}, to[FrameLayout::max_channels]{};
  View<const std::uint8_t> in[FrameLayout::max_planes]{};
  View<std::uint8_t> out[FrameLayout::max_planes]{};
};

/// Scales values from 0…maximum to 0…largest, rounded half up: (value·largest + maximum div 2) div
/// maximum. Limits are 2^depth − 1, depths 1 to 16. If these differ, the dividend is below 2^31.
template <int kCount>
CUDAVISION_HOST_DEVICE inline void rescale(std::uint32_t (&values)[kCount], const Division& maximum,
                                           std::uint32_t largest) {
  if (maximum.divisor != largest)
    for (std::uint32_t& value : values)
      value = quotient(value * largest + maximum.divisor / 2, maximum);
}

CUDAVISION_HOST_DEVICE inline std::uint32_t rotated(std::uint32_t word, int rotation) {
  return (word << rotation | word >> rotation) & 0xffff;
}

/// Returns the value in a word. For words of four bytes, returns the sample before it is rescaled.
template <class Word>
CUDAVISION_HOST_DEVICE inline std::uint32_t value_in(const Field& field, Word word,
                                                     std::uint32_t largest) {
  if constexpr (sizeof(Word) == 4)
    return word >> field.low_bit & field.mask.divisor;
  const auto sample = static_cast<std::uint16_t>(sizeof(Word) == 2 ? word : word >> field.low_bit);
  return sample_value(rotated(sample, field.rotation), field.shift, largest);
}

/// Returns a word that contains the value. For words of four bytes, value is a rescaled sample.
template <class Word>
CUDAVISION_HOST_DEVICE inline Word word_of(const Field& field, std::uint32_t value) {
  const std::uint32_t sample =
      sizeof(Word) == 4 ? value : rotated(value << field.shift, field.rotation);
  return static_cast<Word>(static_cast<Word>(sample) << field.low_bit);
}

/// Copies min(count, kPixels) words, from `memory` to `words` if Byte is const, otherwise to
/// `memory`. Words in `memory` may be unaligned; `step` is the distance between two words in bytes.
template <class Byte, class Word, int kPixels>
CUDAVISION_HOST_DEVICE inline void copy_words(Byte* memory, std::ptrdiff_t step, int count,
                                              Word (&words)[kPixels]) {
  const auto copy = [](auto& stored, auto& own) {
    if constexpr (std::is_const_v<Byte>)
      own = stored;
    else
      stored = own;
  };
#ifdef __CUDA_ARCH__
  using Vector = std::conditional_t<sizeof words == 8, uint2, uint4>;
#else
  using Vector = std::uint8_t;
#endif
  using Stored = std::conditional_t<std::is_const_v<Byte>, const Vector, Vector>;
  if (step == sizeof(Word) && count >= kPixels &&
      reinterpret_cast<std::uintptr_t>(memory) % sizeof(Vector) == 0) {
    CUDAVISION_UNROLL
    for (std::size_t i = 0; i * sizeof(Vector) < sizeof words; ++i)
      copy(reinterpret_cast<Stored*>(memory)[i], reinterpret_cast<Vector*>(words)[i]);
    return;
  }
  // Copies bytes, because nvcc compiles memcpy() of a word as if the address were aligned.
  auto* const bytes = reinterpret_cast<std::uint8_t*>(words);
  CUDAVISION_UNROLL
  for (int i = 0; i < kPixels; ++i)
    if (i < count)
      for (std::size_t k = 0; k < sizeof(Word); ++k)
        copy(memory[step * i + k], bytes[sizeof(Word) * i + k]);
}

/// Calls visit(From{}, To{}) with the types of the words of the fields `from` and `to`.
template <class Visit>
void with_words(const Conversion& a, const Visit& visit) {
  const auto with_word = [](int bytes, const auto& take) {
    bytes == 2 ? take(std::uint16_t{}) : bytes == 4 ? take(std::uint32_t{}) : take(std::uint64_t{});
  };
  with_word(a.from[0].word_bytes,
            [&](auto from) { with_word(a.to[0].word_bytes, [&](auto to) { visit(from, to); }); });
}

/// Converts min(count, kPixels) pixels of row y, starting at column x.
template <class From, class To, int kPixels>
CUDAVISION_HOST_DEVICE inline void convert(const Conversion& a, int x, int y, int count) {
  constexpr int channels = FrameLayout::max_channels;
  constexpr bool own_words = sizeof(From) == 2;  // each channel has its own words
  const std::uint32_t largest = a.largest.divisor;
  alignas(16) From words[own_words ? channels : 1][kPixels]{};
  alignas(16) To packed[kPixels]{};
  alignas(16) std::uint16_t luminance[kPixels]{};
  std::uint32_t values[channels][kPixels], sums[kPixels]{};
  int changes[kPixels]{};
  const auto copy = [=](const auto& planes, const Field& f, auto& own) {
    copy_words(planes[f.plane].row(y) + std::ptrdiff_t{f.step} * x + f.offset, f.step, count, own);
  };
  // The constant loop bound keeps the arrays in registers on the GPU.
  const auto for_fields = [&](const Field* fields, int end, const auto& visit) {
    CUDAVISION_UNROLL
    for (int c = 0; c < channels; ++c)
      if (c < end)
        visit(fields[c], c);
  };

  // All loads come first, so that the GPU waits for memory only once.
  if (a.adjusts)
    copy(a.in, Field{}, luminance);
  for_fields(a.from, own_words ? a.from_count : 1,
             [&](const Field& f, int c) { copy(a.in, f, words[own_words ? c : 0]); });

  for_fields(a.from, a.from_count, [&](const Field& f, int c) {
    for (int i = 0; i < kPixels; ++i)
      values[c][i] = value_in(f, words[own_words ? c : 0][i], largest);
    if (sizeof(From) == 4)
      rescale(values[c], f.mask, largest);
    if (f.weight != 0)
      for (int i = 0; i < kPixels; ++i)
        sums[i] += f.weight * values[c][i];
  });
  if (a.measures)
    for (int i = 0; i < kPixels; ++i)
      values[0][i] = sums[i] / 1000;
  if (a.adjusts)
    for (int i = 0; i < kPixels; ++i)
      changes[i] = static_cast<int>(luminance[i] - sums[i] / 1000);
  for_fields(a.to, a.to_count, [&](const Field& f, int c) {
    for (int i = 0; i < kPixels; ++i) {
      const int value = static_cast<int>(values[c][i]) + (f.weight != 0 ? changes[i] : 0);
      values[c][i] = value < 0 ? 0 : static_cast<std::uint32_t>(value);
      values[c][i] = values[c][i] < largest ? values[c][i] : largest;
    }
    if (sizeof(To) == 4)
      rescale(values[c], a.largest, f.mask.divisor);
    for (int i = 0; i < kPixels; ++i) {
      const To word = word_of<To>(f, values[c][i]);
      packed[i] = static_cast<To>(sizeof(To) == 2 ? word : packed[i] | word);
    }
    if (sizeof(To) == 2)
      copy(a.out, f, packed);
  });
  if (sizeof(To) > 2)
    copy(a.out, a.to[0], packed);
}

void convert_cpu(Device& device, const Conversion& conversion);
void convert_cuda(Device& device, Conversion conversion);

}  // namespace cudavision::repack
