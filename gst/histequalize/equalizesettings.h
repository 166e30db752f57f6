// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cmath>

#include "cuda/clahe/clahe.h"
#include "cuda/histequalize/histequalize.h"
#include "gst/base/filter/filterelement.h"

namespace cudavision {

enum class EqualizeMethod { equalize, clahe };
enum class EqualizeChannels { luma, rgb };
enum class StatisticsRegion { frame, regions };
enum class ChromaMode { keep, scale };

struct EqualizeSettings : RegionSettings, MessageSettings {
  EqualizeMethod method = EqualizeMethod::equalize;
  double clip_limit = clahe::Parameters().clip_limit;
  int tiles_x = clahe::Tiles().columns;
  int tiles_y = clahe::Tiles().rows;
  EqualizeChannels channels = EqualizeChannels::luma;
  double strength = 1.0;
  ChromaMode chroma = ChromaMode::keep;
  guint64 smoothing_time = 0;
  double scene_cut_threshold = 0.25;
  StatisticsRegion statistics_region = StatisticsRegion::frame;

  /// Returns true if histograms count only the pixels of regions.
  bool counts_regions() const noexcept {
    return statistics_region == StatisticsRegion::regions && in_regions();
  }
  /// Returns the strength multiplied by 256, rounded.
  int blend() const noexcept {
    return static_cast<int>(std::lrint(histequalize::Parameters::Ranges::blend.max * strength));
  }
};

}  // namespace cudavision
