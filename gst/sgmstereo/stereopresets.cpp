// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereopresets.h"

#include <tuple>

namespace cudavision {
namespace {

struct PresetValues {
  StereoPreset preset;
  int speckle_size, confidence_threshold;
  bool fill_holes, refine, slanted_surfaces;
  double noise;
};

constexpr double automatic_noise = sgm::Parameters::automatic_noise;

// docs/elements/cudasgmstereo.md has what they were chosen by: their errors on pairs with ground
// truth. More paths and other values of uniqueness, median and lr-max-diff gained nothing there.
constexpr PresetValues presets[] = {
    {StereoPreset::fast, 0, 0, false, false, false, 0},
    {StereoPreset::balanced, sgm::Config::automatic, 0, false, true, true, automatic_noise},
    {StereoPreset::accurate, 100, 60, false, true, true, automatic_noise},
    {StereoPreset::dense, 100, 20, true, true, true, automatic_noise},
};

/// Returns the values in force, without automatic ones.
auto values_of(const StereoSettings& settings) {
  const sgm::Parameters parameters = sgm::resolved(settings);
  return std::make_tuple(parameters.speckle_size, parameters.confidence_threshold,
                         parameters.fill_holes, parameters.refine, parameters.slanted_surfaces,
                         parameters.noise);
}

}  // namespace

void apply_preset(StereoPreset preset, StereoSettings& settings) {
  for (const PresetValues& values : presets)
    if (values.preset == preset) {
      settings.speckle_size = values.speckle_size;
      settings.confidence_threshold = values.confidence_threshold;
      settings.fill_holes = values.fill_holes;
      settings.refine = values.refine;
      settings.slanted_surfaces = values.slanted_surfaces;
      settings.noise = values.noise;
    }
}

StereoPreset preset_of(const StereoSettings& settings) {
  for (const PresetValues& values : presets) {
    StereoSettings with_preset = settings;
    apply_preset(values.preset, with_preset);
    if (values_of(with_preset) == values_of(settings))
      return values.preset;
  }
  return StereoPreset::custom;
}

}  // namespace cudavision
