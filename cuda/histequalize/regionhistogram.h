// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/pixels/luminance.h"
#include "cuda/regions/regionblend.h"

namespace cudavision::histequalize {

/// Histograms of the pixels whose region weight (regions.h) is above 0. Each pixel is counted once.
class RegionHistogram {
 public:
  /// layout as for Histogram. With masks, distances is as for RegionBlend::run(). Throws
  /// invalid_argument for other layouts and for parameters outside the ranges of regions.h.
  RegionHistogram(Device& device, const FrameLayout& layout, const regions::Parameters& parameters,
                  View<const std::uint8_t> distances = {});

  /// Applies to later frames. Never allocates. On invalid_argument, the old parameters stay in use.
  void set_parameters(const regions::Parameters& parameters,
                      View<const std::uint8_t> distances = {});

  /// bins is device memory for 2^bits counts in one row. Entry v becomes the number of pixels of
  /// luminance v in the regions. Throws invalid_argument. Only enqueues.
  void run(const ConstFrame& in, View<std::uint32_t> bins);

  /// Counts red, green and blue. bins is device memory for three contiguous rows of 2^bits counts.
  /// The layout must not have luma. Throws invalid_argument. Only enqueues.
  void run_each(const ConstFrame& in, View<std::uint32_t> bins);

 private:
  void make_mask(View<const std::uint8_t> distances);

  Device& device_;
  FrameLayout layout_;
  regions::Parameters parameters_;
  Luminance luminance_;
  regions::RegionBlend blend_;
  Buffer memory_;
  View<std::uint8_t> mask_;  // 0 for pixels that are not counted
};

}  // namespace cudavision::histequalize
