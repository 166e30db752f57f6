// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"
#include "cuda/histogramaverage/histogramaverage.h"
#include "cuda/scenecut/scenecut.h"

/// Histograms and global histogram equalisation (Gonzalez & Woods, Digital Image Processing,
/// section 3.3), in the arithmetic of OpenCV's equalizeHist, which is the special case of one 8-bit
/// channel in full range.
///
/// Luminance is the luma channel where the layout has one, otherwise
/// `u = (299·red + 587·green + 114·blue) div 1000` (the weights of ITU-R BT.601).
///
/// The table follows from a histogram `hist` and an output range [low, high]. Let i be the first
/// bin that is not empty. If it holds every sample, the table is the identity. Otherwise
///   scale  = (float)(high − low) / (float)(total − hist[i])
///   lut[j] = low                                                          for j ≤ i
///   lut[j] = min(high, low + round((float)(hist[i+1] + … + hist[j])·scale))  for j > i
/// in IEEE binary32, each operation rounded to nearest; round() rounds halves to even.
///
/// The frames of a video flicker when each is equalised by itself. With smoothing, the tables are
/// made from averages of the histograms (histogramaverage::HistogramAverage), with the sum of the
/// averaged counts as `total`, and then only follow changes that are large enough to see
/// (histogramaverage::TableHysteresis). If all averaged counts are 0, the table made is the
/// identity. The blend comes last, so it takes effect at once. With Channels::each, all of this
/// happens for three histograms and tables. The first frame of an average is equalised exactly as
/// by itself, and so is each frame at a scene cut.
namespace cudavision::histequalize {

class RegionHistogram;

/// Makes the luminance histogram of a frame.
class Histogram {
 public:
  /// layout must have 8 to 16 bits and a luma channel as large as the picture, or red, green and
  /// blue channels of 8 bits. Throws invalid_argument otherwise.
  Histogram(Device& device, const FrameLayout& layout);
  ~Histogram();

  /// bins is device memory for 2^bits counts in one row. Entry v becomes the number of pixels whose
  /// luminance is v. Only enqueues.
  void run(const ConstFrame& in, View<std::uint32_t> bins);

  class Backend;  // of HistogramEqualize, too

 private:
  FrameLayout layout_;
  std::unique_ptr<Backend> backend_;
};

/// All parameters may change between frames.
struct Parameters {
  enum class Channels {
    luminance,  ///< one table from the luminance; red, green and blue keep their differences
    each,       ///< a table each for red, green and blue; refused where the layout has luma
  };
  struct Ranges {
    static constexpr Range<int> blend{0, 256};
  };

  Channels channels = Channels::luminance;
  /// The output range of luma, 0 ≤ low < high < 2^bits. RGB takes 0 and 2^bits − 1 only.
  int low = 0;
  int high = 255;
  /// 0 (the input) to 256 (fully equalised): out = in + ((blend·(eq − in) + 128) >> 8).
  int blend = Ranges::blend.max;

  bool operator==(const Parameters&) const = default;
};

/// Equalises frames. Luma samples go through the table, and every other byte is copied.
/// RGB with Channels::luminance: `eq = saturate(in + lut[u] − u)` for each of the three channels;
/// alpha and padding are copied.
class HistogramEqualize {
 public:
  /// layout must be one that Histogram accepts. Allocates about 20 bytes for each entry of a table.
  /// Throws invalid_argument, or out_of_memory.
  HistogramEqualize(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~HistogramEqualize();

  /// Takes effect with the next run() and never allocates. Other channels and another range begin a
  /// new average. Throws invalid_argument, and then the last valid parameters stay in force.
  void set_parameters(const Parameters& parameters);

  /// in and out have the layout's planes and do not overlap. If histogram has data (device memory,
  /// 2^bits counts in one row), it receives the luminance histogram of in. If smoothing is given,
  /// it has the frame's weight in the average and the threshold for scene cuts; without it, the
  /// frame is equalised by itself and the next one with it begins a new average. If regions is
  /// given, both the tables and this histogram come from the pixels that it counts instead of all
  /// pixels, and scene cuts are found by their histogram alone; every pixel is equalised
  /// nevertheless. A change between these two begins a new average. Throws invalid_argument. Only
  /// enqueues.
  void run(const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram = {},
           const std::optional<histogramaverage::Parameters>& smoothing = {},
           RegionHistogram* regions = nullptr);

  /// The next run() begins a new average.
  void restart() noexcept;

  /// Describes the frame of the last run() with smoothing. It lies in device memory of this object.
  const histogramaverage::Status* status() const noexcept;

 private:
  View<const std::uint32_t> count(const ConstFrame& in, View<std::uint32_t> histogram,
                                  RegionHistogram* regions);

  Device& device_;
  FrameLayout layout_;
  Parameters parameters_;
  std::unique_ptr<Histogram::Backend> backend_;
  Buffer counts_;              ///< of the frame whose tables are made in steps
  Buffer made_;                ///< the tables made from them
  scenecut::AreaMeans areas_;  ///< of frames with smoothing and without regions
  histogramaverage::HistogramAverage average_;
  histogramaverage::TableHysteresis hysteresis_;
  bool averages_regions_ = false;
};

}  // namespace cudavision::histequalize
