// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/regions/rowweights.h"

#include <algorithm>

#include "cuda/core/parallel.h"

namespace cudavision::regions {
namespace {

CUDAVISION_TARGET_CLONES
void raise_to_rectangle(const Box& box, int feather, int y, Span span, std::uint16_t* weights) {
  const int of_row = rectangle_weight(box.y0, box.y1, feather, y);
  for (int x = span.begin; x < span.end; ++x)
    weights[x] = static_cast<std::uint16_t>(
        std::max<int>(weights[x], std::min(rectangle_weight(box.x0, box.x1, feather, x), of_row)));
}

void raise_to_ellipse(const Region& region, int feather, int y, Span span, std::uint16_t* weights) {
  const Box& box = region.box;
  const EllipseOffset of_row = ellipse_offset(box.y0, box.y1, region.scale_y, feather, y);
  for (int x = span.begin; x < span.end; ++x) {
    const EllipseOffset of_column = ellipse_offset(box.x0, box.x1, region.scale_x, feather, x);
    weights[x] = static_cast<std::uint16_t>(
        std::max<int>(weights[x], ellipse_weight(of_column, of_row, feather)));
  }
}

}  // namespace

void RowWeights::set(const Parameters& parameters, const RegionList& regions) {
  shape_ = parameters.shape;
  feather_ = parameters.feather;
  invert_ = parameters.invert;
  regions_ = regions;
}

Span RowWeights::find(int y, std::uint16_t* weights) const {
  Span span = invert_ ? Span{0, width_} : Span{width_, 0};
  const auto span_of = [&](const Region& region) {
    const Box reached = grown(region.box, feather_);
    return y < reached.y0 || y >= reached.y1
               ? Span{0, 0}
               : Span{std::max(reached.x0, 0), std::min(reached.x1, width_)};
  };
  for (int i = 0; i < regions_.count; ++i) {
    const Span of_region = span_of(regions_.regions[i]);
    if (of_region.begin < of_region.end)
      span = {std::min(span.begin, of_region.begin), std::max(span.end, of_region.end)};
  }
  if (span.begin >= span.end)
    return {0, 0};
  std::fill(weights + span.begin, weights + span.end, std::uint16_t{0});
  for (int i = 0; i < regions_.count; ++i) {
    const Region& region = regions_.regions[i];
    if (shape_ == Shape::rectangle)
      raise_to_rectangle(region.box, feather_, y, span_of(region), weights);
    else
      raise_to_ellipse(region, feather_, y, span_of(region), weights);
  }
  if (invert_)
    for (int x = span.begin; x < span.end; ++x)
      weights[x] = static_cast<std::uint16_t>(full_weight - weights[x]);
  return span;
}

}  // namespace cudavision::regions
