// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/clahe/clahe.h"

#include <cmath>

#include "cuda/clahe/backend.h"
#include "cuda/clahe/checks.h"
#include "cuda/core/layoutcheck.h"

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
  const int largest = (1 << layout.bits) - 1;
  const bool rgb = layout.find(Role::luma) < 0;
  if (parameters.channels == Parameters::Channels::each && !rgb)
    refuse(
        "equalising each channel on its own needs RGB, and this picture has a luma channel: "
        "equalise its luma, or convert it to RGB first");
  if (!std::isfinite(parameters.clip_limit))
    refuse("the clip limit is not a number; 0 means unlimited");
  if (parameters.low < 0 || parameters.low >= parameters.high || parameters.high > largest)
    refuse("the output range " + std::to_string(parameters.low) + " to " +
           std::to_string(parameters.high) + " does not lie within 0 to " +
           std::to_string(largest));
  if (rgb && (parameters.low != 0 || parameters.high != largest))
    refuse("RGB is equalised to its full range, 0 to " + std::to_string(largest));
  if (parameters.blend < 0 || parameters.blend > 256)
    refuse("a blend of " + std::to_string(parameters.blend) + "/256 is outside 0 to 256");
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
