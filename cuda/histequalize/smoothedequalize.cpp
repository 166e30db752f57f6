// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/histequalize/smoothedequalize.h"

#include "cuda/core/layoutcheck.h"
#include "cuda/histequalize/checks.h"
#include "cuda/histequalize/smoothed_backend.h"

namespace cudavision::histequalize {

class SmoothedEqualize::State {
 public:
  State(Device& device, const FrameLayout& layout, const Parameters& parameters)
      : layout_(layout),
        parameters_(parameters),
        most_tables_(layout.find(Role::luma) < 0 ? 3 : 1),
        luminance_(device, layout),
        counts_(device.allocate(sizeof(std::uint32_t) * most_tables_ << layout.bits)),
        average_(device, most_tables_, layout.bits),
        made_(device.allocate(sizeof(std::uint16_t) * most_tables_ << layout.bits)),
        hysteresis_(device, most_tables_, layout.bits),
        backend_(device.kind() == DeviceKind::cuda ? make_smoothed_equalize_cuda(device, layout)
                                                   : make_smoothed_equalize_cpu(device, layout)) {}

  void set(const Parameters& parameters) {
    check_parameters(layout_, parameters);
    if (parameters.low != parameters_.low || parameters.high != parameters_.high)
      average_.restart();  // as it does by itself if there are other channels
    parameters_ = parameters;
  }

  void run(const ConstFrame& in, const Frame& out, const histogramaverage::Parameters& smoothing,
           View<std::uint32_t> histogram, RegionHistogram* regions) {
    check_frame(operation, layout_, in, "input");
    check_frame(operation, layout_, out, "output");
    if (histogram)
      check_bins(layout_, histogram);
    histogramaverage::check_parameters(smoothing);

    const int tables = parameters_.channels == Parameters::Channels::each ? 3 : 1;
    if (in_regions_ != (regions != nullptr))
      average_.restart();
    in_regions_ = regions != nullptr;
    const auto averages = average_.run(count(in, tables, histogram, regions), smoothing);
    const View<std::uint16_t> made = rows(made_.as<std::uint16_t>(), tables);
    backend_->make_tables(averages, parameters_, made);
    backend_->look_up(in, out, hysteresis_.run(made, average_.status()), parameters_);
  }

  void restart() noexcept { average_.restart(); }

  const histogramaverage::Status* status() const noexcept { return average_.status(); }

 private:
  template <class Element>
  View<Element> rows(Element* data, int count) const {
    const int width = 1 << layout_.bits;
    return {data, width, count, static_cast<std::ptrdiff_t>(sizeof(Element)) * width};
  }

  void count_luminance(const ConstFrame& in, View<std::uint32_t> counts, RegionHistogram* regions) {
    if (regions)
      regions->run(in, counts);
    else
      luminance_.run(in, counts);
  }

  /// Returns the histograms from which the tables are made.
  View<const std::uint32_t> count(const ConstFrame& in, int tables, View<std::uint32_t> histogram,
                                  RegionHistogram* regions) {
    if (tables == 1) {
      const auto counts = rows(histogram ? histogram.data : counts_.as<std::uint32_t>(), 1);
      count_luminance(in, counts, regions);
      return counts;
    }
    if (histogram)
      count_luminance(in, histogram, regions);
    const auto counts = rows(counts_.as<std::uint32_t>(), tables);
    if (regions)
      regions->run_each(in, counts);
    else
      backend_->count_each(in, counts);
    return counts;
  }

  FrameLayout layout_;
  Parameters parameters_;
  int most_tables_;
  Histogram luminance_;
  Buffer counts_;
  histogramaverage::HistogramAverage average_;
  Buffer made_;
  histogramaverage::TableHysteresis hysteresis_;
  std::unique_ptr<Backend> backend_;
  bool in_regions_ = false;  // the average is that of regions
};

SmoothedEqualize::SmoothedEqualize(Device& device, const FrameLayout& layout,
                                   const Parameters& parameters) {
  check_luminance(operation, layout);
  check_parameters(layout, parameters);
  state_ = std::make_unique<State>(device, layout, parameters);
}

SmoothedEqualize::~SmoothedEqualize() = default;

void SmoothedEqualize::set_parameters(const Parameters& parameters) {
  state_->set(parameters);
}

void SmoothedEqualize::run(const ConstFrame& in, const Frame& out,
                           const histogramaverage::Parameters& smoothing,
                           View<std::uint32_t> histogram, RegionHistogram* regions) {
  state_->run(in, out, smoothing, histogram, regions);
}

void SmoothedEqualize::restart() noexcept {
  state_->restart();
}

const histogramaverage::Status* SmoothedEqualize::status() const noexcept {
  return state_->status();
}

}  // namespace cudavision::histequalize
