// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/core/frame.h"

namespace cudavision::test {

enum class Content {
  random,      ///< all values are equally likely
  natural,     ///< smooth shapes at several scales and a little grain; an uneven histogram
  flat,        ///< one value
  two_valued,  ///< two values, each in large areas
  spark,       ///< all pixels have one value, except a single pixel
  gradient,    ///< rises across the image
  narrow,      ///< a handful of neighbouring values, as from an underexposed camera
  zeros,       ///< all 0
  maximum,     ///< all at the largest value
};
constexpr int content_count = 9;

const char* name(Content content);

/// Writes every byte. Luma and RGB samples show the content; other bytes are random. In words of
/// two bytes, `dirty` randomises the bits below the shift and, seldom, the whole word.
void paint(const FrameLayout& layout, const Frame& frame, Content content, std::uint64_t seed,
           bool dirty = false);

}  // namespace cudavision::test
