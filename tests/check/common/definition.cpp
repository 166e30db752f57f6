// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definition.h"

#include <algorithm>
#include <cmath>

namespace check {

namespace {

int luminance(const Picture& picture, int x, int y) {
  if (picture.format->family != Family::rgb)
    return picture.sample(0, x, y);
  return (299 * picture.sample(0, x, y) + 587 * picture.sample(1, x, y) +
          114 * picture.sample(2, x, y)) /
         1000;
}

Bins channel_histogram(const Picture& picture, int place) {
  Bins bins(static_cast<std::size_t>(picture.format->peak()) + 1);
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      ++bins[static_cast<std::size_t>(picture.sample(place, x, y))];
  return bins;
}

std::uint64_t total_of(const Bins& bins) {
  std::uint64_t total = 0;
  for (std::uint64_t count : bins)
    total += count;
  return total;
}

std::vector<int> table_of(const Bins& hist, int low, int high) {
  const std::uint64_t total = total_of(hist);
  std::vector<int> lut(hist.size());
  std::size_t first = 0;
  while (hist[first] == 0)
    ++first;
  if (hist[first] == total) {
    for (std::size_t j = 0; j < lut.size(); ++j)
      lut[j] = static_cast<int>(j);
    return lut;
  }
  // volatile: each operation is to be rounded to binary32, whatever the compiler would prefer.
  volatile float scale = static_cast<float>(high - low) / static_cast<float>(total - hist[first]);
  std::uint64_t sum = 0;
  for (std::size_t j = 0; j < lut.size(); ++j) {
    if (j <= first) {
      lut[j] = low;
      continue;
    }
    sum += hist[j];
    volatile float product = static_cast<float>(sum) * scale;
    lut[j] = std::min(high, low + static_cast<int>(std::nearbyint(product)));
  }
  return lut;
}

int blended(int in, int eq, int weight) {
  const int scaled = weight * (eq - in) + 128;
  return in + static_cast<int>(std::floor(scaled / 256.0));
}

int saturated(int value, int peak) {
  return std::clamp(value, 0, peak);
}

}  // namespace

Bins luminance_histogram(const Picture& picture) {
  Bins bins(static_cast<std::size_t>(picture.format->peak()) + 1);
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      ++bins[static_cast<std::size_t>(luminance(picture, x, y))];
  return bins;
}

Picture equalized(const Picture& picture, const Equalization& how) {
  const FormatSpec& format = *picture.format;
  const int peak = format.peak();
  const bool limited = how.limited && format.family != Family::rgb;
  const int low = limited ? 16 << (format.bits - 8) : 0;
  const int high = limited ? 235 << (format.bits - 8) : peak;
  const int weight = static_cast<int>(std::nearbyint(256.0 * how.strength));
  const int places = static_cast<int>(format.places.size());

  std::vector<std::vector<int>> luts;
  if (how.each_channel)
    for (int place = 0; place < places; ++place)
      luts.push_back(table_of(channel_histogram(picture, place), low, high));
  else
    luts.push_back(table_of(luminance_histogram(picture), low, high));

  Picture out = picture;
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      const int u = luminance(picture, x, y);
      for (int place = 0; place < places; ++place) {
        const int in = picture.sample(place, x, y);
        int eq;
        if (how.each_channel)
          eq = luts[static_cast<std::size_t>(place)][static_cast<std::size_t>(in)];
        else if (format.family == Family::rgb)
          eq = saturated(in + luts[0][static_cast<std::size_t>(u)] - u, peak);
        else
          eq = luts[0][static_cast<std::size_t>(in)];
        out.set_sample(place, x, y, blended(in, eq, weight));
      }
    }
  return out;
}

Statistics statistics_of(const Bins& bins) {
  const long double total = static_cast<long double>(total_of(bins));
  long double mean = 0, variance = 0, entropy = 0;
  Statistics result;
  bool seen = false;
  for (std::size_t v = 0; v < bins.size(); ++v) {
    if (bins[v] == 0)
      continue;
    const long double share = static_cast<long double>(bins[v]) / total;
    mean += share * static_cast<long double>(v);
    entropy -= share * std::log2(share);
    if (!seen)
      result.minimum = static_cast<int>(v);
    result.maximum = static_cast<int>(v);
    seen = true;
  }
  for (std::size_t v = 0; v < bins.size(); ++v) {
    const long double off = static_cast<long double>(v) - mean;
    variance += static_cast<long double>(bins[v]) / total * off * off;
  }
  result.mean = static_cast<double>(mean);
  result.stddev = static_cast<double>(std::sqrt(variance));
  result.entropy = static_cast<double>(entropy);
  return result;
}

int percentile_of(const Bins& bins, int percent) {
  const std::uint64_t total = total_of(bins);
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < bins.size(); ++v) {
    sum += bins[v];
    if (sum * 100 >= total * static_cast<std::uint64_t>(percent))
      return static_cast<int>(v);
  }
  return static_cast<int>(bins.size()) - 1;
}

}  // namespace check
