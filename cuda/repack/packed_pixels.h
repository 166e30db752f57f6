// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Pixels whose samples share a word of four bytes. It compiles for the host, too, where the tests
// compare it with plain code.

#include <cstdint>

#include "cuda/repack/fields.h"
#include "cuda/repack/rescale.h"
#include "cuda/repack/word_pairs.h"

namespace cudavision::repack {

/// One channel's bits of the word.
struct PackedField {
  int low_bit;
  std::uint32_t mask;           ///< of the sample, once it is shifted down
  bool scaled;                  ///< The sample has fewer bits than the unpacked value.
  Rescale widening, narrowing;  ///< These change nothing if it has as many.
};

inline PackedField packed_field(const Field& field, std::uint32_t largest) {
  return {field.low_bit, field.maximum, field.maximum != largest,
          make_rescale(field.maximum, largest), make_rescale(largest, field.maximum)};
}

// kScales is a constant, because a kernel that asks each field whether it is scaled spends most of
// its time on loading what a field that is not scaled does not need (measured on an H100).

template <bool kScales>
CUDAVISION_HOST_DEVICE inline std::uint32_t value_in(const PackedField& field, std::uint32_t word) {
  const std::uint32_t sample = word >> field.low_bit & field.mask;
  return kScales ? rescaled(sample, field.widening) : sample;
}

/// Returns the bits of a value, which is at most the largest one.
template <bool kScales>
CUDAVISION_HOST_DEVICE inline std::uint32_t bits_of(const PackedField& field, std::uint32_t value) {
  return (kScales ? rescaled(value, field.narrowing) : value) << field.low_bit;
}

struct PackedColors {
  PackedField color[3];  ///< red, green and blue
  bool scaled;           ///< any of them
  std::uint32_t kept;    ///< the bits of other channels
  std::uint32_t largest;
};

inline PackedColors packed_colors(const Fields& fields) {
  const auto field = [&](int number) { return packed_field(fields.field[number], fields.largest); };
  PackedColors colors{
      {field(fields.red), field(fields.green), field(fields.blue)}, false, 0, fields.largest};
  for (const PackedField& color : colors.color)
    colors.scaled = colors.scaled || color.scaled;
  for (int c = 0; c < fields.count; ++c)
    if (!fields.field[c].colour)
      colors.kept |= fields.field[c].mask << fields.field[c].low_bit;
  return colors;
}

template <bool kScales>
CUDAVISION_HOST_DEVICE inline std::uint32_t luminance_of(const PackedColors& colors,
                                                         std::uint32_t word) {
  return deep_luminance(value_in<kScales>(colors.color[0], word),
                        value_in<kScales>(colors.color[1], word),
                        value_in<kScales>(colors.color[2], word));
}

/// Returns the word with colours that are changed by the difference of that luminance and their
/// own.
template <bool kScales>
CUDAVISION_HOST_DEVICE inline std::uint32_t adjusted(const PackedColors& colors, std::uint32_t word,
                                                     std::uint32_t luminance) {
  std::uint32_t values[3];
  CUDAVISION_UNROLL
  for (int c = 0; c < 3; ++c)
    values[c] = value_in<kScales>(colors.color[c], word);
  const auto change = static_cast<std::int32_t>(luminance) -
                      static_cast<std::int32_t>(deep_luminance(values[0], values[1], values[2]));
  word &= colors.kept;
  CUDAVISION_UNROLL
  for (int c = 0; c < 3; ++c)
    word |= bits_of<kScales>(
        colors.color[c], saturated(static_cast<std::int32_t>(values[c]) + change, colors.largest));
  return word;
}

}  // namespace cudavision::repack
