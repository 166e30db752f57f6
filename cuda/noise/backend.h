// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface that both backends of noise.h implement. Its callers have validated layouts and
// frames.

#include <memory>

#include "cuda/noise/noise.h"

namespace cudavision::noise {

class Estimate::Backend {
 public:
  virtual ~Backend() = default;
  /// states has one state for each channel, those of alpha included, which are not written. In the
  /// first frame they have any contents.
  virtual void run(const ConstFrame& in, bool first_frame, State* states) = 0;
};

std::unique_ptr<Estimate::Backend> make_estimate_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<Estimate::Backend> make_estimate_cuda(Device& device, const FrameLayout& layout);

}  // namespace cudavision::noise
