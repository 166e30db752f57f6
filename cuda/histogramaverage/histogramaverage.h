// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/range.h"
#include "cuda/core/view.h"

/// Averages histograms over time and makes tables ignore small changes, so that histogram
/// equalisation does not make videos flicker. The average is exponential smoothing (Brown,
/// "Smoothing, Forecasting and Prediction of Discrete Time Series", 1963); the weights depend on
/// the time between two frames. Scene cuts are detected by comparing histograms (Zhang, Kankanhalli
/// and Smoliar, "Automatic partitioning of full-motion video", 1993) and areas of the frame
/// (scenecut.h).
///
/// A frame may have several histograms, as rows of a view: of its luminance, of red, green and
/// blue, or of each tile.
namespace cudavision::histogramaverage {

constexpr int whole_weight = 65536;

/// Weight of a frame that follows `elapsed` ns after the previous frame. time_constant is in ns.
/// Returns `rint(65536·(1 − exp(−elapsed/time_constant)))` in binary64, or 65536 for a time
/// constant of 0. At any frame rate, the average covers 63 % of a step within the time constant.
int weight_of(std::uint64_t elapsed, std::uint64_t time_constant);

struct Parameters {
  struct Ranges {
    static constexpr Range<int> weight{0, whole_weight};
    static constexpr Range<int> cut_threshold{0, whole_weight};
  };

  /// Weight of the frame's counts in the average, in 65536ths.
  int weight = whole_weight;
  /// A frame is a scene cut if the share of pixels that moved to other bins, or the change of the
  /// areas, exceeds this number of 65536ths. 65536 disables scene cuts.
  int cut_threshold = whole_weight;
};

/// Throws invalid_argument if the parameters are outside their ranges.
void check_parameters(const Parameters& parameters);

/// Status of the last run(). In device memory.
struct Status {
  std::uint32_t restarted;  ///< 1 for the first frame of an average and for a scene cut, else 0
  std::uint32_t is_cut;     ///< 1 for a scene cut, else 0
  std::uint32_t cuts;       ///< scene cuts since construction, modulo 2^32
};

/// Averages histograms. Each bin has a state S, its average in counts·2^16. With the frame's counts
/// H, the frame's weight a, and shifts that round down:
///   h  = (S + 2^15) >> 16
///   S += ((H·2^16 − S)·a) >> 16
/// The first frame of an average and each scene cut set S = H·2^16. A frame is a scene cut if
///   (Σ|H − h|·2^16 > 2·ΣH·cut_threshold or area_change > cut_threshold) and cut_threshold < 65536
/// where h is the rounded average before the frame, and H and h are first summed bin by bin over
/// all histograms. The result is h after the frame. Because each bin is rounded separately, the sum
/// of h may differ from the number of pixels by less than two counts per bin; it may even be 0.
class HistogramAverage {
 public:
  /// A frame has up to max_histograms histograms (1 to 65536) with 2^bits bins (bits is 8 to 16).
  /// Allocates 12 bytes of device memory per bin. Throws invalid_argument or out_of_memory.
  HistogramAverage(Device& device, int max_histograms, int bits);
  ~HistogramAverage();

  /// counts is device memory with a row of 2^bits counts per histogram. All counts add up to less
  /// than 2^47. If the number of rows changes, the average restarts. Returns h in as many
  /// contiguous rows, in memory of this object that the next call overwrites. area_change is
  /// nullptr or scenecut::AreaMeans::change() from the previous frame to this one, in device
  /// memory. Throws invalid_argument. Only enqueues.
  View<const std::uint32_t> run(View<const std::uint32_t> counts, const Parameters& parameters,
                                const std::uint32_t* area_change = nullptr);

  /// The next run() restarts the average.
  void restart() noexcept { histograms_ = 0; }

  /// Written by run(), in device memory of this object.
  const Status* status() const noexcept;

  class Backend;

 private:
  int max_histograms_;
  int bits_;
  int histograms_ = 0;  ///< histograms per frame; 0: the next frame restarts the average
  std::unique_ptr<Backend> backend_;
};

/// Keeps tables from following small changes, with the play operator (Krasnosel'skii and
/// Pokrovskii, "Systems with Hysteresis", 1989). Let T be the tables in use, N the tables made for
/// a frame, and m = 4·2^(bits − 8). If the frame restarts the average, N replaces T. Otherwise each
/// entry moves only as far as necessary to be within m of the new entry:
///   T = min(max(T, N − m), N + m)
/// Noise in N thus does not change T, and T follows larger changes in steps as small as the steps
/// of N. If every N is monotone, T is monotone too.
class TableHysteresis {
 public:
  /// Arguments as for HistogramAverage; each table has 2^bits entries. Allocates 2 bytes of device
  /// memory per entry. Throws invalid_argument or out_of_memory.
  TableHysteresis(Device& device, int max_tables, int bits);
  ~TableHysteresis();

  /// made is device memory with a row of 2^bits entries per table, aligned to 8 bytes. status is
  /// the status of the average from which the tables were made. Returns T in as many contiguous
  /// rows, which the next call overwrites. Throws invalid_argument. Only enqueues.
  View<const std::uint16_t> run(View<const std::uint16_t> made, const Status* status);

  class Backend;

 private:
  int max_tables_;
  int bits_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::histogramaverage
