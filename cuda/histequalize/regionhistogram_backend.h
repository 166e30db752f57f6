// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/histequalize/regionhistogram.h"
#include "cuda/regions/selection.h"

namespace cudavision::histequalize {

/// Implements regionhistogram.h on one kind of device. Its callers have validated all arguments.
class RegionHistogram::Backend {
 public:
  virtual ~Backend() = default;

  /// Called before the first count() and when the parameters change. The arguments are valid only
  /// during the call.
  virtual void set(const regions::Parameters& parameters, const regions::Selection& selection) = 0;

  /// Counts the luminance if bins has one row, else red, green and blue. The rows have no gaps
  /// between them.
  virtual void count(const ConstFrame& in, View<std::uint32_t> bins) = 0;
};

std::unique_ptr<RegionHistogram::Backend> make_region_histogram_cpu(Device& device,
                                                                    const FrameLayout& layout);
std::unique_ptr<RegionHistogram::Backend> make_region_histogram_cuda(Device& device,
                                                                     const FrameLayout& layout);

}  // namespace cudavision::histequalize
