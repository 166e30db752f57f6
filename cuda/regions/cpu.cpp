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
#include "cuda/regions/rowweights.h"

namespace cudavision::regions {
namespace {

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
      : layout_(layout), bands_(layout.height), row_weights_(layout.width) {
    for (int b = 0; b < bands_.count(); ++b)
      weights_.push_back(
          device.allocate(sizeof(std::uint16_t) * static_cast<std::size_t>(layout.width)));
  }

  void set(const Parameters& parameters, const RegionList& regions, const ActiveCells*) override {
    row_weights_.set(parameters, regions);
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
        span = row_weights_.find(row, weights);
      weighted = row;
      blend(samples, channel, weights, span, in.planes[plane].row(y),
            processed.planes[plane].row(y), out.planes[plane].row(y));
    }
  }

  FrameLayout layout_;
  Bands bands_;
  std::vector<Buffer> weights_;  // of one row, by band
  RowWeights row_weights_;
};

}  // namespace

std::unique_ptr<RegionBlend::Backend> make_region_blend_cpu(Device& device,
                                                            const FrameLayout& layout) {
  return std::make_unique<RegionBlendCpu>(device, layout);
}

}  // namespace cudavision::regions
