// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cuda/gaussblur/gaussblur.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

struct GaussBlurCase : FilterCase<GaussBlurCase, gaussblur::GaussBlur, gaussblur::Parameters> {
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const;
};

using GaussBlurRunner = Runner<GaussBlurCase>;

gaussblur::Parameters with_sigma(double sigma);

gaussblur::Parameters with_size(int size_x, int size_y, Border border = Border::reflect_101);

gaussblur::Parameters changed(const std::function<void(gaussblur::Parameters&)>& change);

/// Draws a log-uniform sigma of at least 1/8. It is dyadic, hence the same on every machine.
double random_sigma(Random& random, int maximum);

/// Draws an odd size up to `maximum`, which must be one less than a power of two.
int random_kernel_size(Random& random, int maximum);

/// Makes a case of at most max_pixels pixels, fewer with large kernels.
GaussBlurCase make_gaussblur_case(std::uint64_t seed, int number, int max_pixels);

constexpr auto plain_gaussblur_case = plain_case<GaussBlurCase>;

std::string describe(const GaussBlurCase& test);

}  // namespace cudavision::test
