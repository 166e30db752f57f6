// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/nlmeans/nlmeans_definition.h"

#include <algorithm>
#include <cmath>

#include "cuda/core/border.h"
#include "tests/kernels/gaussblur/gaussblur_definition.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

class Numbers {
 public:
  Numbers(const FrameLayout& layout, const Channel& channel, const ConstFrame& in, int margin)
      : margin_(margin), width_(channel.width + 2 * margin) {
    for (int y = -margin; y < channel.height + margin; ++y)
      for (int x = -margin; x < channel.width + margin; ++x)
        numbers_.push_back(defined_sample(
            layout, in, channel, defined_border_index(x, channel.width, Border::reflect_101),
            defined_border_index(y, channel.height, Border::reflect_101)));
  }

  const std::int64_t* at(int x, int y) const {
    return numbers_.data() + static_cast<std::ptrdiff_t>(y + margin_) * width_ + x + margin_;
  }

 private:
  int margin_, width_;
  std::vector<std::int64_t> numbers_;
};

int power_for(int patch) {
  return static_cast<int>(std::ceil(std::log2(patch * patch)));
}

std::vector<std::int64_t> defined_weights(const nlmeans::Parameters& parameters, int bits,
                                          int channels) {
  const std::int64_t largest = ((std::int64_t{1} << 31) - 1) /
                               (255LL * parameters.frames * parameters.search * parameters.search);
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
      break;  // this weight and all later ones are 0, because weights fall with i
    weights[i] = static_cast<std::int64_t>(weight);
  }
  return weights;
}

void denoise(const FrameLayout& layout, const nlmeans::Parameters& parameters,
             const std::vector<Channel>& channels, const std::vector<ConstFrame>& frames,
             const Frame& out) {
  const int search = parameters.search / 2, patch = parameters.patch / 2;
  const int count = static_cast<int>(channels.size());
  const auto weights = defined_weights(parameters, layout.bits, count);
  const int shift = power_for(parameters.patch) + 2 * (layout.bits - 8);
  std::vector<std::vector<Numbers>> numbers(frames.size());
  for (std::size_t f = 0; f < frames.size(); ++f)
    for (const Channel& channel : channels)
      numbers[f].emplace_back(layout, channel, frames[f], search + patch);

  const auto distance = [&](int x, int y, std::size_t f, int other_x, int other_y) {
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < channels.size(); ++c)
      for (int dy = -patch; dy <= patch; ++dy) {
        const std::int64_t* one = numbers[0][c].at(x, y + dy);
        const std::int64_t* other = numbers[f][c].at(other_x, other_y + dy);
        for (int dx = -patch; dx <= patch; ++dx)
          sum += (one[dx] - other[dx]) * (one[dx] - other[dx]);
      }
    return sum;
  };
  for (int y = 0; y < channels[0].height; ++y)
    for (int x = 0; x < channels[0].width; ++x) {
      std::int64_t total = 0;
      std::vector<std::int64_t> sums(channels.size(), 0);
      for (std::size_t f = 0; f < frames.size(); ++f)
        for (int other_y = y - search; other_y <= y + search; ++other_y)
          for (int other_x = x - search; other_x <= x + search; ++other_x) {
            const std::int64_t weight = weights[distance(x, y, f, other_x, other_y) >> shift];
            total += weight;
            for (std::size_t c = 0; c < sums.size(); ++c)
              sums[c] += weight * *numbers[f][c].at(other_x, other_y);
          }
      for (std::size_t c = 0; c < sums.size(); ++c)
        put_sample(layout, out, channels[c], x, y, static_cast<int>((sums[c] + total / 2) / total));
    }
}

std::vector<Channel> channels_of(const FrameLayout& layout, const std::vector<int>& numbers) {
  std::vector<Channel> channels;
  for (const int c : numbers)
    channels.push_back(layout.channels[c]);
  return channels;
}

std::vector<std::vector<Channel>> each_of(const FrameLayout& layout,
                                          const std::vector<int>& numbers) {
  std::vector<std::vector<Channel>> groups;
  for (const Channel& channel : channels_of(layout, numbers))
    groups.push_back({channel});
  return groups;
}

double defined_strength(const std::vector<int>& channels, const ChannelVariances& noise,
                        const nlmeans::Parameters& parameters) {
  std::uint64_t sum = 0;
  for (const int c : channels)
    sum += noise[c];
  const double deviation = std::sqrt(static_cast<double>(sum / channels.size())) / 16;
  const double power =
      8 * (std::log2(0.95 * deviation + 0.5) + std::log2(21.0 / parameters.search) / 5 -
           std::log2(parameters.frames) / 7);
  return std::exp2(std::round(std::clamp(power, 0.0, 47.0)) / 8);
}

}  // namespace

void defined_denoising(const FrameLayout& layout, const nlmeans::Parameters& parameters,
                       const ChannelVariances& noise, const ConstFrame& in,
                       const std::vector<ConstFrame>& neighbours, const Frame& out) {
  copy_rows(layout, in, out);
  if (parameters.search == 1 && neighbours.empty())
    return;
  std::vector<ConstFrame> frames{in};
  frames.insert(frames.end(), neighbours.begin(), neighbours.end());

  std::vector<int> colours, chroma, luma;
  for (int c = 0; c < layout.channel_count; ++c) {
    const Role role = layout.channels[c].role;
    if (role == Role::red || role == Role::green || role == Role::blue)
      colours.push_back(c);
    else if (role == Role::chroma)
      chroma.push_back(c);
    else if (role == Role::luma)
      luma.push_back(c);
  }
  const auto denoise_all = [&](const std::vector<int>& channels, double strength,
                               const std::vector<std::vector<Channel>>& groups) {
    if (strength == 0 || channels.empty())
      return;
    nlmeans::Parameters set = parameters;
    set.strength = strength == -1 ? defined_strength(channels, noise, parameters) : strength;
    for (const std::vector<Channel>& group : groups)
      denoise(layout, set, group, frames, out);
  };
  denoise_all(colours, parameters.strength, {channels_of(layout, colours)});
  denoise_all(luma, parameters.strength, each_of(layout, luma));
  denoise_all(chroma,
              parameters.chroma_strength == -1 ? parameters.strength : parameters.chroma_strength,
              each_of(layout, chroma));
}

}  // namespace cudavision::test
