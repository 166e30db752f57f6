// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/histequalize/histequalize.h"
#include "cuda/histequalize/regionhistogram.h"
#include "cuda/histogramaverage/histogramaverage.h"

namespace cudavision::histequalize {

/// Equalises the frames of a video without flicker. It works like HistogramEqualize, except that
/// the tables are made from averages of the histograms (histogramaverage::HistogramAverage), with
/// the sum of the averaged counts as `total`, and then only follow changes that are large enough to
/// see (histogramaverage::TableHysteresis). If all averaged counts are 0, the table made is the
/// identity. The blend comes last, so it takes effect at once. With Channels::each, all of this
/// happens for three histograms and tables.
///
/// The first frame is equalised exactly as by HistogramEqualize, and so is each frame at a scene
/// cut.
class SmoothedEqualize {
 public:
  /// layout must be one that Histogram accepts. Throws invalid_argument.
  SmoothedEqualize(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~SmoothedEqualize();

  /// Takes effect with the next run() and never allocates. Other channels and another range begin a
  /// new average. Throws invalid_argument, and then the last valid parameters stay in force.
  void set_parameters(const Parameters& parameters);

  /// in and out have the layout's planes and do not overlap. smoothing has the frame's weight in
  /// the average and the threshold for scene cuts. If histogram has data (device memory, 2^bits
  /// counts in one row), it receives the luminance histogram of in. If regions is given, both the
  /// tables and this histogram come from the pixels that it counts instead of all pixels; every
  /// pixel is equalised nevertheless. A change between these two begins a new average. Throws
  /// invalid_argument. Only enqueues.
  void run(const ConstFrame& in, const Frame& out, const histogramaverage::Parameters& smoothing,
           View<std::uint32_t> histogram = {}, RegionHistogram* regions = nullptr);

  /// The next run() begins a new average.
  void restart() noexcept;

  /// Describes the frame of the last run(). It lies in device memory of this object.
  const histogramaverage::Status* status() const noexcept;

  class Backend;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace cudavision::histequalize
