// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/equalizedefinition.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/kernels/chroma/chroma_definition.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/histequalize/histequalize_definition.h"
#include "tests/kernels/pixels/luminance_definition.h"
#include "tests/kernels/regions/regions_definition.h"

namespace check {

namespace kernels = cudavision;
namespace definition = cudavision::test;

using kernels::FrameLayout;

Properties Equalization::properties() const {
  return {{"method", adaptive ? "clahe" : "equalize"},
          {"clip-limit", text_of(clip_limit)},
          {"channels", each_channel ? "rgb" : "luma"},
          {"strength", text_of(strength)},
          {"chroma", scales_chroma ? "scale" : "keep"}};
}

Properties Equalization::tile_properties() const {
  return {{"tiles-x", std::to_string(tiles_x)}, {"tiles-y", std::to_string(tiles_y)}};
}

namespace {

using kernels::histequalize::Parameters;

Parameters parameters_of(const Equalization& how, const FormatSpec& format) {
  const bool limited = how.limited && format.family != Family::rgb;
  Parameters parameters;
  parameters.channels =
      how.each_channel ? Parameters::Channels::each : Parameters::Channels::luminance;
  parameters.low = limited ? 16 << (format.bits - 8) : 0;
  parameters.high = limited ? 235 << (format.bits - 8) : format.peak();
  parameters.blend = static_cast<int>(std::nearbyint(256.0 * how.strength));
  return parameters;
}

kernels::clahe::Parameters tile_parameters_of(const Equalization& how, const FormatSpec& format) {
  return {parameters_of(how, format), how.clip_limit};
}

/// Applies chroma=scale to an equalised picture. With strength 0, chroma stays unchanged.
void finish_chroma(const Picture& in, const Equalization& how, Picture& out) {
  if (how.scales_chroma && in.format->family == Family::yuv &&
      parameters_of(how, *in.format).blend > 0)
    definition::defined_chroma(layout_of(in), how.limited, frame_of(in), frame_of(out));
}

std::vector<Bins> histograms_of(const FrameLayout& layout, Parameters::Channels channels,
                                const kernels::ConstFrame& in, const Regions* regions) {
  if (!regions)
    return definition::defined_histograms(layout, channels, in);
  const bool each = channels == Parameters::Channels::each;
  std::vector<Bins> histograms(each ? 3 : 1, Bins(std::size_t{1} << layout.bits, 0));
  const definition::DefinedLuminance luminance(layout, in);
  for (int y = 0; y < layout.height; ++y)
    for (int x = 0; x < layout.width; ++x) {
      if (definition::defined_weight(*regions, x, y) == 0)
        continue;
      for (std::size_t i = 0; i < histograms.size(); ++i)
        ++histograms[i][each ? static_cast<std::size_t>(definition::defined_sample(
                                   layout, in,
                                   definition::channel_of(layout, cudavision::rgb_roles[i]), x, y))
                             : luminance.at(x, y)];
    }
  return histograms;
}

}  // namespace

Picture equalized_by_regions(const Picture& picture, const Equalization& how,
                             const Regions& regions) {
  const auto parameters = parameters_of(how, *picture.format);
  return in_equalizable_format(picture, [&](const Picture& in, Picture& out) {
    std::vector<std::vector<int>> tables;
    for (const Bins& histogram :
         histograms_of(layout_of(in), parameters.channels, frame_of(in), &regions))
      tables.push_back(definition::defined_table(histogram, parameters.low, parameters.high));
    definition::defined_mapping(layout_of(in), parameters, tables, frame_of(in), frame_of(out));
    finish_chroma(in, how, out);
  });
}

Picture equalized(const Picture& picture, const Equalization& how) {
  const FormatSpec& format = *picture.format;
  return in_equalizable_format(picture, [&](const Picture& in, Picture& out) {
    if (how.adaptive) {
      definition::defined_adaptive_equalization(layout_of(in), {how.tiles_x, how.tiles_y},
                                                tile_parameters_of(how, format), frame_of(in),
                                                frame_of(out));
    } else {
      definition::defined_equalization(layout_of(in), parameters_of(how, format), frame_of(in),
                                       frame_of(out));
    }
    finish_chroma(in, how, out);
  });
}

Picture SmoothedEqualization::next(const Picture& picture, const Equalization& how, double elapsed,
                                   double smoothing_time, double scene_cut_threshold,
                                   const Regions* regions) {
  const kernels::histogramaverage::Parameters smoothing = {
      static_cast<int>(std::nearbyint(65536 * (1 - std::exp(-elapsed / smoothing_time)))),
      static_cast<int>(std::nearbyint(65536 * scene_cut_threshold))};
  if (how.adaptive != was_adaptive_)
    restart();
  was_adaptive_ = how.adaptive;
  const auto parameters = parameters_of(how, *picture.format);
  return in_equalizable_format(picture, [&](const Picture& in, Picture& out) {
    const FrameLayout layout = layout_of(in);
    if (how.adaptive) {
      adaptive_.next(layout, {how.tiles_x, how.tiles_y}, tile_parameters_of(how, *picture.format),
                     smoothing, frame_of(in), frame_of(out));
      return finish_chroma(in, how, out);
    }
    const auto histograms = histograms_of(layout, parameters.channels, frame_of(in), regions);
    const std::size_t bins = histograms[0].size();
    const auto count = static_cast<int>(histograms.size());
    Bins counts;
    for (const Bins& histogram : histograms)
      counts.insert(counts.end(), histogram.begin(), histogram.end());
    const Bins averages =
        average_.add(counts, count, smoothing, regions ? 0 : areas_.change(layout, frame_of(in)));

    std::vector<std::uint16_t> made;
    for (std::size_t start = 0; start < averages.size(); start += bins) {
      const auto first = averages.begin() + static_cast<std::ptrdiff_t>(start);
      const Bins average(first, first + static_cast<std::ptrdiff_t>(bins));
      for (const int entry : definition::defined_table(average, parameters.low, parameters.high))
        made.push_back(static_cast<std::uint16_t>(entry));
    }
    const auto& in_use = hysteresis_.follow(made, count, average_.status());
    std::vector<std::vector<int>> tables(histograms.size());
    for (std::size_t i = 0; i < in_use.size(); ++i)
      tables[i / bins].push_back(in_use[i]);
    definition::defined_mapping(layout, parameters, tables, frame_of(in), frame_of(out));
    finish_chroma(in, how, out);
  });
}

Bins luminance_histogram(const Picture& picture) {
  const Picture in = native(picture);
  return definition::defined_histogram(layout_of(in), frame_of(in));
}

Bins luminance_histogram(const Picture& picture, const Regions& regions) {
  const Picture in = native(picture);
  return histograms_of(layout_of(in), Parameters::Channels::luminance, frame_of(in), &regions)[0];
}

Statistics statistics_of(const Bins& bins) {
  const auto total = std::accumulate(bins.begin(), bins.end(), 0.0L);
  if (total == 0)
    return {};
  long double mean = 0, variance = 0, entropy = 0;
  for (std::size_t v = 0; v < bins.size(); ++v)
    if (bins[v] != 0) {
      const long double share = bins[v] / total;
      mean += share * static_cast<long double>(v);
      entropy -= share * std::log2(share);
    }
  for (std::size_t v = 0; v < bins.size(); ++v) {
    const long double distance = static_cast<long double>(v) - mean;
    variance += bins[v] / total * distance * distance;
  }
  const auto seen = [](std::uint32_t count) { return count != 0; };
  const auto first = std::find_if(bins.begin(), bins.end(), seen);
  const auto last = std::find_if(bins.rbegin(), bins.rend(), seen);
  return {static_cast<double>(mean), static_cast<double>(std::sqrt(variance)),
          static_cast<double>(entropy), static_cast<int>(first - bins.begin()),
          static_cast<int>(bins.rend() - last) - 1};
}

int percentile_of(const Bins& bins, int percent) {
  const auto total = std::accumulate(bins.begin(), bins.end(), std::uint64_t{0});
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < bins.size(); ++v) {
    sum += bins[v];
    if (sum * 100 >= total * static_cast<std::uint64_t>(percent))
      return static_cast<int>(v);
  }
  return static_cast<int>(bins.size()) - 1;
}

}  // namespace check
