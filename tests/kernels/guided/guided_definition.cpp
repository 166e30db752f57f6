// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/guided/guided_definition.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

using Wide = WideNumber;

class Windows {
 public:
  Windows(const Channel& channel, int radius)
      : width(channel.width),
        height(channel.height),
        reach_x_(reach(radius, channel.subsampling_x)),
        reach_y_(reach(radius, channel.subsampling_y)) {}

  /// Returns the sum of number(x, y) over the window of each sample, row after row.
  template <class Number, class Get>
  std::vector<Number> sums(const Get& number) const {
    std::vector<Number> rows(static_cast<std::size_t>(width + 1) * (height + 1), Number{0});
    const auto corner = [&](long x, long y) -> Number& { return rows[y * (width + 1) + x]; };
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        corner(x + 1, y + 1) = corner(x, y + 1) + corner(x + 1, y) - corner(x, y) + number(x, y);
    std::vector<Number> result;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        result.push_back(corner(right(x), below(y)) - corner(left(x), below(y)) -
                         corner(right(x), above(y)) + corner(left(x), above(y)));
    return result;
  }

  std::uint64_t area(int x, int y) const {
    return static_cast<std::uint64_t>(right(x) - left(x)) * (below(y) - above(y));
  }

  const int width, height;

 private:
  static long reach(int radius, int subsampling) {
    return static_cast<long>(std::floor(2.0 * radius / subsampling + 0.5)) / 2;
  }
  long left(int x) const { return std::max(x - reach_x_, 0l); }
  long right(int x) const { return std::min(x + reach_x_ + 1, long{width}); }
  long above(int y) const { return std::max(y - reach_y_, 0l); }
  long below(int y) const { return std::min(y + reach_y_ + 1, long{height}); }

  long reach_x_, reach_y_;
};

/// Returns ⌊number · 2^power⌋.
Wide scaled(Wide number, int power) {
  return power >= 0 ? number << power : number >> -power;
}

/// Returns the exponent e that guided.h defines.
int headroom(double epsilon) {
  int e = 0;
  while (16384 + std::ceil(epsilon) >= std::ldexp(1.0, e))
    ++e;
  return e;
}

/// Returns n for 2^(n − 1) ≤ area < 2^n.
int size_of(Wide area) {
  int n = 0;
  while (Wide{1} << n <= area)
    ++n;
  return n;
}

void filter(const FrameLayout& layout, const guided::Parameters& parameters, const Channel& channel,
            const ConstFrame& in, const Frame& out) {
  const Windows windows(channel, parameters.radius);
  const auto sample = [&](int x, int y) {
    return static_cast<std::uint64_t>(defined_sample(layout, in, channel, x, y));
  };
  const auto s = windows.sums<std::uint64_t>(sample);
  const auto q =
      windows.sums<std::uint64_t>([&](int x, int y) { return sample(x, y) * sample(x, y); });
  std::vector<std::uint64_t> slopes, offsets;
  std::size_t i = 0;
  for (int y = 0; y < windows.height; ++y)
    for (int x = 0; x < windows.width; ++x, ++i) {
      const DefinedGuidedWindow window{windows.area(x, y), s[i], q[i], parameters.epsilon,
                                       layout.bits};
      slopes.push_back(window.slope());
      offsets.push_back(window.offset());
    }
  const auto at = [&](const std::vector<std::uint64_t>& numbers) {
    return [&numbers, &windows](int x, int y) {
      return numbers[static_cast<std::size_t>(y) * windows.width + x];
    };
  };
  const auto slope_sums = windows.sums<std::uint64_t>(at(slopes));
  const auto offset_sums = windows.sums<std::uint64_t>(at(offsets));
  i = 0;
  for (int y = 0; y < windows.height; ++y)
    for (int x = 0; x < windows.width; ++x, ++i)
      put_sample(
          layout, out, channel, x, y,
          static_cast<int>(defined_guided_level(windows.area(x, y), layout.bits, sample(x, y),
                                                slope_sums[i], offset_sums[i])));
}

}  // namespace

Wide DefinedGuidedWindow::v() const {
  return scaled(Wide{area} * squares - Wide{sum} * sum,
                31 - headroom(epsilon) - 2 * (bits - 8) - 2 * size_of(area));
}

Wide DefinedGuidedWindow::w() const {
  const auto rounded = static_cast<std::uint64_t>(std::max(1.0, std::nearbyint(256 * epsilon)));
  return scaled(Wide{rounded} * area * area, 31 - headroom(epsilon) - 2 * size_of(area) - 8);
}

std::uint64_t DefinedGuidedWindow::slope() const {
  return static_cast<std::uint64_t>((v() << 16) / (v() + w()));
}

std::uint64_t DefinedGuidedWindow::offset() const {
  const Wide mean = (Wide{sum} << (16 - bits)) / area;
  return static_cast<std::uint64_t>(((65536 - slope()) * mean + 32767) >> 16);
}

std::uint32_t defined_guided_level(std::uint64_t area, int bits, std::uint64_t sample,
                                   std::uint64_t slopes, std::uint64_t offsets) {
  return static_cast<std::uint32_t>(
      (Wide{slopes} * sample + (Wide{offsets} << bits) + (Wide{area} << 15)) / (Wide{area} << 16));
}

void defined_guided(const FrameLayout& layout, const guided::Parameters& parameters,
                    const ConstFrame& in, const Frame& out) {
  copy_rows(layout, in, out);
  if (parameters.radius == 0 || parameters.epsilon == 0)
    return;
  for (int c = 0; c < layout.channel_count; ++c)
    if (layout.channels[c].role != Role::alpha)
      filter(layout, parameters, layout.channels[c], in, out);
}

void for_each_real_guided(const FrameLayout& layout, const guided::Parameters& parameters,
                          const ConstFrame& in,
                          const std::function<void(const Channel&, int, int, double)>& visit) {
  const double epsilon = std::ldexp(parameters.epsilon, 2 * (layout.bits - 8));
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.role == Role::alpha)
      continue;
    const Windows windows(channel, parameters.radius);
    const auto sample = [&](int x, int y) {
      return static_cast<std::uint64_t>(defined_sample(layout, in, channel, x, y));
    };
    const auto s = windows.sums<std::uint64_t>(sample);
    const auto q =
        windows.sums<std::uint64_t>([&](int x, int y) { return sample(x, y) * sample(x, y); });
    std::vector<double> a, b;
    std::size_t i = 0;
    for (int y = 0; y < windows.height; ++y)
      for (int x = 0; x < windows.width; ++x, ++i) {
        const auto area = static_cast<double>(windows.area(x, y));
        const double mean = static_cast<double>(s[i]) / area;
        const double variance =
            static_cast<double>(Wide{windows.area(x, y)} * q[i] - Wide{s[i]} * s[i]) / area / area;
        a.push_back(variance / (variance + epsilon));
        b.push_back((1 - a.back()) * mean);
      }
    const auto at = [&](const std::vector<double>& numbers) {
      return [&numbers, &windows](int x, int y) {
        return numbers[static_cast<std::size_t>(y) * windows.width + x];
      };
    };
    const auto a_sums = windows.sums<double>(at(a)), b_sums = windows.sums<double>(at(b));
    i = 0;
    for (int y = 0; y < windows.height; ++y)
      for (int x = 0; x < windows.width; ++x, ++i) {
        const auto area = static_cast<double>(windows.area(x, y));
        visit(channel, x, y,
              a_sums[i] / area * static_cast<double>(sample(x, y)) + b_sums[i] / area);
      }
  }
}

}  // namespace cudavision::test
