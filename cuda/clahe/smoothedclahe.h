// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/clahe/clahe.h"
#include "cuda/histogramaverage/histogramaverage.h"

namespace cudavision::clahe {

/// Equalises the frames of a video adaptively and without flicker. It works like Clahe, except that
/// the table of each tile is made from the average of its histograms
/// (histogramaverage::HistogramAverage), and then only follows changes that are large enough to see
/// (histogramaverage::TableHysteresis). The sum of a tile's averaged counts takes the place of
/// `area`, in the clip limit as well as in the scale. If all of them are 0, which only happens in
/// tiles of a few pixels, the table made is the identity. A scene cut is one of the whole frame: it
/// depends on the sums of the histograms over all tiles. The blend comes last, so it takes effect
/// at once. With Channels::each, all of this happens for three grids.
///
/// The first frame is equalised exactly as by Clahe, and so is each frame at a scene cut.
class SmoothedClahe {
 public:
  /// The arguments are those of Clahe. Allocates 20 · 2^bits bytes for each tile (RGB: three times
  /// as much). Throws invalid_argument, or out_of_memory.
  SmoothedClahe(Device& device, const FrameLayout& layout, const Tiles& tiles,
                const Parameters& parameters);
  ~SmoothedClahe();

  /// Takes effect with the next run() and never allocates. Other channels and another range begin a
  /// new average; another clip limit makes other tables from the same one. Throws invalid_argument,
  /// and then the last valid parameters stay in force.
  void set_parameters(const Parameters& parameters);

  /// in and out have the layout's planes and do not overlap. smoothing has the frame's weight in
  /// the average and the threshold for scene cuts. Throws invalid_argument. Only enqueues.
  void run(const ConstFrame& in, const Frame& out, const histogramaverage::Parameters& smoothing);

  /// The next run() begins a new average.
  void restart() noexcept;

  /// Describes the frame of the last run(). It lies in device memory of this object.
  const histogramaverage::Status* status() const noexcept;

  class Backend;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace cudavision::clahe
