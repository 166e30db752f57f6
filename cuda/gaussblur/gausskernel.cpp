// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/gaussblur/gausskernel.h"

#include <algorithm>
#include <cmath>

namespace cudavision::gaussblur {
namespace {

// OpenCV's tables for small kernels without a sigma. Rows start at the centre.
constexpr int largest_tabled = 9;
constexpr double tabled[largest_tabled / 2 + 1][largest_tabled / 2 + 1] = {
    {1.0},
    {0.5, 0.25},
    {0.375, 0.25, 0.0625},
    {0.28125, 0.21875, 0.109375, 0.03125},
    {60.0 / 256, 51.0 / 256, 30.0 / 256, 13.0 / 256, 4.0 / 256},
};

// Fills half with the coefficients before quantisation, starting at the centre.
void sample(int radius, double sigma, double* half) {
  if (sigma <= 0 && radius <= largest_tabled / 2) {
    std::copy(tabled[radius], tabled[radius] + radius + 1, half);
    return;
  }
  if (sigma <= 0)
    sigma = std::fma(2 * radius + 1, 0.15, 0.35);
  const double scale = -0.5 / (sigma * sigma);
  // Sums from the edge inwards, like OpenCV: the order affects the last bit.
  double sum = 0;
  for (int i = radius; i > 0; --i) {
    half[i] = std::exp(scale * (i * i));
    sum += half[i];
  }
  sum = 2 * sum + 1;
  half[0] = 1;
  const double factor = 1 / sum;
  for (int i = 0; i <= radius; ++i)
    half[i] *= factor;
}

}  // namespace

GaussKernel::GaussKernel(int fraction_bits) noexcept {
  half_[0] = 1u << fraction_bits;
}

GaussKernel::GaussKernel(int size, double sigma, int fraction_bits) noexcept {
  const int radius = size / 2;
  std::array<double, max_radius + 1> half;
  sample(radius, sigma, half.data());

  const double one = 1u << fraction_bits;
  double error = 0;
  std::uint32_t sum = 0;
  for (int i = radius; i > 0; --i) {
    const double wanted = half[i] * one + error;
    const double rounded = std::rint(wanted);
    error = wanted - rounded;
    half_[i] = static_cast<std::uint32_t>(rounded);
    sum += half_[i];
    if (half_[i] != 0)
      radius_ = std::max(radius_, i);
  }
  half_[0] = (1u << fraction_bits) - 2 * sum;
}

int GaussKernel::size_for(double sigma, int sample_bits) noexcept {
  const double size = std::rint(sigma * (sample_bits == 8 ? 6 : 8) + 1);
  return static_cast<int>(std::min<double>(size, max_size)) | 1;
}

}  // namespace cudavision::gaussblur
