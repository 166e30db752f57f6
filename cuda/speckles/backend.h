// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated all arguments, and size is not 0.

#include <memory>

#include "cuda/speckles/speckles.h"

namespace cudavision::speckles {

class Speckles::Backend {
 public:
  virtual ~Backend() = default;
  virtual void run(const Parameters& parameters, View<std::uint8_t> picture) = 0;
};

std::unique_ptr<Speckles::Backend> make_speckles_cpu(Device& device, const PlaneSize& size);
std::unique_ptr<Speckles::Backend> make_speckles_cuda(Device& device, const PlaneSize& size);

}  // namespace cudavision::speckles
