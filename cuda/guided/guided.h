// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"
#include "cuda/regions/activecells.h"

/// Edge-preserving smoothing by the guided filter (He, Sun & Tang, "Guided Image Filtering", 2010),
/// in which each channel guides itself.
///
/// The window of a sample reaches radius samples to each side and ends where the channel ends. In
/// every window, the filter is a line that pulls samples p towards the window's mean,
/// a·p + (1 − a)·mean with a = variance / (variance + epsilon), so that windows of small variance
/// become flat and those with strong edges stay as they are. A sample becomes the mean of what the
/// windows of all samples of its own window say.
///
/// In exact integers, with N, S and Q the area of a window, the sum of its samples of b bits and
/// the sum of their squares, 2^(n−1) ≤ N < 2^n, E = max(1, rint(256·epsilon)), and e the least
/// number for which 2^14 + ⌈epsilon⌉ < 2^e:
///   variance     v = ⌊(N·Q − S²) · 2^(31−e−2(b−8)−2n)⌋
///   epsilon      w = ⌊E · N² · 2^(31−e−2n−8)⌋
///   slope        a = ⌊2^16 · v / (v + w)⌋, in units of 2^−16
///   mean         m = ⌊2^(16−b) · S / N⌋, in units of 2^(b−16)
///   offset       o = ((2^16 − a) · m + 2^15 − 1) >> 16, in the same units
/// With A and O the sums of a and o over the window of a sample p:
///   out = ⌊(A·p + 2^b·O + 2^15·N) / (2^16·N)⌋
/// Before the last rounding, which is half up, this differs from the filter in real numbers by less
/// than 0.015 levels of 8 bits, at every depth, for epsilons of 1 and more.
///
/// Epsilon is in squares of levels of 8 bits, whatever the depth, as OpenCV's ximgproc and MATLAB's
/// imguidedfilter take it for 8 bits. The paper, whose samples are 0 to 1, has epsilon / 255².
///
/// A channel that is subsampled by s along an axis has windows of ⌊(2·radius/s rounded) / 2⌋
/// samples to each side there. Alpha is copied.
namespace cudavision::guided {

struct Parameters {
  struct Ranges {
    static constexpr Range<int> radius{0, 65535};
    static constexpr Range<double> epsilon{0, 65025};
  };

  int radius = 7;
  double epsilon = 100;  ///< the variance of windows that are half smoothed

  bool operator==(const Parameters&) const = default;
};

class Guided {
 public:
  /// layout must have 8 to 16 bits. Throws invalid_argument if the layout or the parameters are
  /// outside these limits.
  Guided(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~Guided();

  /// Takes effect with the next run(). Never allocates; throws invalid_argument and keeps the last
  /// valid set.
  void set_parameters(const Parameters& parameters);

  /// Returns true if the output equals the input, because the radius or epsilon is 0.
  bool identity() const noexcept;

  /// in and out have the planes of the layout and do not overlap. Bytes that belong to no channel
  /// are copied. Only enqueues. With `active`, the output is undefined where no cell is active, and
  /// takes less time.
  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active = nullptr);

  class Backend;

 private:
  Device& device_;
  FrameLayout layout_;
  Parameters parameters_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::guided
