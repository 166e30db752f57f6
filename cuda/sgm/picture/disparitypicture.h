// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/sgm/sgmstereo.h"

/// Turns maps of disparities, and of their confidence, into pictures to look at, and into depth.
namespace cudavision::sgm {

struct PictureParameters {
  /// The kinds of pictures.
  enum class Kind : std::uint8_t {
    gray,   ///< 8 bits: the level of the pixel's value, 0 where it is unknown
    color,  ///< packed red, green and blue from table[level]; black where the value is unknown
    depth,  ///< 16 bits: the depth itself, 0 where it is unknown
  };
  /// The quantity that gray and color show, for a number v of the map.
  enum class Quantity : std::uint8_t {
    disparity,   ///< v, which is the disparity times s = DisparityScale::per_pixel
    depth,       ///< min(65535, (2K + v) div 2v), K = llround(s·focal_length·baseline / unit);
                 ///< unknown where v is invalid or not positive
    confidence,  ///< confidence, in place of a map; 0 is unknown
  };
  /// How the values become levels: those up to `low` 1 and those from `high` on 255, and those
  /// between 1 + (254·(value − low) + (high − low) div 2) div (high − low). For depth, near is 255
  /// as it is for disparities, with high − value in place of value − low.
  enum class Range : std::uint8_t {
    /// All values: those of the disparities searched, depths from 1 to 65535, confidence from 1.
    full,
    /// From the 2nd to the 98th percentile of the picture, smoothed over time; see below.
    automatic,
    /// From `minimum` to `maximum`, in pixels of disparity, in depths, or in levels of confidence.
    /// Both
    /// are rounded to whole numbers (disparities times s), and high is low + 1 at least.
    fixed,
  };

  Kind kind = Kind::gray;                   ///< fixed when a DisparityPicture is constructed
  Quantity quantity = Quantity::disparity;  ///< likewise; of gray and color
  double focal_length = 0;                  ///< pixels
  double baseline = 0;                      ///< mm
  double unit = 1;                          ///< mm per count of depth
  Range range = Range::full;
  double minimum = 0, maximum = 1;  ///< for Range::fixed; minimum < maximum

  bool operator==(const PictureParameters&) const = default;
};

/// Red, green and blue for each level.
using ColorTable = std::array<std::array<std::uint8_t, 3>, 256>;

/// Range::automatic is defined in integers. The known numbers v of a map, or of confidence, from
/// `first` to `last` are counted in bins of 2^k neighbours, where k is the smallest for which 1024
/// bins suffice. first is s·minimum, for depth 1 if that is more, and last s·(minimum +
/// disparities − 1); of confidence, 1 and 255. A percentile p is the first bin b for which 100
/// times the count of bins up to b reaches p times the count of all; low' is the smallest number of
/// the bin of the 2nd, and high' the largest of the bin of the 98th, at most last.
///
/// S_low = 65536·low' for the first frame with a known number after the construction or restart(),
/// then S_low += ((65536·low' − S_low)·a) >> 16, where a is rint(65536·(1 − exp(−t))) for t seconds
/// since the frame before; S_high likewise. A frame without any known number changes nothing. low =
/// (S_low + 2^15) >> 16, and high likewise, but at least low + s (confidence: low + 1). Before the
/// first such frame, they are first and last. For depth, low and high are the depths of high and
/// low, and high is low + 1 at least.
class DisparityPicture {
 public:
  using Kind = PictureParameters::Kind;
  using Quantity = PictureParameters::Quantity;

  /// out is the layout of the pictures. For color, it has one plane with red, green and blue
  /// channels of 8 bits, and all other bytes of a pixel (alpha, padding) become 255. For gray, it
  /// has one channel of 8 bits, and for depth one of 16 bits. Until the parameters and colours are
  /// set, depths are 0, ranges are full and colours are grays. Throws invalid_argument.
  DisparityPicture(Device& device, const FrameLayout& out, const Parameters& parameters, Kind kind,
                   Quantity quantity = Quantity::disparity);
  ~DisparityPicture();

  /// Both take effect with the next run() and never allocate. parameters must be those that the
  /// maps are made with, and picture must have the constructor's kind and quantity. Throws
  /// invalid_argument and keeps the last valid set. If the numbers that maps may hold change, an
  /// automatic range begins anew.
  void set_parameters(const Parameters& parameters, const PictureParameters& picture);
  void set_colors(const ColorTable& table);

  /// Makes the next frame the first one for Range::automatic.
  void restart() noexcept;

  /// values is what SgmStereo::run() writes: disparity, or confidence for Quantity::confidence.
  /// seconds is the time since the frame before, which only Range::automatic needs; less than 0
  /// counts as 0. Only enqueues.
  void run(View<const std::uint8_t> values, const Frame& out, double seconds = 0);

  class Backend;

 private:
  FrameLayout layout_;
  Kind kind_;
  Quantity quantity_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::sgm
