// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/pictures/nativepicture.h"
#include "tests/kernels/clahe/clahe_definition.h"
#include "tests/kernels/histogramaverage/histogramaverage_definition.h"

/// The expected output and statistics of cudahistequalize, by the definitions of tests/kernels.
namespace check {

struct Equalization {
  bool each_channel = false;  ///< separate tables for red, green and blue
  double strength = 1.0;
  bool limited = false;   ///< luma range is 16…235 (times 2^(bits − 8))
  bool adaptive = false;  ///< method=clahe
  double clip_limit = 2.0;
  int tiles_x = 8, tiles_y = 8;
  bool scales_chroma = false;

  /// The properties except the tiles, which cannot change while the element plays.
  Properties properties() const;
  Properties tile_properties() const;
};

Picture equalized(const Picture& picture, const Equalization& how);

/// Equalises the whole picture by the histogram of its regions. `how` must not be adaptive.
Picture equalized_by_regions(const Picture& picture, const Equalization& how,
                             const Regions& regions);

class SmoothedEqualization {
 public:
  /// `elapsed` since the previous frame and `smoothing_time` in ns. `regions` limit the histogram.
  Picture next(const Picture& picture, const Equalization& how, double elapsed,
               double smoothing_time, double scene_cut_threshold, const Regions* regions = nullptr);

  void restart() {
    average_.restart();
    adaptive_.restart();
  }

 private:
  /// The method of the last frame. A change of the method begins a new average.
  bool was_adaptive_ = false;
  cudavision::test::DefinedSmoothedClahe adaptive_;
  cudavision::test::DefinedAreas areas_;
  cudavision::test::DefinedAverage average_;
  cudavision::test::DefinedHysteresis hysteresis_;
};

using Bins = std::vector<std::uint32_t>;

Bins luminance_histogram(const Picture& picture);
Bins luminance_histogram(const Picture& picture, const Regions& regions);

struct Statistics {
  double mean = 0, stddev = 0;
  double entropy = 0;  ///< in bits
  int minimum = 0, maximum = 0;
};
Statistics statistics_of(const Bins& bins);

/// Returns the smallest value v such that at least `percent` % of all pixels are at most v.
int percentile_of(const Bins& bins, int percent);

}  // namespace check
