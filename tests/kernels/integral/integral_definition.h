// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/integral/integral.h"
#include "tests/kernels/pixels/luminance_definition.h"

/// integral::Integral images written down a second time, with nothing in common with the code under
/// test.
namespace cudavision::test {

/// One entry by its formula's own words: every pixel of the picture is asked whether it counts.
std::uint64_t defined_entry(const DefinedLuminance& picture, integral::TableKind kind, int X,
                            int Y);

/// The entries of the rows Y = 0 to H, one row of W + 1 after the other. No sum exceeds 65535⁴,
/// which is less than 2^64.
void for_each_defined_row(
    const DefinedLuminance& picture, integral::TableKind kind,
    const std::function<void(int Y, const std::vector<std::uint64_t>& row)>& take);

/// An element of a table, for an exact sum.
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
