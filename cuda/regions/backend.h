// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated layouts, parameters and frames.

#include <memory>

#include "cuda/regions/regionblend.h"
#include "cuda/regions/selection.h"

namespace cudavision::regions {

class RegionBlend::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run() and when the parameters change. active is nullptr if the weights
  /// may differ from 0 everywhere. The arguments are valid only during the call.
  virtual void set(const Parameters& parameters, const RegionList& regions,
                   const ActiveCells* active) = 0;
  virtual void run(const ConstFrame& in, const ConstFrame& processed, const Frame& out) = 0;
};

std::unique_ptr<RegionBlend::Backend> make_region_blend_cpu(Device& device,
                                                            const FrameLayout& layout);
std::unique_ptr<RegionBlend::Backend> make_region_blend_cuda(Device& device,
                                                             const FrameLayout& layout);

}  // namespace cudavision::regions
