// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>

#include "cuda/localstatistics/localstatistics.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {

/// The sums over a window. They do not exceed 65535⁴, which is less than 2^64.
struct DefinedWindow {
  std::uint64_t area = 0, sum = 0, squared_sum = 0;
};

DefinedWindow defined_window(const DefinedLuminance& picture, int radius, int x, int y);

/// Calls take(x, y, window) for the windows of all pixels, in row-major order.
void for_each_defined_window(
    const DefinedLuminance& picture, int radius,
    const std::function<void(int x, int y, const DefinedWindow& window)>& take);

std::uint64_t defined_mean(const DefinedWindow& window);
std::uint64_t defined_deviation(const DefinedWindow& window);
/// Return true if the sample `level` becomes black. `low`: the black level that formulas subtract.
bool defined_bradley_black(const DefinedWindow& window, std::uint64_t level, double ratio,
                           int low = 0);
/// `range` must be above 0.
bool defined_sauvola_black(const DefinedWindow& window, std::uint64_t level, double k, double range,
                           int low = 0);

void defined_statistics(const FrameLayout& layout, int output_bits,
                        const localstatistics::Parameters& parameters, const ConstFrame& in,
                        View<std::uint8_t> out);

}  // namespace cudavision::test
