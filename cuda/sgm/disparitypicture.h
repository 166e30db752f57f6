// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/sgm/sgmstereo.h"

/// Maps of disparities as pictures to look at, and as depth.
namespace cudavision::sgm {

struct PictureParameters {
  enum class Kind : std::uint8_t {
    gray,  ///< 8 bits: 0 is not known, else 1 + (254·n + s·(D − 1) div 2) div (s·(D − 1)) with
           ///< n = v − s·minimum, s = the numbers to a pixel, D = disparities; at most 255
    color,  ///< packed red, green, blue by table[gray]; black where not known
    depth,  ///< 16 bits: min(65535, (2K + v) div 2v), K = llround(s·focal_length·baseline / unit);
            ///< 0 where v is not known or not positive
  };
  Kind kind = Kind::gray;
  double focal_length = 0;  ///< pixels
  double baseline = 0;      ///< mm
  double unit = 1;          ///< mm to a count
};

/// Red, green and blue by the number of gray.
using ColorTable = std::array<std::array<std::uint8_t, 3>, 256>;

class DisparityPicture {
 public:
  /// out: for color a layout of one plane with red, green and blue channels of 8 bits; others'
  /// bytes in a pixel (alpha, padding) become 255. For gray and depth one plane of one channel of
  /// 8, 16 bits. Until they are set, depths are 0 and the colours are grays. Throws
  /// invalid_argument.
  DisparityPicture(Device& device, const FrameLayout& out, const Parameters& parameters,
                   PictureParameters::Kind kind);
  ~DisparityPicture();

  /// Both never allocate, and hold from the next run() on. parameters: those that the maps are made
  /// with; of picture the kind stays what it was. Throws invalid_argument and keeps the last valid
  /// set.
  void set_parameters(const Parameters& parameters, const PictureParameters& picture);
  void set_colors(const ColorTable& table);

  /// disparity: as SgmStereo::run() writes it. Only enqueues.
  void run(View<const std::uint8_t> disparity, const Frame& out);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace cudavision::sgm
