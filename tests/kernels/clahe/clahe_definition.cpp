// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/clahe/clahe_definition.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/rounding.h"
#include "tests/kernels/histequalize/histequalize_definition.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

struct Plane {
  int width = 0, height = 0;
  std::vector<std::uint16_t> values;

  std::uint16_t& at(int x, int y) { return values[static_cast<std::size_t>(y) * width + x]; }
  int at(int x, int y) const { return const_cast<Plane&>(*this).at(x, y); }
};

/// Maps positions 0 to `count` − 1 to columns or rows; positions beyond the edges are reflected.
std::vector<int> reflected(int size, int count) {
  std::vector<int> places;
  int at = 0, direction = 1;
  for (int i = 0; i < count; ++i) {
    places.push_back(at);
    if (size == 1)
      continue;
    if (at + direction < 0 || at + direction >= size)
      direction = -direction;
    at += direction;
  }
  return places;
}

Plane extended(const Plane& picture, const clahe::Tiles& tiles) {
  if (picture.width % tiles.columns == 0 && picture.height % tiles.rows == 0)
    return picture;
  const auto columns =
      reflected(picture.width, picture.width + tiles.columns - picture.width % tiles.columns);
  const auto rows =
      reflected(picture.height, picture.height + tiles.rows - picture.height % tiles.rows);
  Plane result;
  result.width = static_cast<int>(columns.size());
  result.height = static_cast<int>(rows.size());
  for (const int y : rows)
    for (const int x : columns)
      result.values.push_back(static_cast<std::uint16_t>(picture.at(x, y)));
  return result;
}

using Histogram = std::vector<std::int64_t>;
using Table = std::vector<int>;

std::vector<Histogram> histograms_of(const Plane& picture, int bits, const clahe::Tiles& tiles) {
  const Plane whole = extended(picture, tiles);
  const int tile_width = whole.width / tiles.columns, tile_height = whole.height / tiles.rows;
  std::vector<Histogram> histograms;
  for (int row = 0; row < tiles.rows; ++row)
    for (int column = 0; column < tiles.columns; ++column) {
      Histogram histogram(std::size_t{1} << bits, 0);
      for (int y = 0; y < tile_height; ++y)
        for (int x = 0; x < tile_width; ++x)
          ++histogram[whole.at(column * tile_width + x, row * tile_height + y)];
      histograms.push_back(std::move(histogram));
    }
  return histograms;
}

Table table_of(Histogram histogram, const clahe::Parameters& parameters) {
  const auto bins = static_cast<std::int64_t>(histogram.size());
  const std::int64_t area = std::accumulate(histogram.begin(), histogram.end(), std::int64_t{0});
  if (area == 0) {
    Table identity(histogram.size());
    std::iota(identity.begin(), identity.end(), 0);
    return identity;
  }
  if (parameters.clip_limit > 0) {
    const double share =
        parameters.clip_limit * static_cast<double>(area) / static_cast<double>(bins);
    const std::int64_t limit = share >= static_cast<double>(area)
                                   ? area
                                   : std::max<std::int64_t>(1, static_cast<std::int64_t>(share));
    std::int64_t clipped = 0;
    for (std::int64_t& count : histogram)
      if (count > limit) {
        clipped += count - limit;
        count = limit;
      }
    for (std::int64_t& count : histogram)
      count += clipped / bins;
    std::int64_t residue = clipped % bins;
    if (residue > 0) {
      const std::int64_t step = std::max<std::int64_t>(bins / residue, 1);
      for (std::int64_t bin = 0; bin < bins && residue > 0; bin += step, --residue)
        ++histogram[bin];
    }
  }
  const float scale =
      static_cast<float>(parameters.high - parameters.low) / static_cast<float>(area);
  Table table;
  std::int64_t sum = 0;
  for (const std::int64_t count : histogram) {
    sum += count;
    // The product of two binary32 numbers is exact in binary64, so only the conversion rounds.
    const auto product = static_cast<float>(static_cast<double>(static_cast<float>(sum)) *
                                            static_cast<double>(scale));
    table.push_back(std::min(parameters.high, parameters.low + static_cast<int>(nearest(product))));
  }
  return table;
}

struct Place {
  Place(int pixel, int tile_size, int tiles) {
    const float inverse = 1.0f / static_cast<float>(tile_size);
    const float scaled = static_cast<float>(pixel) * inverse;
    const float position = scaled - 0.5f;
    const float below = std::floor(position);
    weight = position - below;
    first = std::max(static_cast<int>(below), 0);
    second = std::min(static_cast<int>(below) + 1, tiles - 1);
  }

  int first, second;
  float weight;  ///< weight of the second tile
};

float between(float first, float second, float weight) {
  const float rest = 1.0f - weight;
  const float one = first * rest;
  const float other = second * weight;
  return one + other;
}

Plane equalized(const Plane& picture, const clahe::Tiles& tiles, const std::vector<Table>& tables) {
  const Plane whole = extended(picture, tiles);
  const int tile_width = whole.width / tiles.columns, tile_height = whole.height / tiles.rows;
  Plane result = picture;
  for (int y = 0; y < picture.height; ++y) {
    const Place vertical(y, tile_height, tiles.rows);
    for (int x = 0; x < picture.width; ++x) {
      const Place horizontal(x, tile_width, tiles.columns);
      const auto value = static_cast<std::size_t>(picture.at(x, y));
      const auto level = [&](int row, int column) {
        return static_cast<float>(tables[row * tiles.columns + column][value]);
      };
      const auto in_row = [&](int row) {
        return between(level(row, horizontal.first), level(row, horizontal.second),
                       horizontal.weight);
      };
      result.at(x, y) = static_cast<std::uint16_t>(
          nearest(between(in_row(vertical.first), in_row(vertical.second), vertical.weight)));
    }
  }
  return result;
}

Plane plane_of(const FrameLayout& layout, const std::function<int(int x, int y)>& value) {
  Plane plane;
  plane.width = layout.width;
  plane.height = layout.height;
  for (int y = 0; y < layout.height; ++y)
    for (int x = 0; x < layout.width; ++x)
      plane.values.push_back(static_cast<std::uint16_t>(value(x, y)));
  return plane;
}

std::vector<Plane> planes_of(const FrameLayout& layout, const clahe::Parameters& parameters,
                             const ConstFrame& in) {
  const auto samples = [&](Role role) {
    return plane_of(layout, [&](int x, int y) {
      return defined_sample(layout, in, channel_of(layout, role), x, y);
    });
  };
  if (!is_rgb(layout))
    return {samples(Role::luma)};
  if (parameters.channels == clahe::Parameters::Channels::each)
    return {samples(Role::red), samples(Role::green), samples(Role::blue)};
  const DefinedLuminance luminance(layout, in);
  return {plane_of(layout, [&](int x, int y) { return static_cast<int>(luminance.at(x, y)); })};
}

/// Each equalised channel, or the luminance, has one entry of `planes` and one of `tables`.
void apply(const FrameLayout& layout, const clahe::Tiles& tiles,
           const clahe::Parameters& parameters, const std::vector<Plane>& planes,
           const std::vector<std::vector<Table>>& tables, const ConstFrame& in, const Frame& out) {
  std::vector<Plane> levels;
  for (std::size_t grid = 0; grid < planes.size(); ++grid)
    levels.push_back(equalized(planes[grid], tiles, tables[grid]));
  defined_levels(layout, parameters, in, out,
                 [&](std::size_t c, int, int x, int y) { return levels[c].at(x, y); });
}

}  // namespace

void defined_adaptive_equalization(const FrameLayout& layout, const clahe::Tiles& tiles,
                                   const clahe::Parameters& parameters, const ConstFrame& in,
                                   const Frame& out) {
  const std::vector<Plane> planes = planes_of(layout, parameters, in);
  std::vector<std::vector<Table>> tables;
  for (const Plane& plane : planes) {
    auto& grid = tables.emplace_back();
    for (const Histogram& histogram : histograms_of(plane, layout.bits, tiles))
      grid.push_back(table_of(histogram, parameters));
  }
  apply(layout, tiles, parameters, planes, tables, in, out);
}

void DefinedSmoothedClahe::next(const FrameLayout& layout, const clahe::Tiles& tiles,
                                const clahe::Parameters& parameters,
                                const histogramaverage::Parameters& smoothing, const ConstFrame& in,
                                const Frame& out) {
  const std::vector<Plane> planes = planes_of(layout, parameters, in);
  std::vector<std::uint32_t> counts;
  for (const Plane& plane : planes)
    for (const Histogram& histogram : histograms_of(plane, layout.bits, tiles))
      for (const std::int64_t count : histogram)
        counts.push_back(static_cast<std::uint32_t>(count));
  const std::ptrdiff_t bins = std::ptrdiff_t{1} << layout.bits;
  auto entry =
      DefinedSmoothing::next(
          layout, in, counts, static_cast<int>(static_cast<std::ptrdiff_t>(counts.size()) / bins),
          smoothing, parameters.low, parameters.high,
          [&](auto begin, auto end) { return table_of(Histogram(begin, end), parameters); })
          .begin();
  std::vector<std::vector<Table>> tables(planes.size());
  for (auto& grid : tables)
    for (int tile = 0; tile < tiles.columns * tiles.rows; ++tile, entry += bins)
      grid.emplace_back(entry, entry + bins);
  apply(layout, tiles, parameters, planes, tables, in, out);
}

}  // namespace cudavision::test
