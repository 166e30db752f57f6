// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/integral/integral.h"
#include "tests/kernels/pixels/luminance_definition.h"

/// A second implementation of integral images, which shares no code with the one under test.
namespace cudavision::test {

/// Computes one entry directly from its formula, as the sum of all pixels that satisfy the
/// condition.
std::uint64_t defined_entry(const DefinedLuminance& picture, integral::TableKind kind, int X,
                            int Y);

/// Calls take(Y, row) for the rows Y = 0 to H, each of W + 1 entries. No sum exceeds 65535⁴, which
/// is less than 2^64.
void for_each_defined_row(
    const DefinedLuminance& picture, integral::TableKind kind,
    const std::function<void(int Y, const std::vector<std::uint64_t>& row)>& take);

/// Convert an exact sum into an element of a table.
std::uint32_t defined_uint32(std::uint64_t sum);
float defined_float32(std::uint64_t sum);
double defined_float64(std::uint64_t sum);

/// Writes every byte of every row of table.
void defined_integral(const FrameLayout& layout, const integral::Parameters& parameters,
                      const ConstFrame& in, View<std::uint8_t> table);

/// Writes every byte of every row of out.
void defined_integral_picture(const FrameLayout& layout, integral::TableKind kind, bool same_size,
                              int bits, const ConstFrame& in, View<std::uint8_t> out);

}  // namespace cudavision::test
