// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/sgm/backend.h"
#include "cuda/sgm/picture/disparitypicture.h"
#include "tests/kernels/scenecut/scenecut_definition.h"

/// A second implementation of Semi-Global Matching, written only from the text of
/// backend.h and mapstages.h in cuda/sgm. Images and maps are row-major.
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
                               sgm::Subpixel subpixel);

Map defined_median(const sgm::StageConfig& config, const Map& map);

Map defined_check(const sgm::StageConfig& config, const Luminances& picture, const Map& left,
                  const Map& right, bool subpixel, int max_diff);

Map defined_without_speckles(const sgm::StageConfig& config, const Map& map, int size,
                             int max_step);

std::vector<std::uint8_t> defined_confidence(const sgm::StageConfig& config, const Map& map,
                                             const std::vector<std::uint8_t>& confidence);

/// Invalidates pixels with a confidence below the threshold, and sets their confidence to 0.
Map defined_confident(const Map& map, int threshold, std::vector<std::uint8_t>& confidence);

/// Returns the variance of the noise in squared sixteenths of a level, or −1 if it is undetermined.
int defined_noise_variance(const sgm::StageConfig& config, const Luminances& picture);

struct DefinedNoise {
  int average = -1;  ///< average of the variances, times 256; −1: none
  int measured = 0, variance = 0, deviation = 0;
};
void defined_noise(const sgm::StageConfig& config, const Luminances& picture, DefinedNoise& noise);

Luminances defined_filtering(const sgm::StageConfig& config, const Luminances& picture,
                             int variance);
std::vector<std::uint64_t> defined_filtered_census(const sgm::StageConfig& config,
                                                   const Luminances& filtered, int deviation);
sgm::Penalties defined_noisy_penalties(sgm::Penalties penalties, int deviation);
std::vector<std::uint16_t> defined_sums_under_noise(const sgm::StageConfig& config,
                                                    const Luminances& left, const Luminances& right,
                                                    const sgm::Penalties& penalties, int variance,
                                                    int deviation);

/// The state that previous frames leave. `ages` is empty before the first frame.
struct DefinedHistory {
  Map numbers;
  std::vector<int> ages;
  DefinedAreas areas{};
  bool is_new_scene = true;  ///< the current frame begins a new scene
  DefinedNoise noise{};
};

Map defined_filling(const sgm::StageConfig& config, const Map& map);

Map defined_refinement(const sgm::StageConfig& config, const Luminances& picture, const Map& map);

/// The stages for slanted surfaces.
Map defined_sharpening(const sgm::StageConfig& config, const Luminances& left,
                       const Luminances& right, const Map& map);
Map defined_slope_filling(const sgm::StageConfig& config, const Map& map);
std::vector<std::uint8_t> defined_confidence_after_filling(
    const Map& map, const std::vector<std::uint8_t>& confidence);
Map defined_refinement_of_filled(const sgm::StageConfig& config, const Luminances& picture,
                                 const Map& map, const Map& filled);
Map defined_smoothing(const sgm::StageConfig& config, const Luminances& picture,
                      const std::vector<std::uint8_t>& confidence, const Map& map);

/// Filters over time, and stores the map in the history. `measured`: the map before hole filling.
Map defined_over_time(const Map& map, const Map& measured, const sgm::TemporalFilter& filter,
                      DefinedHistory& history);

/// Converts a map of the stages to the coding of SgmStereo's output.
Map defined_disparities(const sgm::StageConfig& config, const Map& map,
                        const sgm::DisparityScale& scale);

/// Masks of pixels that do not show the scene. nullptr: no mask.
struct DefinedMasks {
  const std::vector<bool>*left = nullptr, *right = nullptr;
};

/// The result of defined_stereo(). Only temporal filtering and automatic noise use the history.
struct DefinedStereo {
  Map disparities;
  std::vector<std::uint8_t> confidence;
};
DefinedStereo defined_stereo(const sgm::StageConfig& config, const sgm::Parameters& parameters,
                             const Luminances& left, const Luminances& right,
                             DefinedHistory& history, const DefinedMasks& masks = {});
DefinedStereo defined_stereo(const sgm::StageConfig& config, const sgm::Parameters& parameters,
                             const Luminances& left, const Luminances& right);

int defined_depth(const sgm::Parameters& parameters, const sgm::PictureParameters& picture,
                  std::uint16_t number);

}  // namespace cudavision::test
