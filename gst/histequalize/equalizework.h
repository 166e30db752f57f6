// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <optional>

#include "cuda/clahe/clahe.h"
#include "cuda/histequalize/histequalize.h"
#include "cuda/histequalize/regionhistogram.h"
#include "cuda/noise/noise.h"
#include "gst/base/frameclock.h"
#include "gst/base/frameregions.h"
#include "gst/histequalize/equalizesettings.h"
#include "gst/histequalize/histogrammessages.h"

namespace cudavision {

/// Equalises and counts the frames of cudahistequalize, with the operations that the settings
/// choose. All calls except restart_average() are made in the session's context, the destructor
/// included.
class EqualizeWork {
 public:
  /// The settings are valid for the format, as they are in apply().
  EqualizeWork(Device& device, const FrameFormat& format, const EqualizeSettings& settings,
               RegionFinder& finder);

  const FrameFormat& format() const noexcept { return format_; }

  /// Takes effect with the next frame, except for tiles_x and tiles_y, which are those of the
  /// constructor.
  void apply(const EqualizeSettings& settings);

  /// Starts a frame. Returns false if it stays unchanged; run() may still count it.
  bool begin_frame(const FrameInfo& info);

  /// Equalises the frame into out, unless out is nullptr, and counts its luminance in bins, unless
  /// they have no data. Returns the status of the average over time in which the frame takes part,
  /// or nullptr.
  const histogramaverage::Status* run(const ConstFrame& in, const Frame* out,
                                      View<std::uint32_t> bins);

  /// Measures the noise of a frame by itself.
  LuminanceNoise measure_noise(const ConstFrame& in);

  /// The next frame begins a new average.
  void restart_average();

 private:
  void apply(const histequalize::Parameters& parameters);
  void apply(const clahe::Parameters& parameters, clahe::Averages averages);
  bool is_clahe() const noexcept { return settings_.method == EqualizeMethod::clahe; }
  void update_average(const FrameTimes& times);
  void update_region_histogram();
  histequalize::RegionHistogram* counted_regions();
  void equalize(const ConstFrame& in, const Frame& out, View<std::uint32_t> bins);
  const histogramaverage::Status* status() const;

  Device& device_;
  const FrameFormat format_;
  const clahe::Tiles tiles_;
  EqualizeSettings settings_;  ///< in force: the last valid ones
  FrameRegions regions_;
  FrameClock clock_;  ///< of the frames in an average
  /// The smoothing of the current frame. None if it is equalised by itself.
  std::optional<histogramaverage::Parameters> average_;

  // Each is made when the first settings need it, because its tables can be large; CLAHE once more
  // when the first settings need its averages.
  std::unique_ptr<histequalize::HistogramEqualize> equalize_;
  std::unique_ptr<clahe::Clahe> clahe_;

  /// Counts the frames that no operation counts while it equalises them.
  histequalize::Histogram histogram_;
  /// Created with the first frame of which only regions count.
  std::optional<histequalize::RegionHistogram> region_histogram_;
  /// Created with the first message.
  std::unique_ptr<noise::Estimate> noise_;
};

}  // namespace cudavision
