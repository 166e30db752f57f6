// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/gaussblur/gaussblur_case.h"

#include <algorithm>
#include <cstdio>

#include "tests/kernels/gaussblur/gaussblur_definition.h"

namespace cudavision::test {
namespace {

/// The largest number of multiplications that the definition may spend on one channel.
constexpr int max_products = 1 << 26;

double case_sigma(Random& random) {
  return random.one_in(8) ? 0 : random_sigma(random, random.one_in(4) ? 127 : 8);
}

int case_size(Random& random) {
  if (random.one_in(2))
    return 0;
  return random_kernel_size(random, random.one_in(4) ? 1023 : random.one_in(4) ? 255 : 31);
}

std::uint16_t random_border_value(Random& random, int largest) {
  const int values[] = {0, largest, random.between(0, largest)};
  return static_cast<std::uint16_t>(values[random.between(0, 2)]);
}

gaussblur::Parameters random_parameters(const FrameLayout& layout, Random& random) {
  gaussblur::Parameters parameters;
  parameters.sigma_x = case_sigma(random);
  parameters.sigma_y = random.one_in(2) ? parameters.sigma_x : case_sigma(random);
  parameters.size_x = case_size(random);
  parameters.size_y = random.one_in(2) ? parameters.size_x : case_size(random);
  parameters.sharpen = random.one_in(4);
  parameters.border = static_cast<Border>(random.between(0, 4));
  for (int c = 0; c < layout.channel_count; ++c)
    parameters.border_values[c] = random_border_value(random, (1 << layout.bits) - 1);
  parameters.blur_alpha = !random.one_in(4);
  parameters.fields = random.one_in(4);
  parameters.fine = random.one_in(4);
  return parameters;
}

int taps(double sigma, int size, int bits) {
  return size != 0 ? size : sigma > 0 ? defined_kernel_size(sigma, bits) : 1;
}

const char* name(Border border) {
  constexpr const char* names[] = {"reflect-101", "replicate", "reflect", "wrap", "constant"};
  return names[static_cast<int>(border)];
}

std::string describe(const gaussblur::Parameters& p) {
  char text[160];
  std::snprintf(text, sizeof text, "sigma %.10g, %.10g, size %d, %d, border %s", p.sigma_x,
                p.sigma_y, p.size_x, p.size_y, name(p.border));
  std::string description = text;
  if (p.border == Border::constant)
    for (const unsigned value : p.border_values)
      description += " " + std::to_string(value);
  return description + (p.sharpen ? ", sharpen" : "") + (p.blur_alpha ? "" : ", alpha kept") +
         (p.fields ? ", fields" : "") + (p.fine ? ", fine" : "");
}

}  // namespace

gaussblur::Parameters with_sigma(double sigma) {
  gaussblur::Parameters parameters;
  parameters.sigma_x = parameters.sigma_y = sigma;
  return parameters;
}

gaussblur::Parameters with_size(int size_x, int size_y, Border border) {
  gaussblur::Parameters parameters = with_sigma(0);
  parameters.size_x = size_x;
  parameters.size_y = size_y;
  parameters.border = border;
  return parameters;
}

gaussblur::Parameters changed(const std::function<void(gaussblur::Parameters&)>& change) {
  gaussblur::Parameters parameters = with_sigma(2);
  change(parameters);
  return parameters;
}

double random_sigma(Random& random, int maximum) {
  const int eighths = random.log_uniform(8 * maximum);
  return (eighths + (eighths < 8 * maximum ? random.between(0, 1023) / 1024.0 : 0)) / 8;
}

int random_kernel_size(Random& random, int maximum) {
  return (random.log_uniform(maximum + 1) - 1) | 1;
}

GaussBlurCase make_gaussblur_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  const FrameLayout smallest = layout_kind_of_case(number).make(1, 1);
  const gaussblur::Parameters p = random_parameters(smallest, random);
  const int products_per_pixel =
      taps(p.sigma_x, p.size_x, smallest.bits) + taps(p.sigma_y, p.size_y, smallest.bits);
  auto test = random_frame_case<GaussBlurCase>(
      number, std::min(max_pixels, max_products / products_per_pixel), random);
  test.parameters = p;
  return drawn(test, random);
}

std::string describe(const GaussBlurCase& test) {
  return describe(test, describe(test.parameters));
}

void GaussBlurCase::define(const ConstFrame& from, const Frame& to) const {
  defined_blur(layout, parameters, from, to);
}

gaussblur::Parameters GaussBlurCase::other_parameters() const {
  Parameters other;
  other.sigma_x = 3.3;
  other.size_y = 71;
  other.sharpen = !parameters.sharpen;
  other.border = parameters.border == Border::wrap ? Border::replicate : Border::wrap;
  other.blur_alpha = !parameters.blur_alpha;
  other.fields = !parameters.fields;
  other.fine = !parameters.fine;
  return other;
}

}  // namespace cudavision::test
