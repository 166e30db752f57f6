// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/noise/noise.h"

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/noise/backend.h"

namespace cudavision::noise {

constexpr char operation[] = "noise estimate";

Estimate::Estimate(Device& device, const FrameLayout& layout) : layout_(layout) {
  check_layout(operation, layout);
  backend_ = dispatch<make_estimate_cuda, make_estimate_cpu>(device, layout);
  constexpr int bytes = FrameLayout::max_channels * sizeof(State);
  states_ = device.allocate(bytes);
  device.fill({states_.as<std::uint8_t>(), bytes, 1, bytes}, 0);
}

Estimate::~Estimate() = default;

void Estimate::run(const ConstFrame& in) {
  check_frame(operation, layout_, in, "input");
  backend_->run(in, first_frame_.exchange(false), states_.as<State>());
}

}  // namespace cudavision::noise
