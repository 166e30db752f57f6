// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "tests/check/common/picture.h"

/// Histogram equalisation as it is defined, one pixel after the other: the oracle of
/// these tests.
namespace check {

struct Equalization {
  bool each_channel = false;  ///< red, green and blue by their own tables
  double strength = 1.0;
  bool limited = false;  ///< luma lies in 16…235 (times 2^(bits − 8))
};

using Bins = std::vector<std::uint64_t>;

/// Pixels per luminance: Y, or (299·r + 587·g + 114·b) div 1000.
Bins luminance_histogram(const Picture& picture);

Picture equalized(const Picture& picture, const Equalization& how);

struct Statistics {
  double mean = 0, stddev = 0, entropy = 0;  ///< of all pixels; bits
  int minimum = 0, maximum = 0;
};
Statistics statistics_of(const Bins& bins);

/// The smallest value that at least `percent` of all pixels do not exceed.
int percentile_of(const Bins& bins, int percent);

}  // namespace check
