// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/noise/noise.h"

#include <atomic>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/noise/backend.h"

namespace cudavision::noise {
namespace {

constexpr char operation[] = "the noise estimate";

}  // namespace

struct Estimate::Members {
  FrameLayout layout;
  std::unique_ptr<Backend> backend;
  Buffer states;
  std::atomic<bool> first_frame{true};
};

Estimate::Estimate(Device& device, const FrameLayout& layout)
    : members_(std::make_unique<Members>()) {
  check_layout(operation, layout);
  members_->layout = layout;
  members_->backend = dispatch<make_estimate_cuda, make_estimate_cpu>(device, layout);
  constexpr int bytes = FrameLayout::max_channels * sizeof(State);
  members_->states = device.allocate(bytes);
  device.fill({members_->states.as<std::uint8_t>(), bytes, 1, bytes}, 0);
}

Estimate::~Estimate() = default;

void Estimate::run(const ConstFrame& in) {
  check_frame(operation, members_->layout, in, "input");
  members_->backend->run(in, members_->first_frame.exchange(false), members_->states.as<State>());
}

void Estimate::restart() noexcept {
  members_->first_frame = true;
}

const State* Estimate::states() const noexcept {
  return members_->states.as<State>();
}

}  // namespace cudavision::noise
