// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"
#include "cuda/pixels/luminance.h"

/// Mean and standard deviation of the window around each pixel, at a cost that does not depend on
/// its size, and the adaptive thresholds that follow from them (Bradley & Roth, "Adaptive
/// thresholding using the integral image", 2007; Sauvola & Pietikäinen, "Adaptive document image
/// binarization", 2000).
///
/// The window of a pixel reaches radius pixels to each side and ends where the picture ends. With
/// its area N, the sum S and the sum of squares Q of its luminances, all exact integers, p the
/// pixel's own luminance and lo the black level of the samples:
///   mean       (2S + N) div 2N
///   stddev     V = N·Q − S², r = isqrt(V): (2r + (V − r² > r) + N) div 2N,
///              the standard deviation rounded half up
///   bradley    black where (p − lo)·N·2^16 < (S − lo·N)·(2^16 − rint(ratio·2^16)), else white
///   sauvola    in IEEE binary64, each operation rounded: σ = √V / N,
///              T = ((S − lo·N) / N)·(1 + k·(σ / range − 1)); black where p − lo < T, else white
/// Samples below lo and means below lo count as they are, with a negative difference. With
/// `invert`, black and white change places.
namespace cudavision::localstatistics {

/// All parameters may change between frames, except for the output: only bradley and sauvola may
/// replace each other.
struct Parameters {
  enum class Output : std::uint8_t { mean, stddev, bradley, sauvola };
  struct Ranges {
    static constexpr Range<int> radius{0, 65535};
    static constexpr Range<double> ratio{0, 1};
    static constexpr Range<double> k{0, 1};
    static constexpr Range<double> range{0, 65535};
  };

  Output output = Output::mean;
  int radius = 7;
  double ratio = 0.15;  ///< for bradley: how far below the mean black begins
  double k = 0.2;       ///< for sauvola
  double range = 0;     ///< for sauvola: the standard deviation at which the threshold is the mean;
                        ///< 0 stands for half the range of the samples: 2^(bits − 1), or
                        ///< 109.5·2^(bits − 8) in limited range
  bool invert = false;  ///< for bradley and sauvola
  /// for bradley and sauvola: lo is 16·2^(bits − 8), else 0
  bool limited_range = false;

  bool operator==(const Parameters&) const = default;
};

class LocalStatistics {
 public:
  /// layout must be one that Luminance accepts. output_bits is the depth of the samples written, 8
  /// or 16. Mean and stddev fill 16-bit words from the top: a value of a layout of b bits is stored
  /// as `value << (16 − b)`. For 8-bit output, b must be 8. Black is 0 and white 2^output_bits − 1.
  /// Throws invalid_argument.
  LocalStatistics(Device& device, const FrameLayout& layout, int output_bits,
                  const Parameters& parameters);
  ~LocalStatistics();

  /// Takes effect with the next run() and never allocates. Throws invalid_argument, and then the
  /// last valid parameters stay in force. Bradley and sauvola may replace each other; other outputs
  /// may not change, because they need other sums.
  void set_parameters(const Parameters& parameters);

  /// out is a plane of the layout's width and height, with bytes or words in the machine's byte
  /// order. It must not overlap in. Only enqueues.
  void run(const ConstFrame& in, View<std::uint8_t> out);

  class Backend;

 private:
  void set(const Parameters& parameters);

  FrameLayout layout_;
  int output_bits_;
  Parameters parameters_;
  Luminance luminance_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::localstatistics
