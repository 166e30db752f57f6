// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated all arguments.

#include "cuda/scenecut/scenecut.h"

namespace cudavision::scenecut {

class AreaMeans::Backend {
 public:
  virtual ~Backend() = default;

  virtual void run(const ConstFrame& in) = 0;
  virtual const std::uint32_t* change() const noexcept = 0;
};

inline Role sampled_role(const FrameLayout& layout) {
  return layout.find(Role::luma) >= 0 ? Role::luma : Role::green;
}

std::unique_ptr<AreaMeans::Backend> make_area_means_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<AreaMeans::Backend> make_area_means_cuda(Device& device, const FrameLayout& layout);

}  // namespace cudavision::scenecut
