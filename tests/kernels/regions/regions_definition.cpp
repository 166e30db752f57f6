// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/regions/regions_definition.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tests/kernels/common/rounding.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

using Wide = std::uint64_t;

/// Returns the integer square root of a value below 2^52.
Wide root(Wide value) {
  Wide result = 0;
  for (Wide bit = Wide{1} << 25; bit > 0; bit >>= 1)
    if ((result + bit) * (result + bit) <= value)
      result += bit;
  return result;
}

Wide magnitude(long long number) {
  return static_cast<Wide>(number < 0 ? -number : number);
}

int weight_in_rectangle(long long x0, long long y0, long long x1, long long y1, long long feather,
                        int x, int y) {
  const long long distance = std::max({0LL, x0 - x, x - x1 + 1, y0 - y, y - y1 + 1});
  if (distance == 0)
    return 256;
  return distance >= feather
             ? 0
             : static_cast<int>((256 * (feather - distance) + feather / 2) / feather);
}

int weight_in_ellipse(long long x0, long long y0, long long x1, long long y1, long long feather,
                      int x, int y) {
  if (x < x0 - feather || x >= x1 + feather || y < y0 - feather || y >= y1 + feather)
    return 0;
  const Wide u = magnitude(2LL * x + 1 - x0 - x1), v = magnitude(2LL * y + 1 - y0 - y1);
  const Wide maximum = Wide{1} << 25, unit = Wide{1} << 15;
  const Wide s = std::min(u * ((Wide{1} << 31) / static_cast<Wide>(x1 - x0)) >> 16, maximum);
  const Wide t = std::min(v * ((Wide{1} << 31) / static_cast<Wide>(y1 - y0)) >> 16, maximum);
  if (s * s + t * t <= unit * unit)
    return 256;
  if (feather == 0)
    return 0;
  const Wide r = root(s * s + t * t), p = root((u * u + v * v) * 256);
  const auto distance = static_cast<long long>(p * (r - unit) / r);
  return distance >= 32 * feather
             ? 0
             : static_cast<int>((8 * (32 * feather - distance) + feather / 2) / feather);
}

}  // namespace

/// Computes the weight of a pixel for a rotated box. 128-bit integers keep the products exact.
static int weight_in_rotated(const regions::Parameters& parameters, const regions::Box& box,
                             int angle, int x, int y) {
  using Exact = __int128;
  const auto absolute = [](Exact value) { return value < 0 ? -value : value; };
  const long long f = parameters.feather;
  const long long width = box.x1 - box.x0 + 2LL * parameters.margin;
  const long long height = box.y1 - box.y0 + 2LL * parameters.margin;
  const double turn = 6.283185307179586476925 * angle / 65536;
  const Exact c = std::llround(std::cos(turn) * 1073741824),
              s = std::llround(std::sin(turn) * 1073741824), unit = 1 << 30;
  const Exact u = 2LL * x + 1 - box.x0 - box.x1, v = 2LL * y + 1 - box.y0 - box.y1;
  const Exact p = absolute(u * c + v * s), q = absolute(v * c - u * s);
  long long distance = 0;  // in 1/32 pixels
  if (parameters.shape == regions::Shape::rectangle) {
    const Exact e = std::max(p - width * unit, q - height * unit) - absolute(c) - absolute(s);
    if (e >= 0)
      distance = static_cast<long long>(e / (1 << 26)) + 32;
  } else {
    const Wide maximum = Wide{1} << 25, one = Wide{1} << 15;
    const auto radius = [&](Exact place, long long side) {
      const Exact scaled = place / (1 << 22) * ((Exact{1} << 31) / side) / (1 << 24);
      return place >= (side + 2 * f) * unit || scaled > maximum ? maximum
                                                                : static_cast<Wide>(scaled);
    };
    const Wide along = radius(p, width), across = radius(q, height);
    if (along * along + across * across <= one * one)
      return 256;
    const Wide r = root(along * along + across * across);
    const Wide from_centre = root(static_cast<Wide>(u * u + v * v) * 256);
    distance = static_cast<long long>(from_centre * (r - one) / r);
    if (f == 0)
      return 0;
  }
  if (distance == 0)
    return 256;
  return distance >= 32 * f ? 0 : static_cast<int>((8 * (32 * f - distance) + f / 2) / f);
}

int defined_weight(const regions::Parameters& parameters, int x, int y, int distance) {
  int weight = 0;
  if (parameters.mask_count > 0) {
    const int margin = std::min(parameters.margin + parameters.mask_growth, 254);
    const int feather = std::min(parameters.feather, 255 - margin);
    const int beyond = distance - margin;
    if (beyond <= 0)
      weight = 256;
    else if (beyond < feather)
      weight = (256 * (feather - beyond) + feather / 2) / feather;
  }
  for (int i = 0; i < parameters.count; ++i) {
    const regions::Box& box = parameters.boxes[static_cast<std::size_t>(i)];
    if (box.x1 <= box.x0 || box.y1 <= box.y0)
      continue;
    const int m = parameters.margin, angle = parameters.angles[static_cast<std::size_t>(i)];
    if (angle != 0) {
      weight = std::max(weight, weight_in_rotated(parameters, box, angle, x, y));
      continue;
    }
    const auto of_shape =
        parameters.shape == regions::Shape::rectangle ? weight_in_rectangle : weight_in_ellipse;
    weight = std::max(
        weight, of_shape(box.x0 - m, box.y0 - m, box.x1 + m, box.y1 + m, parameters.feather, x, y));
  }
  return parameters.invert ? 256 - weight : weight;
}

/// Returns the weight of a channel's sample: the largest weight of the pixels that it covers.
static int defined_sample_weight(const FrameLayout& layout, const regions::Parameters& parameters,
                                 const Channel& channel, int x, int y,
                                 const std::vector<std::uint8_t>& distances) {
  const int last_column = layout.width - 1, last_row = layout.height - 1;
  int weight = 0;
  for (int j = 0; j < channel.subsampling_y; ++j)
    for (int i = 0; i < channel.subsampling_x; ++i) {
      int row = y * channel.subsampling_y + j;
      if (parameters.fields) {
        const int field = y % 2, row_of_field = y / 2;
        row = 2 * (row_of_field * channel.subsampling_y + j) + field;
      }
      const int column = x * channel.subsampling_x + i;
      const int from_x = std::min(column, last_column), from_y = std::min(row, last_row);
      const auto at = static_cast<std::size_t>(from_y) * static_cast<std::size_t>(layout.width) +
                      static_cast<std::size_t>(from_x);
      weight = std::max(weight, defined_weight(parameters, from_x, from_y,
                                               distances.empty() ? 255 : distances[at]));
    }
  return weight;
}

void defined_region_blend(const FrameLayout& layout, const regions::Parameters& parameters,
                          const ConstFrame& in, const ConstFrame& processed, const Frame& out,
                          const std::vector<std::uint8_t>& distances) {
  copy_rows(layout, in, out);
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[static_cast<std::size_t>(c)];
    for (int y = 0; y < channel.height; ++y)
      for (int x = 0; x < channel.width; ++x) {
        const int weight = defined_sample_weight(layout, parameters, channel, x, y, distances);
        if (weight == 0)
          continue;
        const int from = defined_sample(layout, in, channel, x, y);
        const int to = defined_sample(layout, processed, channel, x, y);
        put_sample(layout, out, channel, x, y, blended(from, to, weight));
      }
  }
}

}  // namespace cudavision::test
