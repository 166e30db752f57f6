// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>

#include "cuda/localstatistics/localstatistics.h"
#include "tests/kernels/pixels/luminance_definition.h"

/// Local statistics written down a second time, with nothing in common with the code under test.
namespace cudavision::test {

/// What a window holds. No number exceeds 65535⁴, which is less than 2^64.
struct DefinedWindow {
  std::uint64_t area = 0, sum = 0, squared_sum = 0;
};

/// The window of pixel (x, y), of which every pixel is looked at.
DefinedWindow defined_window(const DefinedLuminance& picture, int radius, int x, int y);

/// The windows of all pixels, one row after the other.
void for_each_defined_window(
    const DefinedLuminance& picture, int radius,
    const std::function<void(int x, int y, const DefinedWindow& window)>& take);

std::uint64_t defined_mean(const DefinedWindow& window);
std::uint64_t defined_deviation(const DefinedWindow& window);
bool defined_bradley_black(const DefinedWindow& window, std::uint64_t level, double ratio);
/// range: above 0.
bool defined_sauvola_black(const DefinedWindow& window, std::uint64_t level, double k,
                           double range);

/// Writes every byte of every row of out.
void defined_statistics(const FrameLayout& layout, int output_bits,
                        const localstatistics::Parameters& parameters, const ConstFrame& in,
                        View<std::uint8_t> out);

}  // namespace cudavision::test
