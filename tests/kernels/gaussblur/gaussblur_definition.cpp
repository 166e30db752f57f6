// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/gaussblur/gaussblur_definition.h"

#include <algorithm>
#include <cmath>

#include "tests/kernels/common/rounding.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

/// Returns normalised samples, or fixed coefficients for small sizes with sigma 0. They have more
/// digits than binary64, so that coefficients that depend on its last digit fail the test.
std::vector<long double> sampled_gaussian(int size, double sigma) {
  if (sigma == 0) {
    switch (size) {
      case 1:
        return {1};
      case 3:
        return {0.25L, 0.5L, 0.25L};
      case 5:
        return {1 / 16.0L, 4 / 16.0L, 6 / 16.0L, 4 / 16.0L, 1 / 16.0L};
      case 7:
        return {1 / 32.0L, 3.5L / 32, 7 / 32.0L, 9 / 32.0L, 7 / 32.0L, 3.5L / 32, 1 / 32.0L};
      case 9:
        return {4 / 256.0L,  13 / 256.0L, 30 / 256.0L, 51 / 256.0L, 60 / 256.0L,
                51 / 256.0L, 30 / 256.0L, 13 / 256.0L, 4 / 256.0L};
      default:
        break;
    }
  }
  const long double s = sigma > 0 ? sigma : 0.15L * size + 0.35L;
  std::vector<long double> samples;
  long double sum = 0;
  for (int i = 0; i < size; ++i) {
    const long double distance = i - size / 2;
    samples.push_back(std::exp(-distance * distance / (2 * s * s)));
    sum += samples.back();
  }
  for (long double& sample : samples)
    sample /= sum;
  return samples;
}

struct Field {
  const FrameLayout& layout;
  const Channel& channel;
  int first_row, row_step, rows;

  std::int64_t get(const ConstFrame& frame, int x, int y) const {
    return defined_sample(layout, frame, channel, x, first_row + row_step * y);
  }
  void put(const Frame& frame, int x, int y, std::int64_t value) const {
    put_sample(layout, frame, channel, x, first_row + row_step * y, static_cast<int>(value));
  }
};

std::vector<std::int64_t> axis_kernel(const FrameLayout& layout, double sigma, int size,
                                      int subsampling, int fraction_bits) {
  if (size == 0 && sigma == 0)
    size = 1;
  else if (size == 0)
    size = defined_kernel_size(sigma, layout.bits);
  if (subsampling != 1) {
    size = static_cast<int>(nearest(static_cast<long double>(size - 1) / subsampling));
    size += size % 2 == 0;
  }
  return defined_kernel(size, sigma / subsampling, fraction_bits);
}

/// Computes line[i] = Σ kernel(j)·line(i + j) exactly.
void convolve(std::vector<std::int64_t>& line, const std::vector<std::int64_t>& kernel,
              Border border, std::int64_t constant) {
  const int count = static_cast<int>(line.size());
  const int size = static_cast<int>(kernel.size());
  const int radius = size / 2;
  std::vector<std::int64_t> padded;
  for (int i = -radius; i < count + radius; ++i) {
    const int from = defined_border_index(i, count, border);
    padded.push_back(from < 0 ? constant : line[from]);
  }
  std::fill(line.begin(), line.end(), 0);
  for (int j = 0; j < size; ++j) {
    const std::int64_t coefficient = kernel[j];
    const std::int64_t* shifted = padded.data() + j;
    for (int i = 0; coefficient != 0 && i < count; ++i)
      line[i] += coefficient * shifted[i];
  }
}

void blur(const Field& field, const gaussblur::Parameters& parameters, int channel,
          const ConstFrame& in, const Frame& out) {
  const FrameLayout& layout = field.layout;
  const int bits = layout.bits > 8 || parameters.fine ? 16 : 8;
  const std::int64_t one = std::int64_t{1} << bits;
  const std::int64_t largest = (std::int64_t{1} << layout.bits) - 1;
  const int width = field.channel.width, height = field.rows;
  const bool constant = parameters.border == Border::constant;
  auto kernel_x =
      axis_kernel(layout, parameters.sigma_x, parameters.size_x, field.channel.subsampling_x, bits);
  auto kernel_y =
      axis_kernel(layout, parameters.sigma_y, parameters.size_y, field.channel.subsampling_y, bits);
  if (width == 1 && !constant)
    kernel_x = {one};
  if (height == 1 && !constant)
    kernel_y = {one};
  const std::int64_t beyond = parameters.border_values[channel];

  std::vector<std::vector<std::int64_t>> columns(static_cast<std::size_t>(width));
  std::vector<std::int64_t> row(static_cast<std::size_t>(width));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x)
      row[x] = field.get(in, x, y);
    convolve(row, kernel_x, parameters.border, beyond);
    for (int x = 0; x < width; ++x)
      columns[x].push_back(row[x]);
  }
  for (int x = 0; x < width; ++x) {
    auto& column = columns[x];
    convolve(column, kernel_y, parameters.border, beyond * one);
    for (int y = 0; y < height; ++y) {
      const std::int64_t blurred = (column[y] + one * one / 2) / (one * one);
      field.put(out, x, y,
                parameters.sharpen
                    ? std::clamp<std::int64_t>(2 * field.get(in, x, y) - blurred, 0, largest)
                    : blurred);
    }
  }
}

}  // namespace

int defined_border_index(int index, int count, Border border) {
  while (index < 0 || index >= count) {
    const bool before = index < 0;
    switch (border) {
      case Border::constant:
        return -1;
      case Border::replicate:
        index = before ? 0 : count - 1;
        break;
      case Border::wrap:
        index += before ? count : -count;
        break;
      case Border::reflect:  // mirrors about the frame's edge: the edge sample repeats
        index = before ? -1 - index : 2 * count - 1 - index;
        break;
      case Border::reflect_101:  // mirrors about the centre of the edge sample
        if (count == 1)
          return 0;
        index = before ? -index : 2 * (count - 1) - index;
        break;
    }
  }
  return index;
}

int defined_kernel_size(double sigma, int sample_bits) {
  const double extent = sigma * (sample_bits == 8 ? 6 : 8) + 1;
  const auto size = static_cast<int>(nearest(extent));
  return std::min(1023, size + (size % 2 == 0));
}

std::vector<std::int64_t> defined_kernel(int size, double sigma, int fraction_bits) {
  const auto samples = sampled_gaussian(size, sigma);
  const std::int64_t one = std::int64_t{1} << fraction_bits;
  std::vector<std::int64_t> kernel(samples.size());
  long double error = 0;
  std::int64_t sides = 0;
  const std::size_t last = samples.size() - 1;
  for (std::size_t i = 0; i < samples.size() / 2; ++i) {
    const long double wanted = samples[i] * one + error;
    kernel[i] = kernel[last - i] = nearest(wanted);
    error = wanted - kernel[i];
    sides += 2 * kernel[i];
  }
  kernel[samples.size() / 2] = one - sides;
  return kernel;
}

void defined_blur(const FrameLayout& layout, const gaussblur::Parameters& parameters,
                  const ConstFrame& in, const Frame& out) {
  copy_rows(layout, in, out);

  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.role == Role::alpha && !parameters.blur_alpha)
      continue;
    if (!parameters.fields) {
      blur({layout, channel, 0, 1, channel.height}, parameters, c, in, out);
      continue;
    }
    blur({layout, channel, 0, 2, (channel.height + 1) / 2}, parameters, c, in, out);
    if (channel.height > 1)
      blur({layout, channel, 1, 2, channel.height / 2}, parameters, c, in, out);
  }
}

}  // namespace cudavision::test
