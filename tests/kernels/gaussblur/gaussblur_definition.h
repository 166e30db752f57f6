// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/gaussblur/gaussblur.h"

/// The Gaussian blur written down a second time, sample by sample and sharing no code with what is
/// under test.
namespace cudavision::test {

/// The sample at index, found by walking back from edge to edge; −1 for the constant.
int defined_border_index(int index, int count, Border border);

/// The usual size of a kernel for sigma > 0.
int defined_kernel_size(double sigma, int sample_bits);

/// All coefficients of one axis, from edge to edge, zeros included; they add up to
/// 2^fraction_bits. sigma 0: the usual one for the size.
std::vector<std::int64_t> defined_kernel(int size, double sigma, int fraction_bits);

/// Writes every byte of every row of out.
void defined_blur(const FrameLayout& layout, const gaussblur::Parameters& parameters,
                  const ConstFrame& in, const Frame& out);

}  // namespace cudavision::test
