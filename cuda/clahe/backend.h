// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/clahe/clahe.h"

namespace cudavision::clahe {

/// Implements clahe.h on one kind of device. Its callers validate layouts, frames and parameters.
class Clahe::Backend {
 public:
  virtual ~Backend() = default;

  /// Must be called before the first run().
  virtual void set(const Parameters& parameters) = 0;

  virtual void run(const ConstFrame& in, const Frame& out) = 0;
};

std::unique_ptr<Clahe::Backend> make_clahe_cpu(Device& device, const FrameLayout& layout,
                                               const Tiles& tiles);
std::unique_ptr<Clahe::Backend> make_clahe_cuda(Device& device, const FrameLayout& layout,
                                                const Tiles& tiles);

}  // namespace cudavision::clahe
