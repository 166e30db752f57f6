// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

/// Scales the chroma of a YUV frame with its luma, so that colours keep their saturation when an
/// operation changes the contrast of the luma.
///
/// A chroma sample (x, y) of a channel that has one sample for s×t pixels follows the luma sample
/// (s·x, t·y). With v and v' the values of the luma sample before and after the operation, b the
/// black level, n = 2^(bits − 1) neutral chroma and c the chroma before the operation:
///   r  = min(1024, (256·max(v' − b, 0) + (v − b) div 2) div (v − b)), or 256 where v ≤ b
///   c' = n + ((c − n)·r + 128) div 256, rounded down
/// clamped to the legal range of chroma, which is extended to c if c is outside it. Full range: b =
/// 0, and all values are legal. Limited range: b = 16·2^(bits − 8), and values from 16·2^(bits − 8)
/// to 240·2^(bits − 8) are legal.
namespace cudavision::chroma {

struct Parameters {
  bool limited_range = false;

  bool operator==(const Parameters&) const = default;
};

class ChromaScale {
 public:
  /// Returns true if the layout has luma and two chroma channels of equal size and subsampling.
  static bool is_needed(const FrameLayout& layout) noexcept;

  /// layout must have a luma channel of the picture's size, and two chroma channels of equal size
  /// and subsampling. Throws invalid_argument.
  ChromaScale(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~ChromaScale();

  /// Takes effect with the next run(). Never allocates.
  void set_parameters(const Parameters& parameters);

  /// Replaces the chroma of `out`, whose luma is the result of an operation on `in`. The frames
  /// have the layout's planes and do not overlap. Only enqueues work on the device.
  void run(const ConstFrame& in, const Frame& out);

  class Backend;

 private:
  FrameLayout layout_;
  Parameters parameters_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::chroma
