// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cuda/gaussblur/gaussblur.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

/// One blur of a frame.
struct GaussBlurCase : FilterCase<GaussBlurCase, gaussblur::GaussBlur, gaussblur::Parameters> {
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const;
};

using GaussBlurRunner = Runner<GaussBlurCase>;

/// The same sigma along both axes.
gaussblur::Parameters with_sigma(double sigma);

/// Kernels of these sizes with their usual sigmas.
gaussblur::Parameters with_size(int size_x, int size_y, Border border = Border::reflect_101);

/// with_sigma(2), changed.
gaussblur::Parameters changed(const std::function<void(gaussblur::Parameters&)>& change);

/// From 1/8 to `most`, log-uniform. It is a whole number divided by a power of two, so that it is
/// the same on every machine.
double random_sigma(Random& random, int most);

/// Odd, 1 to most, which is one less than a power of two.
int random_kernel_size(Random& random, int most);

/// Frames have at most max_pixels, and fewer where the kernels are large, since the definition is
/// slow.
GaussBlurCase make_gaussblur_case(std::uint64_t seed, int number, int max_pixels);

constexpr auto plain_gaussblur_case = plain_case<GaussBlurCase>;

std::string describe(const GaussBlurCase& test);

}  // namespace cudavision::test
