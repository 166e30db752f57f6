// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The blend of regions on the CPU. Each row is copied first. If weights of a row may exceed 0, they
// are computed from the pixels that the samples cover, and the channels are blended in turn.

#include <algorithm>

#include "cuda/core/parallel.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/pixels/samples.h"
#include "cuda/regions/backend.h"

namespace cudavision::regions {
namespace {

struct Span {
  int begin, end;
};

/// Raises the weight of each pixel x in the span to at least weight(x).
template <class Weight>
CUDAVISION_TARGET_CLONES void raise_to(Span span, std::uint16_t* weights, Weight weight) {
  for (int x = span.begin; x < span.end; ++x)
    weights[x] = static_cast<std::uint16_t>(std::max<int>(weights[x], weight(x)));
}

struct Words {
  static constexpr int bytes = 2;
  int shift;
  std::uint32_t largest;

  std::uint32_t read(const std::uint8_t* from) const {
    return sample_value(load16(from), shift, largest);
  }
  void write(std::uint8_t* to, std::uint32_t value) const { store16(to, value << shift); }
};

struct Bytes {
  static constexpr int bytes = 1;

  std::uint32_t read(const std::uint8_t* from) const { return *from; }
  void write(std::uint8_t* to, std::uint32_t value) const {
    *to = static_cast<std::uint8_t>(value);
  }
};

/// Blends the samples of a channel in the span. in, processed and out are rows of its plane.
template <class Samples>
void blend(const Samples& samples, const Channel& channel, const std::uint16_t* weights, Span span,
           const std::uint8_t* in, const std::uint8_t* processed, std::uint8_t* out) {
  for (int x = span.begin; x < std::min(span.end, channel.width); ++x) {
    const int weight = weights[x];
    if (weight == 0)
      continue;
    const std::ptrdiff_t at =
        (channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x) * Samples::bytes;
    samples.write(out + at, blended(samples.read(in + at), samples.read(processed + at), weight));
  }
}

/// Sets each weight to the maximum of weights and others, where both are 0 outside their spans.
/// Returns the span that covers both spans.
Span raise(std::uint16_t* weights, Span span, const std::uint16_t* others, Span other_span) {
  if (other_span.begin >= other_span.end)
    return span;
  if (span.begin >= span.end)
    span = {other_span.begin, other_span.begin};
  const Span both{std::min(span.begin, other_span.begin), std::max(span.end, other_span.end)};
  std::fill(weights + both.begin, weights + span.begin, std::uint16_t{0});
  std::fill(weights + span.end, weights + both.end, std::uint16_t{0});
  for (int x = other_span.begin; x < other_span.end; ++x)
    weights[x] = std::max(weights[x], others[x]);
  return both;
}

struct WeightMemory {
  WeightMemory(Scratch& scratch, int width)
      : weights(scratch.take<std::uint16_t>(width)), others(scratch.take<std::uint16_t>(width)) {}

  std::uint16_t *weights, *others;
};

class RegionBlendCpu final : public RegionBlend::Backend {
 public:
  RegionBlendCpu(Device& device, const FrameLayout& layout)
      : layout_(layout), bands_(device, layout.height, scratch_bytes<WeightMemory>(layout.width)) {}

  void set(const Parameters& parameters, const Selection& selection) override {
    parameters_ = parameters;
    selection_ = selection;
  }

  void run(const ConstFrame& in, const ConstFrame& processed, const Frame& out,
           View<const std::uint8_t> distances) override {
    distances_ = distances;
    bands_.for_each([&](Band& band) {
      const WeightMemory memory(band.scratch, layout_.width);
      for (int p = 0; p < layout_.plane_count; ++p) {
        const Band rows = band.of(layout_.planes[p].rows);
        for (int y = rows.begin; y < rows.end; ++y) {
          copy_rows(in.planes[p], out.planes[p], y, y + 1);
          if (layout_.bits > 8)
            blend_row(Words{layout_.shift, (1u << layout_.bits) - 1}, p, y, memory, in, processed,
                      out);
          else
            blend_row(Bytes{}, p, y, memory, in, processed, out);
        }
      }
    });
  }

 private:
  template <class Samples>
  void blend_row(const Samples& samples, int plane, int y, const WeightMemory& memory,
                 const ConstFrame& in, const ConstFrame& processed, const Frame& out) const {
    Span span{0, 0};
    const Channel* weighted = nullptr;  // channel for which the weights have been computed
    for (int c = 0; c < layout_.channel_count; ++c) {
      const Channel& channel = layout_.channels[c];
      if (channel.plane != plane || y >= channel.height)
        continue;
      if (!weighted || channel.subsampling_x != weighted->subsampling_x)
        span = find_sample_weights(channel, y, memory);
      weighted = &channel;
      blend(samples, channel, memory.weights, span, in.planes[plane].row(y),
            processed.planes[plane].row(y), out.planes[plane].row(y));
    }
  }

  /// Computes the weights of a row of samples: the maximum over the pixels that each sample covers.
  /// Outside the returned span, all weights are 0, and memory.weights is undefined.
  Span find_sample_weights(const Channel& channel, int y, const WeightMemory& memory) const {
    std::uint16_t *const weights = memory.weights, *const others = memory.others;
    const CoveredPixels rows =
        covered_rows(y, channel.subsampling_y, layout_.height, parameters_.fields);
    Span span = find_pixel_weights(rows[0], weights);
    for (int i = 1; i < rows.count; ++i)
      span = raise(weights, span, others, find_pixel_weights(rows[i], others));
    const int pixels = channel.subsampling_x;
    if (pixels == 1 || span.begin >= span.end)
      return span;
    const Span samples{span.begin / pixels, (span.end - 1) / pixels + 1};
    for (int x = samples.begin; x < samples.end; ++x) {
      std::uint16_t largest = 0;
      for (int at = std::max(pixels * x, span.begin); at < std::min(pixels * (x + 1), span.end);
           ++at)
        largest = std::max(largest, weights[at]);
      weights[x] = largest;
    }
    return samples;
  }

  /// Computes the weights of a row of pixels. Outside the returned span, all weights are 0, but
  /// `weights` is not written.
  Span find_pixel_weights(int y, std::uint16_t* weights) const {
    const int feather = parameters_.feather;
    Span span = parameters_.invert ? Span{0, layout_.width} : Span{layout_.width, 0};
    const auto span_of = [&](const Box& reached) {
      return y < reached.y0 || y >= reached.y1
                 ? Span{0, 0}
                 : Span{std::max(reached.x0, 0), std::min(reached.x1, layout_.width)};
    };
    const auto extend = [](Span& whole, const Span& more) {
      if (more.begin < more.end)
        whole = {std::min(whole.begin, more.begin), std::max(whole.end, more.end)};
    };
    const auto reached = [&](int i) { return grown(selection_.regions[i].box, feather); };
    for (int i = 0; i < selection_.count; ++i)
      extend(span, span_of(reached(i)));
    for (int i = 0; i < selection_.rotated_count; ++i)
      extend(span, span_of(selection_.rotated[i].reached));
    Span masked{layout_.width, 0};
    for (int i = 0; i < selection_.mask_count; ++i)
      extend(masked, span_of(selection_.masks[i]));
    extend(span, masked);
    if (span.begin >= span.end)
      return {0, 0};
    std::fill(weights + span.begin, weights + span.end, std::uint16_t{0});
    for (int i = 0; i < selection_.count; ++i) {
      const Region region = selection_.regions[i];
      const Box box = region.box;
      if (parameters_.shape == Shape::rectangle) {
        const int of_row = rectangle_weight(box.y0, box.y1, feather, y);
        raise_to(span_of(reached(i)), weights, [=](int x) {
          return std::min(rectangle_weight(box.x0, box.x1, feather, x), of_row);
        });
      } else {
        const EllipseOffset of_row = ellipse_offset(box.y0, box.y1, region.scale_y, feather, y);
        raise_to(span_of(reached(i)), weights, [=](int x) {
          return ellipse_weight(ellipse_offset(box.x0, box.x1, region.scale_x, feather, x), of_row,
                                feather);
        });
      }
    }
    for (int i = 0; i < selection_.rotated_count; ++i) {
      const RotatedRegion& region = selection_.rotated[i];
      raise_to(span_of(region.reached), weights, [=, shape = parameters_.shape](int x) {
        return rotated_weight(region, shape, feather, x, y);
      });
    }
    if (masked.begin < masked.end)
      raise_to(masked, weights, [this, distances = distances_.row(y)](int x) {
        return mask_weight(distances[x], parameters_.mask_margin(), parameters_.mask_feather());
      });
    if (parameters_.invert)
      for (int x = span.begin; x < span.end; ++x)
        weights[x] = static_cast<std::uint16_t>(full_weight - weights[x]);
    return span;
  }

  FrameLayout layout_;
  Bands bands_;
  Parameters parameters_;
  Selection selection_;
  View<const std::uint8_t> distances_;
};

}  // namespace

std::unique_ptr<RegionBlend::Backend> make_region_blend_cpu(Device& device,
                                                            const FrameLayout& layout) {
  return std::make_unique<RegionBlendCpu>(device, layout);
}

}  // namespace cudavision::regions
