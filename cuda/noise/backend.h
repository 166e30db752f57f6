// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated layouts and frames.

#include <memory>

#include "cuda/noise/noise.h"

namespace cudavision::noise {

class Estimate::Backend {
 public:
  virtual ~Backend() = default;
  /// states has one state per channel. States of alpha are not written. If first_frame is true, the
  /// previous states are ignored.
  virtual void run(const ConstFrame& in, bool first_frame, State* states) = 0;
};

std::unique_ptr<Estimate::Backend> make_estimate_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<Estimate::Backend> make_estimate_cuda(Device& device, const FrameLayout& layout);

}  // namespace cudavision::noise
