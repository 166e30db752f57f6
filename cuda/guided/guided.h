// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"
#include "cuda/regions/activecells.h"

/// Edge-preserving smoothing by the guided filter (He, Sun & Tang, "Guided Image Filtering", 2010).
/// Each channel guides itself.
///
/// Windows are clipped to the channel. Each window models its samples p as a·p + (1 − a)·mean with
/// a = variance / (variance + epsilon): windows of small variance become flat, windows with strong
/// edges hardly change. A sample's result is the mean over all windows that contain it.
///
/// In exact integers: N is a window's area, S the sum of its samples of b bits, Q the sum of their
/// squares, 2^(n−1) ≤ N < 2^n, E = max(1, rint(256·epsilon)), and e the least integer with 2^14 +
/// ⌈epsilon⌉ < 2^e:
///   variance     v = ⌊(N·Q − S²) · 2^(31−e−2(b−8)−2n)⌋
///   epsilon      w = ⌊E · N² · 2^(31−e−2n−8)⌋
///   slope        a = ⌊2^16 · v / (v + w)⌋, in units of 2^−16
///   mean         m = ⌊2^(16−b) · S / N⌋, in units of 2^(b−16)
///   offset       o = ((2^16 − a) · m + 2^15 − 1) >> 16, in the same units
/// A and O are the sums of a and o over the window of a sample p:
///   out = ⌊(A·p + 2^b·O + 2^15·N) / (2^16·N)⌋
/// Before the last rounding (half up), the error is less than 0.015 levels of 8 bits at every
/// depth, for epsilon ≥ 1.
///
/// Epsilon is in squared levels of 8 bits at every depth, as in OpenCV's ximgproc and MATLAB's
/// imguidedfilter for 8 bits. The paper's samples are 0 to 1; epsilon / 255² is the paper's
/// epsilon.
///
/// Along an axis with subsampling s, a channel has the radius ⌊(2·radius/s rounded) / 2⌋. Alpha is
/// copied.
namespace cudavision::guided {

struct Parameters {
  struct Ranges {
    static constexpr Range<int> radius{0, 65535};
    static constexpr Range<double> epsilon{0, 65025};
  };

  int radius = 7;        ///< in pixels
  double epsilon = 100;  ///< variance of windows that are smoothed by half: a = 1/2

  bool operator==(const Parameters&) const = default;
};

class Guided {
 public:
  /// layout must have 8 to 16 bits. Throws invalid_argument.
  Guided(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~Guided();

  /// Applies to later frames. Never allocates. On invalid_argument, the old parameters stay in use.
  void set_parameters(const Parameters& parameters);

  /// Returns true if the output equals the input, because the radius or epsilon is 0.
  bool identity() const noexcept;

  /// in and out have the layout's planes and do not overlap. Bytes outside all channels are copied.
  /// Only enqueues. With `active`, the output is undefined where no cell is active.
  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active = nullptr);

  class Backend;

 private:
  Device& device_;
  FrameLayout layout_;
  Parameters parameters_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::guided
