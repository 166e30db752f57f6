// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <tuple>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/sgm/sgmstereo.h"

/// Turns maps of disparities into pictures to look at, and into depth.
namespace cudavision::sgm {

struct PictureParameters {
  /// The kinds of pictures, and how each shows a number v of the map.
  enum class Kind : std::uint8_t {
    /// 8 bits: 0 where v is invalid, else 1 + (254·n + s·(D − 1) div 2) div (s·(D − 1)), at most
    /// 255, with n = v − s·minimum, s = DisparityScale::per_pixel, D = disparities
    gray,
    /// packed red, green and blue from table[gray]; black where v is invalid
    color,
    /// 16 bits: min(65535, (2K + v) div 2v), K = llround(s·focal_length·baseline / unit); 0 where v
    /// is invalid or not positive
    depth,
  };
  Kind kind = Kind::gray;   ///< fixed when a DisparityPicture is constructed
  double focal_length = 0;  ///< pixels
  double baseline = 0;      ///< mm
  double unit = 1;          ///< mm per count

  auto tie() const noexcept { return std::tie(kind, focal_length, baseline, unit); }
  bool operator==(const PictureParameters& other) const noexcept { return tie() == other.tie(); }
  bool operator!=(const PictureParameters& other) const noexcept { return !(*this == other); }
};

/// Red, green and blue for each value of gray.
using ColorTable = std::array<std::array<std::uint8_t, 3>, 256>;

class DisparityPicture {
 public:
  using Kind = PictureParameters::Kind;

  /// out is the layout of the pictures. For color, it has one plane with red, green and blue
  /// channels of 8 bits, and all other bytes of a pixel (alpha, padding) become 255. For gray, it
  /// has one channel of 8 bits, and for depth one of 16 bits. Until the parameters and colours are
  /// set, depths are 0 and colours are grays. Throws invalid_argument.
  DisparityPicture(Device& device, const FrameLayout& out, const Parameters& parameters, Kind kind);
  ~DisparityPicture();

  /// Both take effect with the next run() and never allocate. parameters must be those that the
  /// maps are made with, and picture must have the constructor's kind. Throws invalid_argument and
  /// keeps the last valid set.
  void set_parameters(const Parameters& parameters, const PictureParameters& picture);
  void set_colors(const ColorTable& table);

  /// disparity is what SgmStereo::run() writes. Only enqueues.
  void run(View<const std::uint8_t> disparity, const Frame& out);

  class Backend;

 private:
  FrameLayout layout_;
  Kind kind_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::sgm
