// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/placement.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/sgm/sgm_definition.h"

namespace cudavision::test {

/// Inputs for each stage, more varied than those that a whole run produces. Equal seeds and numbers
/// make equal cases on every machine.
struct SgmStageCase {
  std::string title;
  sgm::StageConfig config;
  FrameLayout layout;  ///< the layout of the left image, which has one channel
  Placement placement;
  std::vector<std::uint8_t> picture;        ///< the left image's block
  std::vector<std::uint8_t> right_picture;  ///< the right image's block, in the same layout
  std::vector<std::uint64_t> left_features, right_features;
  sgm::Penalties penalties;
  std::vector<std::uint16_t> sums;
  float uniqueness = 0;
  sgm::Subpixel subpixel = sgm::Subpixel::none;
  bool with_confidence = true;
  Map left, right;
  std::vector<std::uint8_t> confidence;
  int max_diff = 0, speckle_size = 1, max_step = 0;
  sgm::DisparityScale scale{16, 0};
  Placement disparity_placement, confidence_placement;

  // Inputs of KeepConfident and FilterOverTime.
  int confidence_threshold = 1;
  sgm::TemporalFilter filter;
  bool first_frame = false, is_new_scene = false;
  Map measured, history;
  std::vector<std::uint8_t> ages;

  // Inputs of stages that adapt to noise, which only census_gradient uses.
  sgm::NoiseState noise;
  bool noise_on_device = false;
  sgm::Penalties noise_penalties;
  sgm::Subpixel noise_subpixel = sgm::Subpixel::none;

  // Inputs of stages for slanted surfaces.
  Map slanted, filled;  ///< planes with holes; the same planes with most holes filled

  int map_offset = 0;  ///< offset of all maps from an aligned address, in map values

  bool has_subpixel() const { return subpixel != sgm::Subpixel::none; }
};

SgmStageCase make_sgm_stage_case(std::uint64_t seed, int number, int max_pixels);

SgmStageCase sgm_stage_case_of(const FrameLayout& layout, const sgm::Parameters& parameters,
                               Random& random);

std::string describe(const SgmStageCase& test);

struct SgmStageOutput {
  std::string stage;
  std::vector<std::uint64_t> numbers;
};
using SgmStageOutputs = std::vector<SgmStageOutput>;

SgmStageOutputs defined_stages(const SgmStageCase& test, std::uint8_t poison);

/// Throws std::runtime_error if a stage wrote to an input.
SgmStageOutputs run_stages(Device& device, const SgmStageCase& test, std::uint8_t poison);

/// Outputs of KeepConfident and FilterOverTime, which are not part of the proof's hashes.
SgmStageOutputs defined_stages_over_time(const SgmStageCase& test, std::uint8_t poison);
SgmStageOutputs run_stages_over_time(Device& device, const SgmStageCase& test, std::uint8_t poison);

/// Outputs of the stages for slanted surfaces. Empty in compatibility, which has no such stages.
SgmStageOutputs defined_slanted_stages(const SgmStageCase& test, std::uint8_t poison);
SgmStageOutputs run_slanted_stages(Device& device, const SgmStageCase& test, std::uint8_t poison);

/// Outputs of the stages that adapt to noise.
SgmStageOutputs defined_noise_stages(const SgmStageCase& test, std::uint8_t poison);
SgmStageOutputs run_noise_stages(Device& device, const SgmStageCase& test, std::uint8_t poison);
SgmStageOutputs run_noise_stages_in_bands(Device& device, const SgmStageCase& test, int band_rows,
                                          std::uint8_t poison);

/// Runs a group of stages on a device or by the definition.
struct SgmStageGroup {
  SgmStageOutputs (*defined)(const SgmStageCase& test, std::uint8_t poison);
  SgmStageOutputs (*run)(Device& device, const SgmStageCase& test, std::uint8_t poison);
};
inline constexpr SgmStageGroup sgm_stage_groups[] = {
    {defined_stages, run_stages},
    {defined_stages_over_time, run_stages_over_time},
    {defined_slanted_stages, run_slanted_stages},
    {defined_noise_stages, run_noise_stages}};

SgmStageOutputs run_matching(Device& device, sgm::Stages& stages, const SgmStageCase& test,
                             std::uint8_t poison);

/// Describes the stage and position of the first difference, or returns an empty string.
std::string difference(const SgmStageCase& test, const SgmStageOutputs& expected,
                       const SgmStageOutputs& actual);

std::string hash(const SgmStageOutputs& outputs);

}  // namespace cudavision::test
