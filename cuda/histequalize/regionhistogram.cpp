// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/histequalize/regionhistogram.h"

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/histequalize/checks.h"
#include "cuda/histequalize/regionhistogram_backend.h"

namespace cudavision::histequalize {

RegionHistogram::RegionHistogram(Device& device, const FrameLayout& layout,
                                 const regions::Parameters& parameters)
    : layout_(layout), parameters_(parameters) {
  check_luminance(operation, layout);
  const auto selection = regions::select(operation, layout, parameters);
  backend_ = dispatch<make_region_histogram_cuda, make_region_histogram_cpu>(device, layout);
  backend_->set(parameters, selection);
}

RegionHistogram::~RegionHistogram() = default;

void RegionHistogram::set_parameters(const regions::Parameters& parameters) {
  if (parameters == parameters_)
    return;
  backend_->set(parameters, regions::select(operation, layout_, parameters));
  parameters_ = parameters;
}

void RegionHistogram::run(const ConstFrame& in, View<std::uint32_t> bins) {
  check_frame(operation, layout_, in, "input");
  check_bins(layout_, bins);
  backend_->count(in, bins);
}

void RegionHistogram::run_each(const ConstFrame& in, View<std::uint32_t> bins) {
  check_frame(operation, layout_, in, "input");
  if (layout_.find(Role::luma) >= 0)
    refuse(operation, "counting each channel on its own needs RGB, and this picture has luma");
  View<std::uint32_t> first = bins;
  first.height = 1;
  check_bins(layout_, first);
  if (bins.height != 3 ||
      bins.pitch != static_cast<std::ptrdiff_t>(sizeof(std::uint32_t)) * bins.width)
    refuse(operation, "the histograms of red, green and blue must be three rows without gaps");
  backend_->count(in, bins);
}

}  // namespace cudavision::histequalize
