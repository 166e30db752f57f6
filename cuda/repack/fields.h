// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The samples of a stored frame as fields of its words, and the arithmetic of one pixel, shared by
// the CPU and the GPU.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda/repack/repack.h"
#include "cuda/repack/rescale.h"

namespace cudavision::repack {

/// Where a channel's samples lie. Distances are in bytes.
struct Field {
  int plane, offset, step;
  int width, height;
  int low_bit;            ///< of the sample in its word
  std::uint32_t mask;     ///< of the word's bits, once they are shifted down
  std::uint32_t maximum;  ///< the largest value that is stored
  bool colour;            ///< red, green or blue
};

struct Fields {
  Field field[FrameLayout::max_channels];
  int count;
  int luma;               ///< the number of that field, or −1
  int red, green, blue;   ///< the numbers of these fields where there is no luma
  std::uint32_t largest;  ///< unpacked value
};

inline Fields fields_of(const StoredLayout& storage) {
  const FrameLayout& frame = storage.frame;
  const bool packed = storage.words == Words::packed;
  const int word_bytes = packed ? 4 : 2;
  Fields fields{};
  fields.count = frame.channel_count;
  fields.luma = frame.find(Role::luma);
  fields.red = frame.find(Role::red);
  fields.green = frame.find(Role::green);
  fields.blue = frame.find(Role::blue);
  fields.largest = (1u << frame.bits) - 1;
  for (int c = 0; c < frame.channel_count; ++c) {
    const Channel& channel = frame.channels[c];
    Field& field = fields.field[c];
    field.plane = channel.plane;
    field.offset = channel.offset * word_bytes;
    field.step = channel.step * word_bytes;
    field.width = channel.width;
    field.height = channel.height;
    field.low_bit = packed ? storage.low_bit[c] : frame.shift;
    field.maximum = packed ? (1u << storage.depth[c]) - 1 : fields.largest;
    // Words of two bytes may have bits above the sample; such a sample counts as the largest one.
    field.mask = packed ? field.maximum : 0xffff;
    field.colour =
        channel.role == Role::red || channel.role == Role::green || channel.role == Role::blue;
  }
  return fields;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t swap_bytes(std::uint32_t word) {
  return (word << 8 | word >> 8) & 0xffff;
}

/// The luminance is the sum of the colours times their weights, divided by this.
constexpr std::uint32_t red_weight = 299, green_weight = 587, blue_weight = 114;
constexpr std::uint32_t luminance_divisor = 1000;

/// The luminance of samples of up to 16 bits.
CUDAVISION_HOST_DEVICE inline std::uint32_t deep_luminance(std::uint32_t red, std::uint32_t green,
                                                           std::uint32_t blue) {
  return (red_weight * red + green_weight * green + blue_weight * blue) / luminance_divisor;
}

CUDAVISION_HOST_DEVICE inline std::uint32_t saturated(std::int32_t value, std::uint32_t largest) {
  const auto maximum = static_cast<std::int32_t>(largest);
  const std::int32_t limited = value < maximum ? value : maximum;
  return static_cast<std::uint32_t>(limited > 0 ? limited : 0);
}

template <Words kWords>
using Word = std::conditional_t<kWords == Words::packed, std::uint32_t, std::uint16_t>;

/// Reads a word at any address, or with kAligned at a multiple of its size.
template <class Word, bool kAligned>
CUDAVISION_HOST_DEVICE inline std::uint32_t load_word(const std::uint8_t* from) {
  if constexpr (kAligned) {
    return *reinterpret_cast<const Word*>(from);
  } else {
#ifdef __CUDA_ARCH__
    std::uint32_t word = 0;
    for (unsigned i = 0; i < sizeof(Word); ++i)
      word |= static_cast<std::uint32_t>(from[i]) << (8 * i);
    return word;
#else
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
#endif
  }
}

template <class Word, bool kAligned>
CUDAVISION_HOST_DEVICE inline void store_word(std::uint8_t* to, std::uint32_t value) {
  if constexpr (kAligned) {
    *reinterpret_cast<Word*>(to) = static_cast<Word>(value);
  } else {
#ifdef __CUDA_ARCH__
    for (unsigned i = 0; i < sizeof(Word); ++i)
      to[i] = static_cast<std::uint8_t>(value >> (8 * i));
#else
    const auto word = static_cast<Word>(value);
    std::memcpy(to, &word, sizeof word);
#endif
  }
}

/// Returns the sample in its word, from 0 to field.maximum.
template <Words kWords>
CUDAVISION_HOST_DEVICE inline std::uint32_t sample_of(const Field& field, std::uint32_t word) {
  if (kWords == Words::swapped)
    word = swap_bytes(word);
  const std::uint32_t value = word >> field.low_bit & field.mask;
  return value < field.maximum ? value : field.maximum;
}

/// Returns the word of a sample from 0 to field.maximum, or its share in the word of its pixel.
template <Words kWords>
CUDAVISION_HOST_DEVICE inline std::uint32_t word_of(const Field& field, std::uint32_t sample) {
  const std::uint32_t word = sample << field.low_bit;
  return kWords == Words::swapped ? swap_bytes(word) : word;
}

}  // namespace cudavision::repack
