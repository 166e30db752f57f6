// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/clahe/clahe.h"
#include "cuda/histequalize/histequalize.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "gst/base/filterelement.h"
#include "gst/core/videoformat.h"

/// The properties of cudahistequalize, and how the parameters of operations follow from them.
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

  /// Returns true if only the pixels of regions count.
  bool counts_regions() const noexcept {
    return statistics_region == StatisticsRegion::regions && in_regions();
  }
  /// Returns the strength in 256ths.
  int blend() const noexcept;
};

/// Returns an empty string, or what is wrong with the channels for these frames.
std::string validation_error(const EqualizeSettings& settings, const FrameFormat& format);

histequalize::Parameters equalize_parameters(const EqualizeSettings& settings,
                                             const FrameFormat& format);
clahe::Parameters clahe_parameters(const EqualizeSettings& settings, const FrameFormat& format);
/// elapsed is the running time since the last frame of the average.
histogramaverage::Parameters average_parameters(const EqualizeSettings& settings,
                                                GstClockTime elapsed);

}  // namespace cudavision
