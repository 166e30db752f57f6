// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <optional>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"
#include "cuda/histequalize/histequalize.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "cuda/scenecut/scenecut.h"

/// Contrast-limited adaptive histogram equalisation (K. Zuiderveld, "Contrast Limited Adaptive
/// Histogram Equalization", Graphics Gems IV, 1994), with the results of OpenCV's CLAHE for one
/// channel of 8 or 16 bits in full range.
///
/// Tiles. The picture is divided into tiles.columns × tiles.rows tiles of equal size. If its width
/// is not divisible by tiles.columns, or its height not by tiles.rows, both dimensions are first
/// extended: on the right by `columns − width mod columns` and below by `rows − height mod rows`.
/// The extension reflects the picture without repeating the edge. If the picture has fewer columns
/// (or rows) than the grid, tiles are one pixel wide (or high).
///
/// Tables. Each tile has a histogram with 2^bits bins and `area` pixels in all. If clip_limit is
/// positive, no bin keeps more than
///   limit = max(1, (int)(clip_limit · area / 2^bits))                       (in IEEE binary64)
/// pixels. The excess is redistributed: every bin gets `excess div 2^bits`, and the rest r goes to
/// bins 0, s, 2s, … one by one, where `s = max(1, 2^bits div r)`. With the output range [low,
/// high], the table of the tile is
///   scale  = (float)(high − low) / (float)area
///   lut[j] = min(high, low + round((float)(hist[0] + … + hist[j])·scale))
///
/// Interpolation. The level of a pixel (x, y) of value v is interpolated between four tiles:
///   tx = (float)x · (1.0f / tile width) − 0.5f,  x1 = floor(tx),  a = tx − x1
///   ty = (float)y · (1.0f / tile height) − 0.5f, y1 = floor(ty),  b = ty − y1
///   eq = round((l11·(1 − a) + l12·a)·(1 − b) + (l21·(1 − a) + l22·a)·b)
/// where lrc is lut[v] of the tile in column x1 + c − 1 and row y1 + r − 1. If this tile is outside
/// the grid, the nearest tile is used. All operations are in IEEE binary32, each rounded to
/// nearest; round() rounds halves to even.
///
/// Smoothing prevents flicker in video. With smoothing, each tile's table is made from the average
/// of its histograms (histogramaverage::HistogramAverage), and follows only visible changes
/// (histogramaverage::TableHysteresis). The sum of a tile's averaged counts replaces `area`. If all
/// these counts are 0, which can happen with few pixels per bin, the table is the identity. Scene
/// cuts depend on the sums of the histograms over all tiles, and on scenecut::AreaMeans. The blend
/// comes last, so it takes effect at once. Channels::each has three grids. The first frame of an
/// average, and each frame at a scene cut, is equalised without smoothing.
namespace cudavision::clahe {

struct Tiles {
  static constexpr Range<int> range{1, 64};  ///< of columns and of rows
  int columns = 8;
  int rows = 8;
};

struct Parameters : histequalize::Parameters {
  /// Maximum height of a bin, as a multiple of the mean of all bins. 0 or less: unlimited.
  double clip_limit = 2.0;

  bool operator==(const Parameters&) const = default;
};

/// Whether an operation allocates memory for temporal averages.
enum class Averages { none, kept };

/// Equalises frames. Luma samples (Channels::each: red, green and blue) become their levels. RGB
/// with Channels::luminance: if eq is the level of the luminance u (luminance.h), a channel c
/// becomes `saturate(c + eq − u)`. Other bytes are copied; chroma planes only with copies_chroma.
class Clahe {
 public:
  /// layout must have 8 to 16 bits and a luma channel as large as the picture, or red, green and
  /// blue channels of 8 bits. Throws invalid_argument otherwise. Allocates at least 6 · 2^bits
  /// bytes per tile, 20 · 2^bits to keep averages (RGB: three times as much). Throws out_of_memory.
  Clahe(Device& device, const FrameLayout& layout, const Tiles& tiles, const Parameters& parameters,
        Averages averages = Averages::none);
  ~Clahe();

  bool keeps_averages() const noexcept { return average_.has_value(); }

  /// Applies to later frames. Never allocates. New channels or a new range restart the average; a
  /// new clip limit keeps it. On invalid_argument, the old parameters stay in use.
  void set_parameters(const Parameters& parameters);

  /// Equalises one frame. in and out have the layout's planes and do not overlap. smoothing holds
  /// the frame's weight in the average and the threshold for scene cuts. Without smoothing, the
  /// frame is equalised separately, and the next smoothed frame restarts the average. Throws
  /// invalid_argument, also for smoothing without averages. Only enqueues.
  void run(const ConstFrame& in, const Frame& out,
           const std::optional<histogramaverage::Parameters>& smoothing = {});

  /// The next run() restarts the average.
  void restart() noexcept;

  /// Status of the last smoothed frame, in device memory. nullptr without averages.
  const histogramaverage::Status* status() const noexcept {
    return average_ ? average_->status() : nullptr;
  }

  class Backend;

 private:
  FrameLayout layout_;
  Parameters parameters_;
  std::unique_ptr<Backend> backend_;
  std::optional<scenecut::AreaMeans> areas_;
  std::optional<histogramaverage::HistogramAverage> average_;
  std::optional<histogramaverage::TableHysteresis> hysteresis_;
};

}  // namespace cudavision::clahe
