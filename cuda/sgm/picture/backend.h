// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface of the DisparityPicture backends. Callers validate all arguments.

#include <cstdint>
#include <memory>

#include "cuda/sgm/picture/disparitypicture.h"
#include "cuda/sgm/picture/range.h"

namespace cudavision::sgm {

struct DisparityNumbers {
  using Quantity = PictureParameters::Quantity;

  Quantity quantity = Quantity::disparity;
  std::uint16_t invalid = 0;  ///< map value of unknown pixels
  std::int64_t depth = 0;     ///< K of PictureParameters::Quantity
  bool automatic = false;
  LevelRange range;  ///< used if the range is not automatic
  RangeBins bins;    ///< used if the range is automatic

  /// Returns the depth of a map value, in units of PictureParameters::unit; 0 if it has none.
  CUDAVISION_HOST_DEVICE std::uint16_t depth_of(std::uint16_t number) const {
    const int v = static_cast<std::int16_t>(number);
    if (number == invalid || v <= 0)
      return 0;
    const std::int64_t rounded = (2 * depth + v) / (2 * v);
    return static_cast<std::uint16_t>(rounded < 65535 ? rounded : 65535);
  }

  CUDAVISION_HOST_DEVICE std::uint8_t level(std::uint16_t number,
                                            const LevelRange& range_in_force) const {
    if (quantity == Quantity::depth) {
      const std::uint16_t value = depth_of(number);
      return value == 0 ? 0 : range_in_force.level(value, true);
    }
    return number == invalid ? 0 : range_in_force.level(static_cast<std::int16_t>(number));
  }

  /// Returns the bin of a map value, or −1 if it is outside of all bins, as `invalid` always is.
  CUDAVISION_HOST_DEVICE int bin(std::uint16_t number) const {
    const int v = static_cast<std::int16_t>(number);
    return v < bins.first || v > bins.last ? -1 : (v - bins.first) >> bins.shift;
  }

  CUDAVISION_HOST_DEVICE LevelRange next_range(RangeState& state, const std::uint32_t* histogram,
                                               int weight, bool first_frame) const {
    const LevelRange numbers = bins.next(state, histogram, weight, first_frame);
    if (quantity != Quantity::depth)
      return numbers;
    const int low = depth_of(static_cast<std::uint16_t>(numbers.high));
    const int high = depth_of(static_cast<std::uint16_t>(numbers.low));
    return {low, high > low ? high : low + 1};
  }
};

struct PackedPixel {
  int bytes = 0;
  int red = 0, green = 0, blue = 0;
};

struct PictureConfig {
  int width = 0, height = 0;
  DisparityPicture::Kind kind = DisparityPicture::Kind::gray;
  bool reads_bytes = false;  ///< true if the values are confidence
  PackedPixel pixel;         ///< for Kind::color only
};

class DisparityPicture::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run(), and when the parameters change.
  void set(const DisparityNumbers& numbers) {
    first_frame_ |= numbers.bins != numbers_.bins;
    numbers_ = numbers;
  }
  /// Called for Kind::color only: before the first run(), and when the table changes.
  virtual void set_colors(const ColorTable& table) = 0;
  void restart() noexcept { first_frame_ = true; }
  /// weight is the share of this frame in an automatic range, in 1/65536.
  virtual void run(View<const std::uint8_t> values, View<std::uint8_t> out, int weight) = 0;

 protected:
  DisparityNumbers numbers_;
  bool first_frame_ = true;  ///< the next frame starts an automatic range
};

std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cpu(Device& device,
                                                                      const PictureConfig& config);
std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cuda(Device& device,
                                                                       const PictureConfig& config);

}  // namespace cudavision::sgm
