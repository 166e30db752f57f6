// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/gaussblur/gaussblur.h"

namespace cudavision::test {

/// Maps an index outside the row to the sample that `border` selects; constant borders give −1.
int defined_border_index(int index, int count, Border border);

/// The default size of a kernel for sigma > 0.
int defined_kernel_size(double sigma, int sample_bits);

/// Returns the coefficients along one axis. Their sum is 2^fraction_bits. If sigma is 0, sizes
/// up to 9 have fixed coefficients, and larger sizes determine sigma.
std::vector<std::int64_t> defined_kernel(int size, double sigma, int fraction_bits);

void defined_blur(const FrameLayout& layout, const gaussblur::Parameters& parameters,
                  const ConstFrame& in, const Frame& out);

}  // namespace cudavision::test
