// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/scenecut/scenecut.h"

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/scenecut/backend.h"

namespace cudavision::scenecut {

constexpr char operation[] = "scene cut detection";

AreaMeans::AreaMeans(Device& device, const FrameLayout& layout) : layout_(layout) {
  check_layout(operation, layout);
  if (layout.find(sampled_role(layout)) < 0)
    refuse(operation, "the layout needs a luma channel or a green channel");
  backend_ = dispatch<make_area_means_cuda, make_area_means_cpu>(device, layout);
}

AreaMeans::~AreaMeans() = default;

void AreaMeans::run(const ConstFrame& in) {
  check_frame(operation, layout_, in, "input");
  backend_->run(in);
}

const std::uint32_t* AreaMeans::change() const noexcept {
  return backend_->change();
}

}  // namespace cudavision::scenecut
