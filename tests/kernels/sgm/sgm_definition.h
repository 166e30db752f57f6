// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/sgm/backend.h"
#include "cuda/sgm/disparitypicture.h"

/// A second implementation of Semi-Global Matching as cuda/sgm/backend.h defines it, which works
/// pixel by pixel. A picture holds its values from left to right and from top to bottom.
namespace cudavision::test {

using Luminances = std::vector<std::uint16_t>;
using Map = std::vector<std::uint16_t>;

std::vector<std::uint64_t> defined_census(const sgm::StageConfig& config,
                                          const Luminances& picture);

sgm::Penalties defined_penalties(const sgm::Parameters& parameters);

std::vector<std::uint16_t> defined_sums(const sgm::StageConfig& config, const Luminances& picture,
                                        const std::vector<std::uint64_t>& left,
                                        const std::vector<std::uint64_t>& right,
                                        const sgm::Penalties& penalties);

struct DefinedWinners {
  Map left, right;
  std::vector<std::uint8_t> confidence;
};
DefinedWinners defined_winners(const sgm::StageConfig& config,
                               const std::vector<std::uint16_t>& sums, float uniqueness,
                               bool subpixel);

Map defined_median(const sgm::StageConfig& config, const Map& map);

Map defined_check(const sgm::StageConfig& config, const Luminances& picture, const Map& left,
                  const Map& right, bool subpixel, int max_diff);

Map defined_without_speckles(const sgm::StageConfig& config, const Map& map, int size,
                             int most_step);

Map defined_filling(const sgm::StageConfig& config, const Map& map);

/// Returns the map in SgmStereo's coding.
Map defined_disparities(const sgm::StageConfig& config, const Map& map,
                        const sgm::DisparityScale& scale);

struct DefinedStereo {
  Map disparities;
  std::vector<std::uint8_t> confidence;
};
DefinedStereo defined_stereo(const sgm::StageConfig& config, const sgm::Parameters& parameters,
                             const Luminances& left, const Luminances& right);

/// Return the gray level or the depth that stands for a number of a map in SgmStereo's coding.
int defined_gray(const sgm::Parameters& parameters, std::uint16_t number);
int defined_depth(const sgm::Parameters& parameters, const sgm::PictureParameters& picture,
                  std::uint16_t number);

}  // namespace cudavision::test
