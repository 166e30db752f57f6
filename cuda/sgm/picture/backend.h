// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface that backends of DisparityPicture implement. Callers have validated all arguments.

#include <cstdint>
#include <memory>

#include "cuda/sgm/picture/disparitypicture.h"
#include "cuda/sgm/picture/range.h"

namespace cudavision::sgm {

/// The formulas of disparitypicture.h for one set of parameters.
struct DisparityNumbers {
  using Quantity = PictureParameters::Quantity;

  Quantity quantity = Quantity::disparity;
  std::uint16_t invalid = 0;
  std::int64_t depth = 0;  ///< K
  bool automatic = false;
  LevelRange range;  ///< unless it is automatic
  RangeBins bins;    ///< if it is

  CUDAVISION_HOST_DEVICE std::uint16_t counts(std::uint16_t number) const {
    const int v = static_cast<std::int16_t>(number);
    if (number == invalid || v <= 0)
      return 0;
    const std::int64_t rounded = (2 * depth + v) / (2 * v);
    return static_cast<std::uint16_t>(rounded < 65535 ? rounded : 65535);
  }

  /// number is that of a map, or confidence. range_in_force: of the quantity.
  CUDAVISION_HOST_DEVICE std::uint8_t level(std::uint16_t number,
                                            const LevelRange& range_in_force) const {
    switch (quantity) {
      case Quantity::disparity:
        return number == invalid ? 0 : range_in_force.level(static_cast<std::int16_t>(number));
      case Quantity::depth: {
        const std::uint16_t value = counts(number);
        return value == 0 ? 0 : range_in_force.reversed_level(value);
      }
      case Quantity::confidence:
        break;
    }
    return number == 0 ? 0 : range_in_force.level(number);
  }

  /// Returns the bin of a number of a map, or of confidence, in an automatic range; −1 if the
  /// number does not count.
  CUDAVISION_HOST_DEVICE int bin(std::uint16_t number) const {
    if (quantity == Quantity::confidence)
      return bins.bin(number);
    return number == invalid ? -1 : bins.bin(static_cast<std::int16_t>(number));
  }

  /// Returns the automatic range of the quantity.
  CUDAVISION_HOST_DEVICE LevelRange automatic_range(const RangeState& state) const {
    const LevelRange numbers = state.range(bins);
    if (quantity != Quantity::depth)
      return numbers;
    const LevelRange depths{counts(static_cast<std::uint16_t>(numbers.high)),
                            counts(static_cast<std::uint16_t>(numbers.low))};
    return {depths.low, depths.high > depths.low ? depths.high : depths.low + 1};
  }
};

/// The size of a packed pixel and the offsets of its colours, in bytes.
struct PackedPixel {
  PackedPixel() = default;
  explicit PackedPixel(const FrameLayout& layout);

  int bytes = 0;
  int red = 0, green = 0, blue = 0;
};

/// The configuration of the pictures, which never changes.
struct PictureConfig {
  int width = 0, height = 0;
  DisparityPicture::Kind kind = DisparityPicture::Kind::gray;
  bool reads_bytes = false;  ///< the values are confidence
  PackedPixel pixel;         ///< for Kind::color only
};

class DisparityPicture::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run(), and when the numbers change.
  virtual void set(const DisparityNumbers& numbers) = 0;
  /// Called for Kind::color only: before the first run(), and when the table changes.
  virtual void set_colors(const ColorTable& table) = 0;
  /// The next automatic range does not continue the last one.
  virtual void restart() noexcept = 0;
  /// weight is that of this frame in an automatic range, from 0 to 65536.
  virtual void run(View<const std::uint8_t> values, View<std::uint8_t> out, int weight) = 0;
};

std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cpu(Device& device,
                                                                      const PictureConfig& config);
std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cuda(Device& device,
                                                                       const PictureConfig& config);

}  // namespace cudavision::sgm
