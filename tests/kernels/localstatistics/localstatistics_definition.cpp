// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/localstatistics/localstatistics_definition.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/kernels/common/rounding.h"

namespace cudavision::test {
namespace {

using Wide = unsigned __int128;

Wide scaled_variance(const DefinedWindow& window) {
  return Wide{window.area} * window.squared_sum - Wide{window.sum} * window.sum;
}

/// Returns the integer square root, found bit by bit. Roots here have fewer than 49 bits.
std::uint64_t integer_root(Wide value) {
  std::uint64_t root = 0;
  for (int bit = 48; bit >= 0; --bit) {
    const std::uint64_t larger = root | std::uint64_t{1} << bit;
    if (Wide{larger} * larger <= value)
      root = larger;
  }
  return root;
}

__int128 sum_above(const DefinedWindow& window, int low) {
  return static_cast<__int128>(window.sum) - static_cast<__int128>(window.area) * low;
}

std::uint64_t white(int bits) {
  return (std::uint64_t{1} << bits) - 1;
}

}  // namespace

DefinedWindow defined_window(const DefinedLuminance& picture, int radius, int x, int y) {
  DefinedWindow window;
  for (int v = std::max(0, y - radius); v < picture.height && v <= y + radius; ++v)
    for (int u = std::max(0, x - radius); u < picture.width && u <= x + radius; ++u) {
      const std::uint64_t level = picture.at(u, v);
      window.area += 1;
      window.sum += level;
      window.squared_sum += level * level;
    }
  return window;
}

void for_each_defined_window(
    const DefinedLuminance& picture, int radius,
    const std::function<void(int x, int y, const DefinedWindow& window)>& take) {
  const int width = picture.width, height = picture.height;
  // For each column, `columns` holds the sums over the window's rows.
  std::vector<DefinedWindow> columns(static_cast<std::size_t>(width));
  int first = 0, end = 0;  // the columns hold rows `first` to `end` − 1
  for (int y = 0; y < height; ++y) {
    for (; end < height && end <= y + radius; ++end)
      for (int x = 0; x < width; ++x) {
        DefinedWindow& column = columns[x];
        const std::uint64_t level = picture.at(x, end);
        column = {column.area + 1, column.sum + level, column.squared_sum + level * level};
      }
    for (; first < y - radius; ++first)
      for (int x = 0; x < width; ++x) {
        DefinedWindow& column = columns[x];
        const std::uint64_t level = picture.at(x, first);
        column = {column.area - 1, column.sum - level, column.squared_sum - level * level};
      }
    std::vector<DefinedWindow> from_the_left{{}};
    for (const DefinedWindow& column : columns) {
      const DefinedWindow& before = from_the_left.back();
      from_the_left.push_back({before.area + column.area, before.sum + column.sum,
                               before.squared_sum + column.squared_sum});
    }
    for (int x = 0; x < width; ++x) {
      const DefinedWindow& right = from_the_left[std::min(width, x + radius + 1)];
      const DefinedWindow& left = from_the_left[std::max(0, x - radius)];
      take(x, y,
           {right.area - left.area, right.sum - left.sum, right.squared_sum - left.squared_sum});
    }
  }
}

std::uint64_t defined_mean(const DefinedWindow& window) {
  return (2 * window.sum + window.area) / (2 * window.area);
}

std::uint64_t defined_deviation(const DefinedWindow& window) {
  const Wide variance = scaled_variance(window);
  const std::uint64_t root = integer_root(variance);
  const std::uint64_t above = variance - Wide{root} * root > root ? 1 : 0;
  return (2 * root + above + window.area) / (2 * window.area);
}

bool defined_bradley_black(const DefinedWindow& window, std::uint64_t level, double ratio,
                           int low) {
  const auto above = static_cast<std::int64_t>(level) - low;
  const auto share = static_cast<std::int64_t>(65536 - nearest(ratio * 65536));
  return static_cast<__int128>(above) * static_cast<std::int64_t>(window.area) * 65536 <
         sum_above(window, low) * share;
}

bool defined_sauvola_black(const DefinedWindow& window, std::uint64_t level, double k, double range,
                           int low) {
  const auto area = static_cast<double>(window.area);
  const auto sum = static_cast<double>(sum_above(window, low));
  const double root = std::sqrt(static_cast<double>(scaled_variance(window)));
  const double deviation = root / area;
  const double share = deviation / range;
  const double difference = share - 1;
  const double change = k * difference;
  const double factor = 1 + change;
  const double mean = sum / area;
  const double threshold = mean * factor;
  return static_cast<double>(static_cast<std::int64_t>(level) - low) < threshold;
}

void defined_statistics(const FrameLayout& layout, int output_bits,
                        const localstatistics::Parameters& parameters, const ConstFrame& in,
                        View<std::uint8_t> out) {
  using Output = localstatistics::Parameters::Output;
  const DefinedLuminance picture(layout, in);
  const double unit = std::exp2(layout.bits - 8);
  const int low = parameters.limited_range ? static_cast<int>(16 * unit) : 0;
  const double half = parameters.limited_range ? (235 - 16) * unit / 2 : 128 * unit;
  const double range = parameters.range != 0 ? parameters.range : half;
  const auto value = [&](const DefinedWindow& window, std::uint64_t level) {
    switch (parameters.output) {
      case Output::mean:
        return defined_mean(window) << (output_bits - layout.bits);
      case Output::stddev:
        return defined_deviation(window) << (output_bits - layout.bits);
      case Output::bradley:
        return defined_bradley_black(window, level, parameters.ratio, low) != parameters.invert
                   ? 0
                   : white(output_bits);
      default:
        return defined_sauvola_black(window, level, parameters.k, range, low) != parameters.invert
                   ? 0
                   : white(output_bits);
    }
  };
  for_each_defined_window(
      picture, parameters.radius, [&](int x, int y, const DefinedWindow& window) {
        const std::uint64_t sample = value(window, picture.at(x, y));
        if (output_bits == 8) {
          out.row(y)[x] = static_cast<std::uint8_t>(sample);
          return;
        }
        const auto word = static_cast<std::uint16_t>(sample);
        std::memcpy(out.row(y) + std::size_t{2} * static_cast<std::size_t>(x), &word, 2);
      });
}

}  // namespace cudavision::test
