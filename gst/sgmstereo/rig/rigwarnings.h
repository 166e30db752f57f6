// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <optional>
#include <string>

#include "gst/sgmstereo/rig/geometry/pairinspector.h"
#include "gst/sgmstereo/rig/stereomounts.h"
#include "gst/sgmstereo/rig/verticaloffsets.h"
#include "gst/sgmstereo/stereosettings.h"

/// The warnings of CameraRig: what is wrong with a pair or the settings, and the remedy.
namespace cudavision {

enum class StereoWarning {
  swapped,
  unrectified,
  drift,
  known_distance,
  unsynchronized,
  exposure,
  range,
  unmatched,
  untextured,
  repetition,
  columns,
  focal_length,
  baseline,
  calibrated_lengths,
  depth,
};
inline constexpr std::size_t stereo_warning_count = 15;

/// True if one inspection is enough to be sure. Others may be an accident, such as a blow to the
/// cameras, so they count only if the next inspection finds the same.
bool is_certain(StereoWarning warning);
/// True if it concerns the properties rather than the pictures.
bool concerns_settings(StereoWarning warning);

/// The depths of a map, as far as they do not fit 16 bits.
struct DepthFit {
  double saturated;  ///< share of the known pixels
  double farthest;   ///< in mm: all but 1 % of the known pixels are at most this far away
};

/// An inspected pair.
struct JudgedPair {
  const rig::PairFigures& figures;
  /// Those that it was matched with, with the calibration's lengths where no others are set.
  const StereoSettings& settings;
  int width;                      ///< of the pictures
  std::optional<DepthFit> depth;  ///< if a source pad carries depth
  const VerticalOffsets& offsets;
  const MountReport& mounts;
};

/// The text of each warning, empty where there is nothing to warn of.
using StereoWarningTexts = std::array<std::string, stereo_warning_count>;

StereoWarningTexts warnings_of(const JudgedPair& pair);

}  // namespace cudavision
