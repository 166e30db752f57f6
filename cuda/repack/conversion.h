// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// One conversion of the channels of a frame that have the same size, and its work on some
// neighbouring pixels, which both devices share.

#include <cstdint>
#include <type_traits>

#include "cuda/core/division.h"
#include "cuda/core/frame.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::repack {

/// Scales values from 0…maximum to 0…largest, and rounds halves up: (value·largest + maximum div 2)
/// div maximum. Both are 2^depth − 1 with depths of 1 to 16, so that the dividend is less than 2^31
/// if they differ.
struct Rescale {
  std::uint32_t factor, half;
  Division division;
};

inline Rescale make_rescale(std::uint32_t maximum, std::uint32_t largest) {
  if (maximum == largest)
    maximum = largest = 1;
  return {largest, maximum / 2, make_division(maximum)};
}

CUDAVISION_HOST_DEVICE inline std::uint32_t rescaled(std::uint32_t value, const Rescale& scale) {
  return quotient(value * scale.factor + scale.half, scale.division);
}

enum class Kind : std::uint8_t {
  unpack,   ///< stored words to planes of values
  pack,     ///< planes of values to stored words
  measure,  ///< stored colours to a plane of luminance
  adjust,   ///< stored colours and a plane of luminance to colours with that luminance
};

/// One channel, and the position of its samples in stored words.
struct Field {
  int plane;           ///< of the stored frame
  int offset, step;    ///< from the row's begin to the first word, and to the next, in bytes
  int unpacked_plane;  ///< of its values
  int low_bit;         ///< of the sample in its word
  std::uint32_t mask;  ///< of the sample's bits, once they are shifted down
  Rescale widening, narrowing;  ///< between samples and values of words of four bytes
  std::uint32_t weight;         ///< in the luminance; 0 if the channel is no colour
};

struct Conversion {
  Kind kind;
  /// 2: each channel has words of its own. 4: Words::packed. 8: A pixel is four samples.
  int word_bytes;
  bool copies;   ///< measures, and copies the colours to the planes after the luminance
  bool swapped;  ///< the two bytes of each sample
  int shift;     ///< of the value in its sample
  std::uint32_t largest;
  int width, height;  ///< of each channel
  int field_count;
  Field field[FrameLayout::max_channels];
  View<const std::uint8_t> in[FrameLayout::max_planes];
  View<std::uint8_t> out[FrameLayout::max_planes];
};

/// Calls visit with a conversion's kind, as std::integral_constant, and a word.
template <class Visit>
auto with_constants(const Conversion& a, const Visit& visit) {
  const auto with_word = [&](auto kind) {
    return a.word_bytes == 2   ? visit(kind, std::uint16_t{})
           : a.word_bytes == 4 ? visit(kind, std::uint32_t{})
                               : visit(kind, std::uint64_t{});
  };
  return a.kind == Kind::unpack    ? with_word(std::integral_constant<Kind, Kind::unpack>{})
         : a.kind == Kind::pack    ? with_word(std::integral_constant<Kind, Kind::pack>{})
         : a.kind == Kind::measure ? with_word(std::integral_constant<Kind, Kind::measure>{})
                                   : with_word(std::integral_constant<Kind, Kind::adjust>{});
}

/// The luminance is the sum of the channels times these weights, divided by 1000.
constexpr std::uint32_t luminance_weight(Role role) {
  return role == Role::red ? 299 : role == Role::green ? 587 : role == Role::blue ? 114 : 0;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t swap_bytes(std::uint32_t word) {
  return (word << 8 | word >> 8) & 0xffff;
}

template <class Word>
CUDAVISION_HOST_DEVICE inline std::uint32_t value_in(const Conversion& a, const Field& field,
                                                     Word word) {
  const std::uint32_t sample = static_cast<std::uint32_t>(word >> field.low_bit) & field.mask;
  if constexpr (sizeof(Word) == 4)
    return rescaled(sample, field.widening);
  else
    return sample_value(a.swapped ? swap_bytes(sample) : sample, a.shift, a.largest);
}

/// Returns the bits of a value, which may be too large, in its word.
template <class Word>
CUDAVISION_HOST_DEVICE inline Word word_of(const Conversion& a, const Field& field,
                                           std::uint32_t value) {
  value = value < a.largest ? value : a.largest;
  std::uint32_t sample = value << a.shift;
  if constexpr (sizeof(Word) == 4)
    sample = rescaled(value, field.narrowing);
  else if (a.swapped)
    sample = swap_bytes(sample);
  return static_cast<Word>(static_cast<Word>(sample) << field.low_bit);
}

/// The words of neighbouring pixels.
template <class Word, int kPixels>
struct alignas(kPixels * sizeof(Word) < 16 ? kPixels * sizeof(Word) : 16) PixelWords {
  Word of[kPixels];
};

/// Copies words from memory if its bytes are constant, or else to it. They are at any address, at a
/// distance of `step` bytes. On the GPU, several words are contiguous, and their address is a
/// multiple of their size.
template <class Byte, class Word, int kPixels>
CUDAVISION_HOST_DEVICE inline void copy_words(Byte* memory, int step, int count,
                                              PixelWords<Word, kPixels>& words) {
  const auto copy = [](auto& stored, auto& own) {
    if constexpr (std::is_const_v<Byte>)
      own = stored;
    else
      stored = own;
  };
#ifdef __CUDA_ARCH__
  using Stored = std::conditional_t<std::is_const_v<Byte>, const PixelWords<Word, kPixels>,
                                    PixelWords<Word, kPixels>>;
  if (kPixels > 1 || reinterpret_cast<std::uintptr_t>(memory) % sizeof words == 0)
    return copy(*reinterpret_cast<Stored*>(memory), words);
#endif
  // Not memcpy(), with which nvcc took the unaligned addresses of single words for aligned ones.
  auto* const bytes = reinterpret_cast<std::uint8_t*>(words.of);
  if (step == sizeof(Word))
    for (std::size_t i = 0; i < sizeof(Word) * count; ++i)
      copy(memory[i], bytes[i]);
  else
    for (int i = 0; i < count; ++i)
      for (std::size_t k = 0; k < sizeof(Word); ++k)
        copy(memory[std::ptrdiff_t{step} * i + k], bytes[sizeof(Word) * i + k]);
}

/// Converts `count` pixels of row y, of which x is the first. On the GPU, count is kPixels.
template <Kind kKind, class Word, int kPixels>
CUDAVISION_HOST_DEVICE inline void convert(const Conversion& a, int x, int y, int count) {
  constexpr bool adjusts = kKind == Kind::adjust, measures = kKind == Kind::measure;
  constexpr int channels = FrameLayout::max_channels, word_count = sizeof(Word) == 2 ? channels : 1;
  PixelWords<Word, kPixels> words[word_count];
  PixelWords<std::uint16_t, kPixels> values[channels], luminance;
  std::int32_t changes[kPixels];
  const auto copy = [=](const auto& plane, int offset, int step, auto& pixels) {
    copy_words(plane.row(y) + std::ptrdiff_t{step} * x + offset, step, count, pixels);
  };
  // The loop has a constant end, so that the GPU keeps the arrays in registers.
  const auto for_fields = [&](int end, const auto& visit) {
    CUDAVISION_UNROLL
    for (int c = 0; c < channels; ++c)
      if (c < end && c < a.field_count)
        visit(a.field[c], words[word_count > 1 ? c : 0], values[c]);
  };

  if constexpr (kKind == Kind::pack) {
    for_fields(channels, [&](const Field& f, auto&, auto& value) {
      copy(a.in[f.unpacked_plane], 0, 2, value);
    });
  } else {
    for_fields(word_count, [&](const Field& f, auto& word, auto&) {
      copy(a.in[f.plane + adjusts], f.offset, f.step, word);
    });
    for_fields(channels, [&](const Field& f, auto& word, auto& value) {
      for (int i = 0; i < count; ++i)
        value.of[i] = static_cast<std::uint16_t>(value_in(a, f, word.of[i]));
    });
  }

  if constexpr (measures || adjusts) {
    std::uint32_t sums[kPixels] = {};
    for_fields(channels, [&](const Field& f, auto&, auto& value) {
      for (int i = 0; i < count; ++i)
        sums[i] += f.weight * value.of[i];
    });
    if constexpr (adjusts)
      copy(a.in[0], 0, 2, luminance);
    for (int i = 0; i < count; ++i) {
      const std::uint32_t own = sums[i] / 1000;
      if constexpr (adjusts)
        changes[i] = static_cast<std::int32_t>(luminance.of[i] - own);
      else
        luminance.of[i] = static_cast<std::uint16_t>(own);
    }
    if constexpr (measures)
      copy(a.out[0], 0, 2, luminance);
  }

  if constexpr (kKind == Kind::unpack)
    for_fields(channels, [&](const Field& f, auto&, auto& value) {
      copy(a.out[f.unpacked_plane], 0, 2, value);
    });
  if constexpr (kKind == Kind::pack || adjusts)
    for_fields(channels, [&](const Field& f, auto& word, auto& value) {
      const bool first = word_count > 1 || &f == a.field, changed = adjusts && f.weight > 0;
      for (int i = 0; i < count; ++i) {
        const std::int32_t sum = value.of[i] + (changed ? changes[i] : 0);
        const Word bits = word_of<Word>(a, f, static_cast<std::uint32_t>(sum > 0 ? sum : 0));
        word.of[i] = static_cast<Word>(first ? bits : word.of[i] | bits);
      }
    });
  if (kKind != Kind::unpack && (!measures || a.copies))
    for_fields(word_count, [&](const Field& f, auto& word, auto&) {
      copy(a.out[f.plane + measures], f.offset, f.step, word);
    });
}

}  // namespace cudavision::repack
