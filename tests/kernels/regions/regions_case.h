// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/regions/regionblend.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

class RegionBlendFrames;

/// One blend of a frame with a processed frame of different content.
struct RegionBlendCase : FilterCase<RegionBlendCase, regions::RegionBlend, regions::Parameters> {
  using Frames = RegionBlendFrames;

  /// Distances of the frame's pixels from masks, if the parameters have masks.
  std::vector<std::uint8_t> distances;

  /// Returns the block of the processed frame, which has the placement of the output.
  std::vector<std::uint8_t> processed_block() const;
  ConstFrame processed_in(const std::uint8_t* block) const { return frame_in(layout, out, block); }

  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const;
};

/// The frames of a case, including the processed frame.
class RegionBlendFrames : public CaseFrames<RegionBlendCase> {
 public:
  template <class... Arguments>
  RegionBlendFrames(Device& device, const RegionBlendCase& one, const Arguments&... arguments)
      : CaseFrames(device, one, arguments...),
        processed_block_(device, one.processed_block()),
        distances_block_(device, one.distances.empty() ? Bytes(1) : one.distances),
        distances_{distances_block_.data(), one.layout.width, one.layout.height, one.layout.width},
        processed(one.processed_in(processed_block_.data())) {}

  void run(regions::RegionBlend& blend) const { blend.run(in, processed, out, distances_); }

 private:
  using Bytes = std::vector<std::uint8_t>;
  DeviceBlock<std::uint8_t> processed_block_, distances_block_;
  View<const std::uint8_t> distances_;

 public:
  ConstFrame processed;
};

/// Draws boxes of all sizes. Some are empty, or partly or wholly outside the frame.
regions::Parameters random_regions(int width, int height, int maximum, Random& random);

regions::Parameters one_region(const regions::Box& box, regions::Shape shape, int feather);

RegionBlendCase make_region_blend_case(std::uint64_t seed, int number, int max_pixels);
RegionBlendCase make_rotated_region_case(std::uint64_t seed, int number, int max_pixels);
RegionBlendCase make_masked_region_case(std::uint64_t seed, int number, int max_pixels);

constexpr auto plain_region_blend_case = plain_case<RegionBlendCase>;

std::string describe(const RegionBlendCase& test);

}  // namespace cudavision::test
