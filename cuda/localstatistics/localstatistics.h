// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"
#include "cuda/pixels/luminance.h"

/// Mean and standard deviation of the window around each pixel, and adaptive thresholds (Bradley &
/// Roth, "Adaptive thresholding using the integral image", 2007; Sauvola & Pietikäinen, "Adaptive
/// document image binarization", 2000). The cost hardly depends on the radius.
///
/// Windows are clipped to the picture. N is a window's area, S the sum of its luminances and Q the
/// sum of their squares, all exact integers; p is the pixel's luminance, and lo the black level:
///   mean       (2S + N) div 2N
///   stddev     V = N·Q − S², r = isqrt(V): (2r + (V − r² > r) + N) div 2N,
///              the standard deviation rounded half up
///   bradley    black where (p − lo)·N·2^16 < (S − lo·N)·(2^16 − rint(ratio·2^16)), else white
///   sauvola    in IEEE binary64, each operation rounded: σ = √V / N,
///              T = ((S − lo·N) / N)·(1 + k·(σ / range − 1)); black where p − lo < T, else white
/// Samples and means below lo are not clamped: their differences from lo are negative. `invert`
/// exchanges black and white.
namespace cudavision::localstatistics {

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
  double ratio = 0.15;  ///< for bradley
  double k = 0.2;       ///< for sauvola
  /// For sauvola: standard deviation at which the threshold equals the mean. 0 selects half the
  /// range of the samples: 2^(bits − 1), or 109.5·2^(bits − 8) in limited range.
  double range = 0;
  bool invert = false;         ///< for bradley and sauvola
  bool limited_range = false;  ///< for bradley and sauvola: lo is 16·2^(bits − 8), otherwise 0

  bool operator==(const Parameters&) const = default;
};

class LocalStatistics {
 public:
  /// layout must suit Luminance. output_bits is 8 or 16. In 16-bit output, mean and stddev of a
  /// layout of b bits are `value << (16 − b)`. 8-bit mean and stddev require b = 8. Black is 0 and
  /// white 2^output_bits − 1. Throws invalid_argument.
  LocalStatistics(Device& device, const FrameLayout& layout, int output_bits,
                  const Parameters& parameters);
  ~LocalStatistics();

  /// Applies to later frames. Never allocates. The output may only change between bradley and
  /// sauvola. On invalid_argument, the old parameters stay in use.
  void set_parameters(const Parameters& parameters);

  /// out has the layout's width and height, with samples of output_bits in native byte order. It
  /// must not overlap `in`. Only enqueues.
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
