// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/clahe/smoothedclahe.h"

#include "cuda/clahe/checks.h"
#include "cuda/clahe/smoothed_backend.h"
#include "cuda/core/layoutcheck.h"

namespace cudavision::clahe {

class SmoothedClahe::State {
 public:
  State(Device& device, const FrameLayout& layout, const Tiles& tiles, const Parameters& parameters)
      : layout_(layout),
        parameters_(parameters),
        average_(device, most_tables(layout, tiles), layout.bits),
        hysteresis_(device, most_tables(layout, tiles), layout.bits),
        backend_(device.kind() == DeviceKind::cuda
                     ? make_smoothed_clahe_cuda(device, layout, tiles)
                     : make_smoothed_clahe_cpu(device, layout, tiles)) {
    backend_->set(parameters);
  }

  void set(const Parameters& parameters) {
    check_parameters(layout_, parameters);
    if (parameters.low != parameters_.low || parameters.high != parameters_.high)
      average_.restart();  // as it does by itself if there are other channels
    parameters_ = parameters;
    backend_->set(parameters);
  }

  void run(const ConstFrame& in, const Frame& out, const histogramaverage::Parameters& smoothing) {
    check_frame(operation, layout_, in, "input");
    check_frame(operation, layout_, out, "output");
    histogramaverage::check_parameters(smoothing);
    const auto averages = average_.run(backend_->count(in), smoothing);
    const auto made = backend_->make_tables(averages, in, out);
    backend_->apply(in, out, hysteresis_.run(made, average_.status()));
  }

  void restart() noexcept { average_.restart(); }

  const histogramaverage::Status* status() const noexcept { return average_.status(); }

 private:
  static int most_tables(const FrameLayout& layout, const Tiles& tiles) {
    return tiles.columns * tiles.rows * (layout.find(Role::luma) < 0 ? 3 : 1);
  }

  FrameLayout layout_;
  Parameters parameters_;
  histogramaverage::HistogramAverage average_;
  histogramaverage::TableHysteresis hysteresis_;
  std::unique_ptr<Backend> backend_;
};

SmoothedClahe::SmoothedClahe(Device& device, const FrameLayout& layout, const Tiles& tiles,
                             const Parameters& parameters) {
  check_geometry(layout, tiles);
  check_parameters(layout, parameters);
  state_ = std::make_unique<State>(device, layout, tiles, parameters);
}

SmoothedClahe::~SmoothedClahe() = default;

void SmoothedClahe::set_parameters(const Parameters& parameters) {
  state_->set(parameters);
}

void SmoothedClahe::run(const ConstFrame& in, const Frame& out,
                        const histogramaverage::Parameters& smoothing) {
  state_->run(in, out, smoothing);
}

void SmoothedClahe::restart() noexcept {
  state_->restart();
}

const histogramaverage::Status* SmoothedClahe::status() const noexcept {
  return state_->status();
}

}  // namespace cudavision::clahe
