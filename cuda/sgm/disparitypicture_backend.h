// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface that backends of DisparityPicture implement. Callers have validated all arguments.

#include <cstdint>
#include <memory>

#include "cuda/sgm/disparitypicture.h"

namespace cudavision::sgm {

/// The formulas of disparitypicture.h for one set of parameters.
struct DisparityNumbers {
  std::uint16_t invalid = 0;
  int first = 0;           ///< the number of the least disparity
  int span = 1;            ///< the difference from first to the number of the largest disparity
  std::int64_t depth = 0;  ///< K

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

/// The size of a packed pixel and the offsets of its colours, in bytes.
struct PackedPixel {
  PackedPixel() = default;
  explicit PackedPixel(const FrameLayout& layout);

  int bytes = 0;
  int red = 0, green = 0, blue = 0;
};

class DisparityPicture::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run(), and when the numbers change.
  virtual void set(const DisparityNumbers& numbers) = 0;
  /// Called for Kind::color only: before the first run(), and when the table changes.
  virtual void set_colors(const ColorTable& table) = 0;
  virtual void run(View<const std::uint8_t> disparity, View<std::uint8_t> out) = 0;
};

/// width is that of the picture. pixel is used for Kind::color only.
std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cpu(Device& device, int width,
                                                                      DisparityPicture::Kind kind,
                                                                      const PackedPixel& pixel);
std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cuda(Device& device, int width,
                                                                       DisparityPicture::Kind kind,
                                                                       const PackedPixel& pixel);

}  // namespace cudavision::sgm
