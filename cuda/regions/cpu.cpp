// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The blend of regions on the CPU. A row is copied first. Where regions reach it, the weights of
// its pixels are computed, and its channels are blended with them one after the other.

#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda/core/parallel.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/pixels/samples.h"
#include "cuda/regions/backend.h"

namespace cudavision::regions {
namespace {

/// Pixels [begin, end) of a row.
struct Span {
  int begin, end;
};

CUDAVISION_TARGET_CLONES
void raise_to_rectangle(const Box& box, int feather, int y, Span span, std::uint16_t* weights) {
  const int of_row = rectangle_weight(box.y0, box.y1, feather, y);
  for (int x = span.begin; x < span.end; ++x)
    weights[x] = static_cast<std::uint16_t>(
        std::max<int>(weights[x], std::min(rectangle_weight(box.x0, box.x1, feather, x), of_row)));
}

void raise_to_ellipse(const Region& region, int feather, int y, Span span, std::uint16_t* weights) {
  const Box& box = region.box;
  const EllipseOffset of_row = ellipse_offset(box.y0, box.y1, region.scale_y, y);
  for (int x = span.begin; x < span.end; ++x) {
    const EllipseOffset of_column = ellipse_offset(box.x0, box.x1, region.scale_x, x);
    weights[x] = static_cast<std::uint16_t>(
        std::max<int>(weights[x], ellipse_weight(of_column, of_row, feather)));
  }
}

struct Words {
  static constexpr int bytes = 2;
  int shift;
  std::uint32_t largest;

  std::uint32_t read(const std::uint8_t* from) const {
    return sample_value(load16(from), shift, largest);
  }
  void write(std::uint8_t* to, std::uint32_t value) const {
    const auto word = static_cast<std::uint16_t>(value << shift);
    std::memcpy(to, &word, sizeof word);
  }
};

struct Bytes {
  static constexpr int bytes = 1;

  std::uint32_t read(const std::uint8_t* from) const { return *from; }
  void write(std::uint8_t* to, std::uint32_t value) const {
    *to = static_cast<std::uint8_t>(value);
  }
};

/// Blends those samples of a channel whose pixels are in the span. The rows are those of its plane.
template <class Samples>
void blend(const Samples& samples, const Channel& channel, const std::uint16_t* weights, Span span,
           const std::uint8_t* in, const std::uint8_t* processed, std::uint8_t* out) {
  const auto samples_before = [&](int pixels) {
    return std::min((pixels + channel.subsampling_x - 1) / channel.subsampling_x, channel.width);
  };
  for (int x = samples_before(span.begin); x < samples_before(span.end); ++x) {
    const int weight = weights[x * channel.subsampling_x];
    if (weight == 0)
      continue;
    const std::ptrdiff_t at =
        (channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x) * Samples::bytes;
    samples.write(out + at, mixed(samples.read(in + at), samples.read(processed + at), weight));
  }
}

class RegionBlendCpu final : public RegionBlend::Backend {
 public:
  RegionBlendCpu(Device& device, const FrameLayout& layout)
      : layout_(layout), bands_(layout.height) {
    for (int b = 0; b < bands_.count(); ++b)
      weights_.push_back(
          device.allocate(sizeof(std::uint16_t) * static_cast<std::size_t>(layout.width)));
  }

  void set(const Parameters& parameters, const RegionList& regions, const ActiveCells*) override {
    shape_ = parameters.shape;
    feather_ = parameters.feather;
    invert_ = parameters.invert;
    regions_ = regions;
  }

  void run(const ConstFrame& in, const ConstFrame& processed, const Frame& out) override {
    bands_.for_each([&](const Band& band) {
      auto* const weights = weights_[band.number].as<std::uint16_t>();
      for (int p = 0; p < layout_.plane_count; ++p) {
        const int rows = layout_.planes[p].rows;
        const int end = bands_.first_of(rows, band.number + 1);
        for (int y = bands_.first_of(rows, band.number); y < end; ++y) {
          std::memcpy(out.planes[p].row(y), in.planes[p].row(y),
                      static_cast<std::size_t>(in.planes[p].width));
          if (layout_.bits > 8)
            blend_row(Words{layout_.shift, (1u << layout_.bits) - 1}, p, y, weights, in, processed,
                      out);
          else
            blend_row(Bytes{}, p, y, weights, in, processed, out);
        }
      }
    });
  }

 private:
  template <class Samples>
  void blend_row(const Samples& samples, int plane, int y, std::uint16_t* weights,
                 const ConstFrame& in, const ConstFrame& processed, const Frame& out) const {
    Span span{0, 0};
    int weighted = -1;  // the row of pixels whose weights have been computed
    for (int c = 0; c < layout_.channel_count; ++c) {
      const Channel& channel = layout_.channels[c];
      if (channel.plane != plane || y >= channel.height)
        continue;
      const int row = y * channel.subsampling_y;
      if (row != weighted)
        span = weigh(row, weights);
      weighted = row;
      blend(samples, channel, weights, span, in.planes[plane].row(y),
            processed.planes[plane].row(y), out.planes[plane].row(y));
    }
  }

  /// Computes the weights of a row of pixels. Returns a span outside of which they are 0 and have
  /// not been written.
  Span weigh(int y, std::uint16_t* weights) const {
    Span span = invert_ ? Span{0, layout_.width} : Span{layout_.width, 0};
    const auto span_of = [&](const Region& region) {
      const Box reached = grown(region.box, feather_);
      return y < reached.y0 || y >= reached.y1
                 ? Span{0, 0}
                 : Span{std::max(reached.x0, 0), std::min(reached.x1, layout_.width)};
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

  FrameLayout layout_;
  Bands bands_;
  std::vector<Buffer> weights_;  // of one row, by band
  Shape shape_ = Shape::rectangle;
  int feather_ = 0;
  bool invert_ = false;
  RegionList regions_;
};

}  // namespace

std::unique_ptr<RegionBlend::Backend> make_region_blend_cpu(Device& device,
                                                            const FrameLayout& layout) {
  return std::make_unique<RegionBlendCpu>(device, layout);
}

}  // namespace cudavision::regions
