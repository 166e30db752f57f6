// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated layouts, parameters and frames.

#include <memory>

#include "cuda/mosaic/mosaic.h"

namespace cudavision::mosaic {

class Mosaic::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run() and when the parameters change.
  virtual void set(const Parameters& parameters) = 0;
  /// If active is nullptr, the whole output is needed.
  virtual void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) = 0;
};

std::unique_ptr<Mosaic::Backend> make_mosaic_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<Mosaic::Backend> make_mosaic_cuda(Device& device, const FrameLayout& layout);

}  // namespace cudavision::mosaic
