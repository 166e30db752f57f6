// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/nlmeans/nlmeans_definition.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cuda/core/border.h"
#include "tests/kernels/gaussblur/gaussblur_definition.h"

namespace cudavision::test {
namespace {

/// A channel as numbers, with what is mirrored beyond its edges.
class Numbers {
 public:
  Numbers(const FrameLayout& layout, const Channel& channel, const ConstFrame& in, int reach)
      : reach_(reach), width_(channel.width + 2 * reach) {
    for (int y = -reach; y < channel.height + reach; ++y)
      for (int x = -reach; x < channel.width + reach; ++x)
        numbers_.push_back(get(layout, channel, in,
                               defined_border_index(x, channel.width, Border::reflect_101),
                               defined_border_index(y, channel.height, Border::reflect_101)));
  }

  const std::int64_t* at(int x, int y) const {
    return numbers_.data() + static_cast<std::ptrdiff_t>(y + reach_) * width_ + x + reach_;
  }

 private:
  static std::int64_t get(const FrameLayout& layout, const Channel& channel, const ConstFrame& in,
                          int x, int y) {
    const std::uint8_t* row = in.planes[channel.plane].row(y);
    const std::ptrdiff_t sample = channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x;
    if (layout.bits == 8)
      return row[sample];
    std::uint16_t word;
    std::memcpy(&word, row + 2 * sample, 2);
    return std::min(word >> layout.shift, (1 << layout.bits) - 1);
  }

  int reach_, width_;
  std::vector<std::int64_t> numbers_;
};

void put(const FrameLayout& layout, const Channel& channel, const Frame& out, int x, int y,
         std::int64_t value) {
  std::uint8_t* row = out.planes[channel.plane].row(y);
  const std::ptrdiff_t sample = channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x;
  if (layout.bits == 8) {
    row[sample] = static_cast<std::uint8_t>(value);
    return;
  }
  const auto word = static_cast<std::uint16_t>(value << layout.shift);
  std::memcpy(row + 2 * sample, &word, 2);
}

int power_for(int patch) {
  return static_cast<int>(std::ceil(std::log2(patch * patch)));
}

void denoise(const FrameLayout& layout, const nlmeans::Parameters& parameters,
             const std::vector<Channel>& channels, const ConstFrame& in, const Frame& out) {
  const int search = parameters.search / 2, patch = parameters.patch / 2;
  const int count = static_cast<int>(channels.size());
  const auto weights = defined_weights(parameters, layout.bits, count);
  const int shift = power_for(parameters.patch) + 2 * (layout.bits - 8);
  std::vector<Numbers> numbers;
  for (const Channel& channel : channels)
    numbers.emplace_back(layout, channel, in, search + patch);

  const auto distance = [&](int x, int y, int other_x, int other_y) {
    std::int64_t sum = 0;
    for (const Numbers& channel : numbers)
      for (int dy = -patch; dy <= patch; ++dy) {
        const std::int64_t* one = channel.at(x, y + dy);
        const std::int64_t* other = channel.at(other_x, other_y + dy);
        for (int dx = -patch; dx <= patch; ++dx)
          sum += (one[dx] - other[dx]) * (one[dx] - other[dx]);
      }
    return sum;
  };
  for (int y = 0; y < channels[0].height; ++y)
    for (int x = 0; x < channels[0].width; ++x) {
      std::int64_t total = 0;
      std::vector<std::int64_t> sums(channels.size(), 0);
      for (int other_y = y - search; other_y <= y + search; ++other_y)
        for (int other_x = x - search; other_x <= x + search; ++other_x) {
          const std::int64_t weight =
              weights[static_cast<std::size_t>(distance(x, y, other_x, other_y) >> shift)];
          total += weight;
          for (std::size_t c = 0; c < sums.size(); ++c)
            sums[c] += weight * *numbers[c].at(other_x, other_y);
        }
      for (std::size_t c = 0; c < sums.size(); ++c)
        put(layout, channels[c], out, x, y, (sums[c] + total / 2) / total);
    }
}

}  // namespace

std::vector<std::int64_t> defined_weights(const nlmeans::Parameters& parameters, int bits,
                                          int channels) {
  const std::int64_t largest =
      ((std::int64_t{1} << 31) - 1) / (255LL * parameters.search * parameters.search);
  const int area = parameters.patch * parameters.patch;
  const double f = std::ldexp(1.0, power_for(parameters.patch)) / area;
  const float h = static_cast<float>(parameters.strength);
  float divisor = h * h;
  divisor *= static_cast<float>(channels);
  const std::int64_t white = (std::int64_t{1} << bits) - 1;
  const std::int64_t count =
      (area * channels * white * white >> (power_for(parameters.patch) + 2 * (bits - 8))) + 1;
  std::vector<std::int64_t> weights(static_cast<std::size_t>(count), 0);
  weights[0] = largest;
  for (std::int64_t i = 1; i < count; ++i) {
    const double share = std::exp(-(static_cast<double>(i) * f) / static_cast<double>(divisor));
    const double weight = std::nearbyint(static_cast<double>(largest) * share);
    if (weight < 0.001 * static_cast<double>(largest))
      break;  // 0, as are all that follow, since weights fall with i
    weights[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(weight);
  }
  return weights;
}

void defined_denoising(const FrameLayout& layout, const nlmeans::Parameters& parameters,
                       const ConstFrame& in, const Frame& out) {
  for (int p = 0; p < layout.plane_count; ++p)
    for (int y = 0; y < layout.planes[p].rows; ++y)
      std::memcpy(out.planes[p].row(y), in.planes[p].row(y),
                  static_cast<std::size_t>(layout.planes[p].row_bytes));
  if (parameters.strength == 0 || parameters.search == 1)
    return;

  std::vector<Channel> colours;
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.role == Role::red || channel.role == Role::green || channel.role == Role::blue)
      colours.push_back(channel);
    else if (channel.role != Role::alpha)
      denoise(layout, parameters, {channel}, in, out);
  }
  if (!colours.empty())
    denoise(layout, parameters, colours, in, out);
}

}  // namespace cudavision::test
