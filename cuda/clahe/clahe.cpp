// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/clahe/clahe.h"

#include <cmath>

#include "cuda/clahe/backend.h"
#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"

namespace cudavision::clahe {
namespace {

constexpr char operation[] = "adaptive histogram equalisation";

void check_parameters(const FrameLayout& layout, const Parameters& parameters) {
  histequalize::check_parameters(layout, parameters);
  if (!std::isfinite(parameters.clip_limit))
    refuse(operation, "the clip limit is " + text_of(parameters.clip_limit) +
                          "; it must be finite (0 means unlimited)");
}

}  // namespace

Clahe::Clahe(Device& device, const FrameLayout& layout, const Tiles& tiles,
             const Parameters& parameters, Averages averages)
    : layout_(layout), parameters_(parameters) {
  check_luminance(operation, layout);
  if (!Tiles::range.contains(tiles.columns) || !Tiles::range.contains(tiles.rows))
    refuse(operation, "a grid of " + std::to_string(tiles.columns) + "×" +
                          std::to_string(tiles.rows) + " tiles; each dimension must be " +
                          text_of(Tiles::range));
  check_parameters(layout, parameters);
  backend_ = dispatch<make_clahe_cuda, make_clahe_cpu>(device, layout, tiles);
  backend_->set(parameters);
  if (averages == Averages::kept) {
    const int max_tables = tiles.columns * tiles.rows * (layout.find(Role::luma) < 0 ? 3 : 1);
    areas_.emplace(device, layout);
    average_.emplace(device, max_tables, layout.bits);
    hysteresis_.emplace(device, max_tables, layout.bits);
  }
}

Clahe::~Clahe() = default;

void Clahe::set_parameters(const Parameters& parameters) {
  check_parameters(layout_, parameters);
  if (parameters.low != parameters_.low || parameters.high != parameters_.high)
    restart();  // HistogramAverage restarts by itself if the channels change
  parameters_ = parameters;
  backend_->set(parameters);
}

void Clahe::run(const ConstFrame& in, const Frame& out,
                const std::optional<histogramaverage::Parameters>& smoothing) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  const Frame written = parameters_.copies_chroma ? out : without_chroma_planes(layout_, out);
  if (!smoothing) {
    restart();
    return backend_->run(in, written);
  }
  if (!average_)
    refuse(operation, "smoothing needs averages; construct Clahe with Averages::kept");
  histogramaverage::check_parameters(*smoothing);
  areas_->run(in);
  const auto averages = average_->run(backend_->count(in), *smoothing, areas_->change());
  const auto made = backend_->make_tables(averages, in, written);
  backend_->apply(in, written, hysteresis_->run(made, average_->status()));
}

void Clahe::restart() noexcept {
  if (average_)
    average_->restart();
}

}  // namespace cudavision::clahe
