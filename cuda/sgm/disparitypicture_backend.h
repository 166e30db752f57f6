// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What a backend implements of disparitypicture.h. Layouts, parameters and frames arrive validated.

#include <cstdint>
#include <memory>

#include "cuda/sgm/disparitypicture.h"

namespace cudavision::sgm {

/// What the numbers of a map say.
struct DisparityNumbers {
  std::uint16_t invalid = 0;
  int first = 0;           ///< the number of the least disparity
  int span = 1;            ///< from there to the number of the largest
  std::int64_t depth = 0;  ///< K of disparitypicture.h

  CUDAVISION_HOST_DEVICE std::uint8_t gray(std::uint16_t number) const {
    if (number == invalid)
      return 0;
    const int n = static_cast<std::int16_t>(number) - first;
    const int level = 1 + (254 * n + span / 2) / span;
    return static_cast<std::uint8_t>(level < 255 ? level : 255);
  }

  CUDAVISION_HOST_DEVICE std::uint16_t counts(std::uint16_t number) const {
    const int v = static_cast<std::int16_t>(number);
    if (number == invalid || v <= 0)
      return 0;
    const std::int64_t rounded = (2 * depth + v) / (2 * v);
    return static_cast<std::uint16_t>(rounded < 65535 ? rounded : 65535);
  }
};

/// Where the colours lie in a packed pixel, in bytes.
struct PackedPixel {
  PackedPixel() = default;
  explicit PackedPixel(const FrameLayout& layout);

  int bytes = 0;
  int red = 0, green = 0, blue = 0;
};

class DisparityPictureBackend {
 public:
  using Kind = PictureParameters::Kind;

  virtual ~DisparityPictureBackend() = default;
  /// Before the first run() of colours, and when the table changes.
  virtual void set_colors(const ColorTable& table) = 0;
  virtual void run(View<const std::uint8_t> disparity, const DisparityNumbers& numbers,
                   View<std::uint8_t> out) = 0;
};

/// width: of the picture; pixel: of colours only.
std::unique_ptr<DisparityPictureBackend> make_disparity_picture_cpu(Device& device, int width,
                                                                    PictureParameters::Kind kind,
                                                                    const PackedPixel& pixel);
std::unique_ptr<DisparityPictureBackend> make_disparity_picture_cuda(Device& device, int width,
                                                                     PictureParameters::Kind kind,
                                                                     const PackedPixel& pixel);

}  // namespace cudavision::sgm
