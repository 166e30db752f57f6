// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/clahe/clahe.h"

#include <cmath>

#include "cuda/clahe/backend.h"
#include "cuda/clahe/checks.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/histequalize/checks.h"

namespace cudavision::clahe {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  cudavision::refuse(operation, what);
}

}  // namespace

void check_geometry(const FrameLayout& layout, const Tiles& tiles) {
  check_luminance(operation, layout);
  if (tiles.columns < 1 || tiles.columns > Tiles::most || tiles.rows < 1 ||
      tiles.rows > Tiles::most)
    refuse("a grid of " + std::to_string(tiles.columns) + "×" + std::to_string(tiles.rows) +
           " tiles; each dimension must be 1 to " + std::to_string(Tiles::most));
}

void check_parameters(const FrameLayout& layout, const Parameters& parameters) {
  histequalize::check_parameters(layout, parameters);
  if (!std::isfinite(parameters.clip_limit))
    refuse("the clip limit is not a number; 0 means unlimited");
}

Clahe::Clahe(Device& device, const FrameLayout& layout, const Tiles& tiles,
             const Parameters& parameters)
    : layout_(layout) {
  check_geometry(layout, tiles);
  check_parameters(layout, parameters);
  backend_ = device.kind() == DeviceKind::cuda ? make_clahe_cuda(device, layout, tiles)
                                               : make_clahe_cpu(device, layout, tiles);
  backend_->set(parameters);
}

Clahe::~Clahe() = default;

void Clahe::set_parameters(const Parameters& parameters) {
  check_parameters(layout_, parameters);
  backend_->set(parameters);
}

void Clahe::run(const ConstFrame& in, const Frame& out) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  backend_->run(in, out);
}

}  // namespace cudavision::clahe
