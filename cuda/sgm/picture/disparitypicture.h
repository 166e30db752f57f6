// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/sgm/sgmstereo.h"

/// Converts disparity maps and their confidence to viewable pictures, and to depth.
namespace cudavision::sgm {

struct PictureParameters {
  enum class Kind : std::uint8_t {
    gray,   ///< 8 bits: the level of the pixel's value, 0 where it is unknown
    color,  ///< the level's red, green and blue in the ColorTable, black where it is unknown
    depth,  ///< 16 bits: the depth itself, 0 where it is unknown
  };
  /// The quantity that gray and color show for a map value v.
  enum class Quantity : std::uint8_t {
    disparity,   ///< v, which is the disparity times s = DisparityScale::per_pixel
    depth,       ///< min(65535, (2K + v) div 2v), K = llround(s·focal_length·baseline / unit);
                 ///< unknown where v is invalid or not positive
    confidence,  ///< confidence, in place of a map; 0 is unknown
  };
  /// The range of values for the levels 1 to 255. Values up to `low` become 1, and values from
  /// `high` on 255. Values between them become 1 + (254·(value − low) + (high − low) div 2) div
  /// (high − low). For depth, high − value replaces value − low, so that near pixels are bright.
  enum class Range : std::uint8_t {
    /// All values: the disparities searched, depths from 1 to 65535, confidence from 1.
    full,
    /// From the 2nd to the 98th percentile of the picture, smoothed over time as defined below.
    automatic,
    /// From `minimum` to `maximum`, in pixels of disparity, in depths, or in levels of confidence.
    /// Both are rounded to integers (disparities times s), and high is at least low + 1.
    fixed,
  };

  Kind kind = Kind::gray;                   ///< fixed at construction
  Quantity quantity = Quantity::disparity;  ///< for gray and color; fixed at construction
  double focal_length = 0;                  ///< in pixels
  double baseline = 0;                      ///< in mm
  double unit = 1;                          ///< mm per step of depth
  Range range = Range::full;
  double minimum = 0, maximum = 1;  ///< for Range::fixed; minimum < maximum

  bool operator==(const PictureParameters&) const = default;
};

/// Red, green and blue for each level.
using ColorTable = std::array<std::array<std::uint8_t, 3>, 256>;

/// Range::automatic is defined in integers. The known values of a map, or of confidence, are
/// counted in bins from `first` to `last`. Each bin counts 2^k consecutive values, with the
/// smallest k for which 1024 bins suffice. For disparity, first is s·minimum and last is
/// s·(minimum + disparities − 1). For depth, both are at least 1. For confidence, they are 1 and
/// 255. A percentile p is the first bin b for which 100 times the count up to b reaches p times the
/// total count. low' is the smallest value of the 2nd percentile's bin, and high' the largest value
/// of the 98th percentile's bin, at most `last`.
///
/// S_low = 65536·low' for the first frame with a known value after construction or restart().
/// Later, S_low += ((65536·low' − S_low)·a) >> 16, where a is rint(65536·(1 − exp(−t))) for t
/// seconds since the previous frame. S_high is updated in the same way. Frames without known values
/// change nothing. low = (S_low + 2^15) >> 16, and high = (S_high + 2^15) >> 16, but at least low +
/// s (confidence: low + 1). Before the first known value, they are `first` and `last`. For depth,
/// low and high are the depths of high and low, and high is at least low + 1.
class DisparityPicture {
 public:
  using Kind = PictureParameters::Kind;
  using Quantity = PictureParameters::Quantity;

  /// out is the layout of the pictures. For color, it has one plane with 8-bit red, green and blue
  /// channels; all other bytes of a pixel (alpha, padding) become 255. For gray, it has one 8-bit
  /// channel, and for depth one 16-bit channel. Until parameters and colours are set, depths are 0,
  /// ranges are full and colours are grays. Throws invalid_argument.
  DisparityPicture(Device& device, const FrameLayout& out, const Parameters& parameters, Kind kind,
                   Quantity quantity = Quantity::disparity);
  ~DisparityPicture();

  /// Both functions take effect with the next run() and never allocate. `parameters` are the maps'
  /// parameters, and `picture` has the constructor's kind and quantity. Throws invalid_argument and
  /// keeps the old parameters. If the range of map values changes, an automatic range restarts.
  void set_parameters(const Parameters& parameters, const PictureParameters& picture);
  void set_colors(const ColorTable& table);

  /// Makes the next frame the first one for Range::automatic.
  void restart() noexcept;

  /// values is confidence (Quantity::confidence) or disparity of SgmStereo::run(). seconds is the
  /// time since the previous frame, for Range::automatic (negative: 0). Only enqueues.
  void run(View<const std::uint8_t> values, const Frame& out, double seconds = 0);

  class Backend;

 private:
  FrameLayout layout_;
  Kind kind_;
  Quantity quantity_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::sgm
