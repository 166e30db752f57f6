// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/clahe/clahe.h"
#include "cuda/histequalize/histequalize.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "gst/base/filter/filterelement.h"
#include "gst/core/videoformat.h"

/// The properties of cudahistequalize, and the resulting parameters.
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

  /// Returns true if only pixels in regions count.
  bool counts_regions() const noexcept {
    return statistics_region == StatisticsRegion::regions && in_regions();
  }
  /// Returns the strength in units of 1/256.
  int blend() const noexcept;
};

/// Returns an empty string, or an error with its remedy.
std::string validation_error(const EqualizeSettings& settings, const FrameFormat& format);

histequalize::Parameters equalize_parameters(const EqualizeSettings& settings,
                                             const FrameFormat& format);
clahe::Parameters clahe_parameters(const EqualizeSettings& settings, const FrameFormat& format);
/// elapsed: the running time since the average's last frame.
histogramaverage::Parameters average_parameters(const EqualizeSettings& settings,
                                                GstClockTime elapsed);

}  // namespace cudavision
