// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated layouts, parameters and frames.

#include <array>
#include <memory>

#include "cuda/regions/regionblend.h"

namespace cudavision::regions {

/// The parameters, converted for frames of one layout.
struct Selection {
  int count = 0;
  std::array<Region, Parameters::max_count> regions;  ///< none is empty or rotated
  int rotated_count = 0;
  std::array<RotatedRegion, Parameters::max_count> rotated;  ///< none is empty
  int mask_count = 0;
  std::array<Box, Parameters::max_masks> masks;  ///< where masks may raise weights; none is empty
  /// Cells with samples whose weight may differ from 0. Not used if the regions are inverted.
  ActiveCells active;
};

/// Throws invalid_argument for parameters outside their ranges.
Selection select(const FrameLayout& layout, const Parameters& parameters);

class RegionBlend::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run() and for new parameters. Must not keep references to arguments.
  virtual void set(const Parameters& parameters, const Selection& selection) = 0;
  virtual void run(const ConstFrame& in, const ConstFrame& processed, const Frame& out,
                   View<const std::uint8_t> distances) = 0;
};

std::unique_ptr<RegionBlend::Backend> make_region_blend_cpu(Device& device,
                                                            const FrameLayout& layout);
std::unique_ptr<RegionBlend::Backend> make_region_blend_cuda(Device& device,
                                                             const FrameLayout& layout);

}  // namespace cudavision::regions
