// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda/sgm/distances/distances.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/regions/masks_case.h"
#include "tests/kernels/remap/remap_case.h"

/// Boxes in a map of random numbers, and what Distances must find in them.
namespace cudavision::test {

struct DistancesCase {
  int width, height;
  sgm::Parameters parameters;
  FrameLayout layout;  ///< of the map
  Placement placement;
  std::vector<std::uint16_t> numbers;  ///< of the map, row by row
  std::vector<regions::Box> boxes;
  std::vector<MaskPicture> masks = {};  ///< one for each box, or none; without ids: no mask
  std::optional<HostMap> rectifying = {};

  const MaskPicture* mask_of(std::size_t box) const {
    return masks.empty() || masks[box].ids.empty() ? nullptr : &masks[box];
  }
};

/// Equal seeds and numbers make equal cases on every machine. Boxes may be anywhere, empty or huge.
DistancesCase make_distances_case(std::uint64_t seed, int number, int max_pixels);

/// Up to 16 boxes, most of which have masks, half of the cases with a rectifying map.
DistancesCase make_masked_distances_case(std::uint64_t seed, int number, int max_pixels);

std::string describe(const DistancesCase& test);

/// Writes the definition down again, with sorted samples.
sgm::BoxDisparity defined_disparity(const DistancesCase& test, const regions::Box& box,
                                    const MaskPicture* mask = nullptr);

/// Runs the operation. Throws std::runtime_error if it wrote to the map.
std::vector<sgm::BoxDisparity> computed_disparities(Device& device, const DistancesCase& test);

std::string distances_hash(const std::vector<sgm::BoxDisparity>& results);

}  // namespace cudavision::test
