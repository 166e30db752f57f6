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

/// Cases of Distances: boxes in a disparity map of random values, and the defined results.
namespace cudavision::test {

struct DistancesCase {
  int width, height;
  sgm::Parameters parameters;
  FrameLayout layout;  ///< layout of the map
  Placement placement;
  std::vector<std::uint16_t> numbers;  ///< the map's values in row-major order
  std::vector<regions::Box> boxes;
  std::vector<MaskPicture> masks = {};  ///< empty, or one per box; empty ids: the box has no mask
  std::optional<HostMap> rectifying = {};

  const MaskPicture* mask_of(std::size_t box) const {
    return masks.empty() || masks[box].ids.empty() ? nullptr : &masks[box];
  }
};

/// Equal arguments make equal cases on every machine. Boxes may be empty, huge or outside the map.
DistancesCase make_distances_case(std::uint64_t seed, int number, int max_pixels);

/// Draws up to 16 boxes, most with masks. Half of the cases have a rectifying map.
DistancesCase make_masked_distances_case(std::uint64_t seed, int number, int max_pixels);

std::string describe(const DistancesCase& test);

/// A second implementation, which sorts the samples of the box.
sgm::BoxDisparity defined_disparity(const DistancesCase& test, const regions::Box& box,
                                    const MaskPicture* mask = nullptr);

/// Runs the operation. Throws std::runtime_error if it wrote to the map.
std::vector<sgm::BoxDisparity> computed_disparities(Device& device, const DistancesCase& test);

std::string distances_hash(const std::vector<sgm::BoxDisparity>& results);

}  // namespace cudavision::test
