// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/guided/guided_definition.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

using Wide = WideNumber;

/// Sums over the windows of all samples of a channel.
class Windows {
 public:
  Windows(const FrameLayout& layout, const Channel& channel, const ConstFrame& in, int radius)
      : width(channel.width),
        height(channel.height),
        layout_(layout),
        channel_(channel),
        in_(in),
        radius_x_(scaled_radius(radius, channel.subsampling_x)),
        radius_y_(scaled_radius(radius, channel.subsampling_y)) {}

  std::uint64_t sample(int x, int y) const {
    return static_cast<std::uint64_t>(defined_sample(layout_, in_, channel_, x, y));
  }

  /// Returns the sum of number(x, y), or of row-major `numbers`, over each sample's window.
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
  template <class Number>
  std::vector<Number> sums_of(const std::vector<Number>& numbers) const {
    return sums<Number>(
        [&](int x, int y) { return numbers[static_cast<std::size_t>(y) * width + x]; });
  }

  /// Calls visit(x, y, area, sum, sum of squares) for each sample's window, in row-major order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    const auto s = sums<std::uint64_t>([&](int x, int y) { return sample(x, y); });
    const auto q = sums<std::uint64_t>([&](int x, int y) { return sample(x, y) * sample(x, y); });
    std::size_t i = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x, ++i)
        visit(x, y, static_cast<std::uint64_t>(right(x) - left(x)) * (below(y) - above(y)), s[i],
              q[i]);
  }

  const int width, height;

 private:
  static long scaled_radius(int radius, int subsampling) {
    return static_cast<long>(std::floor(2.0 * radius / subsampling + 0.5)) / 2;
  }
  long left(int x) const { return std::max(x - radius_x_, 0l); }
  long right(int x) const { return std::min(x + radius_x_ + 1, long{width}); }
  long above(int y) const { return std::max(y - radius_y_, 0l); }
  long below(int y) const { return std::min(y + radius_y_ + 1, long{height}); }

  const FrameLayout& layout_;
  const Channel& channel_;
  const ConstFrame& in_;
  long radius_x_, radius_y_;
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

/// Returns the bit length of `area`: n with 2^(n − 1) ≤ area < 2^n.
int size_of(Wide area) {
  int n = 0;
  while (Wide{1} << n <= area)
    ++n;
  return n;
}

void filter(const FrameLayout& layout, const guided::Parameters& parameters, const Channel& channel,
            const ConstFrame& in, const Frame& out) {
  const Windows windows(layout, channel, in, parameters.radius);
  std::vector<std::uint64_t> slopes, offsets;
  windows.for_each([&](int, int, std::uint64_t area, std::uint64_t sum, std::uint64_t squares) {
    const DefinedGuidedWindow window{area, sum, squares, parameters.epsilon, layout.bits};
    slopes.push_back(window.slope());
    offsets.push_back(window.offset());
  });
  const auto slope_sums = windows.sums_of(slopes), offset_sums = windows.sums_of(offsets);
  std::size_t i = 0;
  windows.for_each([&](int x, int y, std::uint64_t area, std::uint64_t, std::uint64_t) {
    put_sample(layout, out, channel, x, y,
               static_cast<int>(defined_guided_level(area, layout.bits, windows.sample(x, y),
                                                     slope_sums[i], offset_sums[i])));
    ++i;
  });
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
    const Windows windows(layout, channel, in, parameters.radius);
    std::vector<double> a, b;
    windows.for_each([&](int, int, std::uint64_t area, std::uint64_t sum, std::uint64_t squares) {
      const auto n = static_cast<double>(area);
      const double variance = static_cast<double>(Wide{area} * squares - Wide{sum} * sum) / n / n;
      a.push_back(variance / (variance + epsilon));
      b.push_back((1 - a.back()) * static_cast<double>(sum) / n);
    });
    const auto a_sums = windows.sums_of(a), b_sums = windows.sums_of(b);
    std::size_t i = 0;
    windows.for_each([&](int x, int y, std::uint64_t area, std::uint64_t, std::uint64_t) {
      const auto n = static_cast<double>(area);
      visit(channel, x, y,
            a_sums[i] / n * static_cast<double>(windows.sample(x, y)) + b_sums[i] / n);
      ++i;
    });
  }
}

}  // namespace cudavision::test
