// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/range.h"
#include "cuda/core/view.h"

/// Averages histograms over time, and makes tables ignore small changes, so that histogram
/// equalisation does not let videos flicker. The average is exponential smoothing
/// (Brown, "Smoothing, Forecasting and Prediction of Discrete Time Series", 1963) with weights that
/// follow from the time between two frames. Scene cuts are found by comparing histograms (Zhang,
/// Kankanhalli and Smoliar, "Automatic partitioning of full-motion video", 1993), and areas of the
/// frame (scenecut.h). Everything stays on the device.
///
/// A video may have several histograms for each frame: one for its luminance, one for each of red,
/// green and blue, or one for each tile. They are the rows of a view.
namespace cudavision::histogramaverage {

constexpr int whole_weight = 65536;

/// Returns the weight of a frame that comes `elapsed` ns after the frame before it, for a time
/// constant in ns: `rint(65536·(1 − exp(−elapsed/time_constant)))` in binary64, or 65536 where the
/// time constant is 0. After a step, the average is 63 % of the way to the new counts when the time
/// constant has passed, whatever the frame rate is.
int weight_of(std::uint64_t elapsed, std::uint64_t time_constant);

/// Both may change from frame to frame.
struct Parameters {
  struct Ranges {
    static constexpr Range<int> weight{0, whole_weight};
    static constexpr Range<int> cut_threshold{0, whole_weight};
  };

  /// The weight of the frame's counts in the average, in 65536ths.
  int weight = whole_weight;
  /// The share of the pixels that must have moved to other bins, or the change of the areas, for a
  /// scene cut, in 65536ths. At 65536 there are no scene cuts.
  int cut_threshold = whole_weight;
};

/// Throws invalid_argument if the parameters are outside their ranges.
void check_parameters(const Parameters& parameters);

/// Describes the frame of the last run(). It lies in device memory.
struct Status {
  std::uint32_t begins_anew;  ///< 1 for the first frame of an average and for a scene cut, else 0
  std::uint32_t is_cut;       ///< 1 for a scene cut, else 0
  std::uint32_t cuts;         ///< the number of scene cuts since the constructor, mod 2^32
};

/// Averages histograms. Each bin has a state S, its average in counts·2^16. With H the counts of a
/// frame, a its weight, and all shifts flooring:
///   h  = (S + 2^15) >> 16
///   S += ((H·2^16 − S)·a) >> 16
/// The first frame of an average sets S = H·2^16. So does a scene cut: with h the rounded average
/// before the frame, and H and h added up over all histograms of the frame, bin by bin, a frame is
/// one where
///   (Σ|H − h|·2^16 > 2·ΣH·cut_threshold or area_change > cut_threshold) and cut_threshold < 65536
/// The result is h after the frame. Because each bin is rounded by itself, the sum of h may differ
/// from the number of pixels, by less than two counts for each bin; it may even be 0.
class HistogramAverage {
 public:
  /// max_histograms (1 to 65536) is the largest number of histograms of a frame, each of 2^bits
  /// bins (8 to 16 bits). Takes 12 bytes of device memory for each of their bins. Throws
  /// invalid_argument, or out_of_memory.
  HistogramAverage(Device& device, int max_histograms, int bits);
  ~HistogramAverage();

  /// counts is device memory with a row of 2^bits counts for each histogram; their sum is below
  /// 2^47. If there are not as many rows as in the last call, a new average begins. Returns h in as
  /// many rows, which lie next to each other. It is memory of this object that the next call
  /// overwrites. If area_change is given, it is device memory: scenecut::AreaMeans::change() for
  /// this frame and the one before. Throws invalid_argument. Only enqueues.
  View<const std::uint32_t> run(View<const std::uint32_t> counts, const Parameters& parameters,
                                const std::uint32_t* area_change = nullptr);

  /// The next run() begins a new average.
  void restart() noexcept;

  /// Device memory of this object, which run() fills.
  const Status* status() const noexcept;

  class Backend;

 private:
  int max_histograms_;
  int bits_;
  int histograms_ = 0;  ///< of the average; 0 if the next frame begins a new one
  std::unique_ptr<Backend> backend_;
};

/// Keeps tables from following small changes, by the play operator (Krasnosel'skii and Pokrovskii,
/// "Systems with Hysteresis", 1989), which works like two cogs with some play between them. Let T
/// be the tables in use, N those made for a frame, and m = 4·2^(bits − 8). Where the average of the
/// frame begins anew, N takes the place of T. Otherwise each entry moves only as far as it must to
/// come within m of the one made:
///   T = min(max(T, N − m), N + m)
/// Noise in N thus leaves T alone, and T follows a larger change in steps as small as those of N.
/// If no table made ever falls from one entry to the next, none in use does.
class TableHysteresis {
 public:
  /// The arguments are those of HistogramAverage; each table has 2^bits entries. Takes 2 bytes of
  /// device memory for each entry. Throws invalid_argument, or out_of_memory.
  TableHysteresis(Device& device, int max_tables, int bits);
  ~TableHysteresis();

  /// made is device memory with a row of 2^bits entries for each table, and each row begins at a
  /// multiple of 8 bytes. status is that of the average from which the tables were made. Returns T
  /// in as many rows, which lie next to each other. It is memory of this object that the next call
  /// changes. Throws invalid_argument. Only enqueues.
  View<const std::uint16_t> run(View<const std::uint16_t> made, const Status* status);

  class Backend;

 private:
  int max_tables_;
  int bits_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::histogramaverage
