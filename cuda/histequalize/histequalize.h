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
/// section 3.3), with the results of OpenCV's equalizeHist for one 8-bit channel in full range.
///
/// Luminance is the luma channel. Layouts without luma use `u = (299·red + 587·green + 114·blue)
/// div 1000`, with the weights of ITU-R BT.601.
///
/// The table is made from a histogram `hist` and an output range [low, high]. Let i be the first
/// non-empty bin. If it holds every sample, the table is the identity. Otherwise
///   scale  = (float)(high − low) / (float)(total − hist[i])
///   lut[j] = low                                                          for j ≤ i
///   lut[j] = min(high, low + round((float)(hist[i+1] + … + hist[j])·scale))  for j > i
/// in IEEE binary32, each operation rounded to nearest; round() rounds halves to even.
///
/// Smoothing prevents flicker in video. With smoothing, the tables are made from averages of the
/// histograms (histogramaverage::HistogramAverage), with the sum of the averaged counts as `total`.
/// The tables follow only visible changes (histogramaverage::TableHysteresis). If all averaged
/// counts are 0, the table is the identity. The blend comes last, so it takes effect at once.
/// Channels::each has three histograms and tables. The first frame of an average, and each frame at
/// a scene cut, is equalised without smoothing.
namespace cudavision::histequalize {

class RegionHistogram;

/// Computes the luminance histogram of a frame.
class Histogram {
 public:
  /// layout must have 8 to 16 bits and a luma channel as large as the picture, or red, green and
  /// blue channels of 8 bits. Throws invalid_argument otherwise.
  Histogram(Device& device, const FrameLayout& layout);
  ~Histogram();

  /// bins is device memory for 2^bits counts in one row. Entry v becomes the number of pixels of
  /// luminance v. Only enqueues.
  void run(const ConstFrame& in, View<std::uint32_t> bins);

  class Backend;  // shared with HistogramEqualize

 private:
  FrameLayout layout_;
  std::unique_ptr<Backend> backend_;
};

struct Parameters {
  enum class Channels {
    luminance,  ///< one table from the luminance; red, green and blue keep their differences
    each,       ///< separate tables for red, green and blue; refused if the layout has luma
  };
  struct Ranges {
    static constexpr Range<int> blend{0, 256};
  };

  Channels channels = Channels::luminance;
  /// Output range of luma, 0 ≤ low < high < 2^bits. RGB accepts only 0 and 2^bits − 1.
  int low = 0;
  int high = 255;
  /// 0 (the input) to 256 (fully equalised): out = in + ((blend·(eq − in) + 128) >> 8).
  int blend = Ranges::blend.max;
  /// If false, the caller writes the planes that hold only chroma.
  bool copies_chroma = true;

  bool operator==(const Parameters&) const = default;
};

/// Throws invalid_argument if the parameters do not suit the layout.
void check_parameters(const FrameLayout& layout, const Parameters& parameters);

/// Equalises frames. Luma samples (Channels::each: red, green and blue) are looked up in a table.
/// With RGB and Channels::luminance, each channel becomes `saturate(in + lut[u] − u)`. Other bytes
/// are copied; chroma planes only with copies_chroma.
class HistogramEqualize {
 public:
  /// layout as for Histogram. Allocates about 20 bytes per table entry. Throws invalid_argument or
  /// out_of_memory.
  HistogramEqualize(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~HistogramEqualize();

  /// Applies to later frames. Never allocates. Changing the channels or the range restarts the
  /// average. On invalid_argument, the old parameters stay in use.
  void set_parameters(const Parameters& parameters);

  /// in and out have the layout's planes and do not overlap. If histogram has data (device memory,
  /// 2^bits counts in one row), it receives the luminance histogram of in.
  ///
  /// smoothing holds the frame's weight in the average and the threshold for scene cuts. Without
  /// smoothing, the frame is equalised alone; the next smoothed frame restarts the average.
  ///
  /// With regions, all histograms count only the pixels of the regions, and scene cuts depend only
  /// on the histograms. Every pixel is equalised. The average restarts if only one of two
  /// consecutive frames has regions. Throws invalid_argument. Only enqueues.
  void run(const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram = {},
           const std::optional<histogramaverage::Parameters>& smoothing = {},
           RegionHistogram* regions = nullptr);

  /// The next run() restarts the average.
  void restart() noexcept { average_.restart(); }

  /// Status of the last smoothed frame. In device memory of this object.
  const histogramaverage::Status* status() const noexcept { return average_.status(); }

 private:
  View<const std::uint32_t> count(const ConstFrame& in, View<std::uint32_t> histogram,
                                  RegionHistogram* regions);

  Device& device_;
  FrameLayout layout_;
  Parameters parameters_;
  std::unique_ptr<Histogram::Backend> backend_;
  Buffer counts_;              ///< unused if the backend equalises in one call
  Buffer made_;                ///< tables from counts_ or from averages
  scenecut::AreaMeans areas_;  ///< of frames with smoothing and without regions
  histogramaverage::HistogramAverage average_;
  histogramaverage::TableHysteresis hysteresis_;
  bool averages_regions_ = false;
};

}  // namespace cudavision::histequalize
