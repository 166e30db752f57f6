// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts regions on the CPU: the weights of each row are computed, and then those of its values
// count whose weight is above 0.

#include <vector>

#include "cuda/histequalize/bandedhistogram.h"
#include "cuda/histequalize/regionhistogram_backend.h"
#include "cuda/regions/rowweights.h"

namespace cudavision::histequalize {
namespace {

class RegionHistogramCpu final : public RegionHistogram::Backend {
 public:
  RegionHistogramCpu(Device& device, const FrameLayout& layout)
      : histogram_(device, layout), weights_(layout.width), luminance_(layout, Role::luma) {
    if (layout.find(Role::luma) < 0)
      for (const Role role : rgb_roles)
        channels_.emplace_back(layout, role);
  }

  void set(const regions::Parameters& parameters, const regions::Selection& selection) override {
    weights_.set(parameters, selection.regions);
  }

  void count(const ConstFrame& in, View<std::uint32_t> bins) override {
    if (bins.height == 1)
      return count(in, luminance_, bins.data);
    for (std::size_t c = 0; c < channels_.size(); ++c)
      count(in, channels_[c], bins.row(static_cast<int>(c)));
  }

 private:
  void count(const ConstFrame& in, const Samples& samples, std::uint32_t* bins) const {
    histogram_.run(bins, [&](const CountMemory& memory, int y) {
      const regions::Span span = weights_.find(y, memory.weights);
      if (span.begin >= span.end)
        return;
      histogram_.with_row(in, samples, memory, y, [&](const auto* values) {
        for (int x = span.begin; x < span.end; ++x)
          memory.tables[values[x]] += memory.weights[x] > 0;
      });
    });
  }

  BandedHistogram histogram_;
  regions::RowWeights weights_;
  Samples luminance_;
  std::vector<Samples> channels_;  // red, green and blue, or none
};

}  // namespace

std::unique_ptr<RegionHistogram::Backend> make_region_histogram_cpu(Device& device,
                                                                    const FrameLayout& layout) {
  return std::make_unique<RegionHistogramCpu>(device, layout);
}

}  // namespace cudavision::histequalize
