// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated layouts, parameters and frames.

#include <memory>

#include "cuda/gaussblur/channels.h"
#include "cuda/gaussblur/gaussblur.h"

namespace cudavision::gaussblur {

class GaussBlur::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run() and for new parameters. kernels is valid only during the call.
  virtual void set(const Parameters& parameters, const ChannelKernels& kernels) = 0;
  /// If active is nullptr, the whole output is needed.
  virtual void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) = 0;
};

std::unique_ptr<GaussBlur::Backend> make_gauss_blur_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<GaussBlur::Backend> make_gauss_blur_cuda(Device& device, const FrameLayout& layout);

}  // namespace cudavision::gaussblur
