// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// One conversion of the channels of a frame that have the same size, and its work on some pixels of
// a row, which both devices share.

#include <cstdint>
#include <type_traits>

#include "cuda/core/device.h"
#include "cuda/core/division.h"
#include "cuda/core/frame.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::repack {

/// One channel: where its words are in a plane, and what they hold.
struct Field {
  int plane = 0;
  int offset = 0, step = 2;     ///< of the row's first word, and from each to the next, in bytes
  int word_bytes = 2;           ///< 2: words of its own; 4 or 8: words that all channels share
  int low_bit = 0;              ///< of the sample in its word
  std::uint32_t mask = 0xffff;  ///< of the sample's bits, once they are shifted down
  Division division{};          ///< by the mask, for words of four bytes
  bool swapped = false;         ///< the two bytes of the sample
  int shift = 0;                ///< of the value in its sample
  std::uint32_t weight = 0;     ///< in the luminance
};

/// Reads values and writes them to other places. On the way, it may replace the colours of a pixel
/// by their luminance, or change them so that they have the luminance of the first plane.
struct Conversion {
  int width = 0, height = 0;  ///< of each channel
  Division largest{};         ///< by the largest value
  bool measures = false, adjusts = false;
  int from_count = 0, to_count = 0;
  Field from[FrameLayout::max_channels]{}, to[FrameLayout::max_channels]{};
  View<const std::uint8_t> in[FrameLayout::max_planes]{};
  View<std::uint8_t> out[FrameLayout::max_planes]{};
};

/// Scales a value from 0…maximum to 0…largest, and rounds halves up:
/// (value·largest + maximum div 2) div maximum. Both are 2^depth − 1 with depths of 1 to 16, so
/// that the dividend is less than 2^31 if they differ.
CUDAVISION_HOST_DEVICE inline std::uint32_t rescaled(std::uint32_t value, const Division& maximum,
                                                     std::uint32_t largest) {
  return maximum.divisor == largest ? value
                                    : quotient(value * largest + maximum.divisor / 2, maximum);
}

CUDAVISION_HOST_DEVICE inline std::uint32_t swap_bytes(std::uint32_t word) {
  return (word << 8 | word >> 8) & 0xffff;
}

template <class Word>
CUDAVISION_HOST_DEVICE inline std::uint32_t value_in(const Field& field, Word word,
                                                     const Division& largest) {
  const std::uint32_t sample = static_cast<std::uint32_t>(word >> field.low_bit) & field.mask;
  if constexpr (sizeof(Word) == 4)
    return rescaled(sample, field.division, largest.divisor);
  else
    return sample_value(field.swapped ? swap_bytes(sample) : sample, field.shift, largest.divisor);
}

/// Returns the bits of a value, which may be too large, in its word.
template <class Word>
CUDAVISION_HOST_DEVICE inline Word word_of(const Field& field, std::uint32_t value,
                                           const Division& largest) {
  value = value < largest.divisor ? value : largest.divisor;
  std::uint32_t sample = value << field.shift;
  if constexpr (sizeof(Word) == 4)
    sample = rescaled(value, largest, field.mask);
  else if (field.swapped)
    sample = swap_bytes(sample);
  return static_cast<Word>(static_cast<Word>(sample) << field.low_bit);
}

/// Copies the first `count` words from memory if its bytes are constant, or else to it. In memory,
/// words may be unaligned. `step` is the distance from one to the next in bytes, a multiple of
/// their size.
template <class Byte, class Word, int kPixels>
CUDAVISION_HOST_DEVICE inline void copy_words(Byte* memory, std::ptrdiff_t step, int count,
                                              Word (&words)[kPixels]) {
  const auto copy = [](auto& stored, auto& own) {
    if constexpr (std::is_const_v<Byte>)
      own = stored;
    else
      stored = own;
  };
  // Not memcpy(), with which nvcc took the unaligned addresses of single words for aligned ones.
  auto* const bytes = reinterpret_cast<std::uint8_t*>(words);
#ifdef __CUDA_ARCH__
  using Stored = std::conditional_t<std::is_const_v<Byte>, const Word, Word>;
  const bool aligned = reinterpret_cast<std::uintptr_t>(memory) % sizeof(Word) == 0;
  CUDAVISION_UNROLL
  for (int i = 0; i < kPixels; ++i) {
    if (i < count && aligned)
      copy(*reinterpret_cast<Stored*>(memory + step * i), words[i]);
    else if (i < count)
      for (std::size_t k = 0; k < sizeof(Word); ++k)
        copy(memory[step * i + k], bytes[sizeof(Word) * i + k]);
  }
#else
  if (step == sizeof(Word))
    for (std::size_t i = 0; i < sizeof(Word) * count; ++i)
      copy(memory[i], bytes[i]);
  else
    for (int i = 0; i < count; ++i)
      for (std::size_t k = 0; k < sizeof(Word); ++k)
        copy(memory[step * i + k], bytes[sizeof(Word) * i + k]);
#endif
}

/// Calls visit(From{}, To{}) with the types of the words of all fields.
template <class Visit>
void with_words(const Conversion& a, const Visit& visit) {
  const auto with_word = [](const Field& field, const auto& take) {
    if (field.word_bytes == 2)
      take(std::uint16_t{});
    else if (field.word_bytes == 4)
      take(std::uint32_t{});
    else
      take(std::uint64_t{});
  };
  with_word(a.from[0], [&](auto from) { with_word(a.to[0], [&](auto to) { visit(from, to); }); });
}

/// Converts `count` pixels of row y, at most kPixels: x, x + kDistance, and so on.
template <class From, class To, int kPixels, int kDistance>
CUDAVISION_HOST_DEVICE inline void convert(const Conversion& a, int x, int y, int count) {
  constexpr int channels = FrameLayout::max_channels;
  std::uint16_t values[channels][kPixels], luminance[kPixels]{};
  std::uint32_t sums[kPixels]{};
  To bits[kPixels]{};  // of a word that all channels share
  const auto copy = [=](const auto& planes, const Field& f, auto& words) {
    const std::ptrdiff_t step = f.step;
    copy_words(planes[f.plane].row(y) + step * x + f.offset, step * kDistance, count, words);
  };
  // The loop has a constant end, so that the GPU keeps the arrays in registers.
  const auto for_fields = [&](const Field* fields, int end, const auto& visit) {
    CUDAVISION_UNROLL
    for (int c = 0; c < channels; ++c)
      if (c < end)
        visit(fields[c], values[c], c + 1 == end);
  };

  for_fields(a.from, a.from_count, [&](const Field& f, auto& value, bool) {
    From words[kPixels]{};
    copy(a.in, f, words);
    for (int i = 0; i < kPixels; ++i)
      value[i] = static_cast<std::uint16_t>(value_in(f, words[i], a.largest));
    if (f.weight != 0)
      for (int i = 0; i < kPixels; ++i)
        sums[i] += f.weight * value[i];
  });
  if (a.measures)
    for (int i = 0; i < kPixels; ++i)
      values[0][i] = static_cast<std::uint16_t>(sums[i] / 1000);
  if (a.adjusts)
    copy(a.in, Field{}, luminance);
  for_fields(a.to, a.to_count, [&](const Field& f, auto& value, bool last) {
    if (a.adjusts && f.weight != 0)
      for (int i = 0; i < kPixels; ++i) {
        const int sum = value[i] + luminance[i] - static_cast<int>(sums[i] / 1000);
        value[i] = static_cast<std::uint16_t>(sum < 0 ? 0 : sum < 0xffff ? sum : 0xffff);
      }
    To words[kPixels];
    for (int i = 0; i < kPixels; ++i) {
      words[i] = word_of<To>(f, value[i], a.largest);
      if constexpr (sizeof(To) > 2)
        words[i] = bits[i] |= words[i];
    }
    if (sizeof(To) == 2 || last)
      copy(a.out, f, words);
  });
}

void convert_cpu(Device& device, const Conversion& conversion);
void convert_cuda(Device& device, const Conversion& conversion);

}  // namespace cudavision::repack
