// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Regions of a frame, and the weights of its pixels, for both backends.
//
// A region is a box of pixels [x0, x1) × [y0, y1), or the ellipse inscribed in the box. The box
// includes the margin. A pixel's weight is 256 in the region and, with a feather of f pixels, falls
// linearly with the distance d from the region:
//   w(d) = 256                                  where d = 0
//        = (256·(f − d) + f div 2) div f        where 0 < d < f
//        = 0                                    where d ≥ f
//
// Rectangle: d is the Chebyshev distance from the nearest pixel of the box,
//   d = max(0, x0 − x, x − x1 + 1, y0 − y, y − y1 + 1).
//
// Ellipse: d is measured along the line from the pixel's centre p to the ellipse's centre c. With
// the normalised radius r of the pixel, which is 1 on the ellipse, d = |p − c|·(1 − 1/r). In
// integers, with W = x1 − x0, H = y1 − y0 and coordinates in half pixels:
//   u = |2x + 1 − x0 − x1|          v = |2y + 1 − y0 − y1|
//   s = min(u·(2^31 div W) >> 16, 2^25)
//   t = min(v·(2^31 div H) >> 16, 2^25)        the radius along each axis, in units of 2^−15
//   s² + t² ≤ 2^30: in the region, d = 0; otherwise
//   r = isqrt(s² + t²),  p = isqrt((u² + v²)·2^8),  d = p·(r − 2^15) div r     in 1/32 pixel
//   w(d) = (8·(32·f − d) + f div 2) div f      where d < 32·f, otherwise 0
// If x is outside [x0 − f, x1 + f), s is 2^25, which makes the weight 0. The same rule holds for y
// and t. Otherwise, rounding would let ellipses wider than about 30000 pixels exceed their boxes.
//
// Rotated regions: the box is rotated clockwise about its centre by `angle`/65536 of a turn. With
// the cosine c and the sine s of the angle in units of 2^−30, and with signed u and v, the pixel's
// coordinates along the axes of the box are
//   p = |u·c + v·s|,  q = |v·c − u·s|             in units of 2^−30 half pixels
// Rotated rectangle: a pixel is in the region if any part of its square may touch the rectangle. d
// is measured along the axes:
//   e = max(p − W·2^30, q − H·2^30) − |c| − |s|
//   e < 0: in the region, d = 0; otherwise d = (e >> 26) + 32                    in 1/32 pixel
// Rotated ellipse: the formula of the ellipse with
//   s = min((p >> 22)·(2^31 div W) >> 24, 2^25), or 2^25 if p ≥ (W + 2f)·2^30
// and t in the same way from q and H.
// If the angle is 0, the results equal the formulas without rotation. Up to 10000 pixels from the
// centre, the rounding of the angle moves an edge by less than half a pixel. No pixel of the exact
// rectangle is lost, because pixels that only touch the rectangle are in the region.
//
// Masks: d is the distance from the nearest selected pixel (masks.h) minus the margin, at least 0.
// The margin of masks is at most 254; the margin plus the feather is at most 255.
//
// If regions overlap, the largest weight is used. The inverted weight is 256 minus the weight.
//
// The weight of a sample is the largest weight (after inversion) of the pixels that it covers, so
// that no part of a region stays unchanged. With s pixels per sample along an axis:
//   column i, and row i of a progressive frame, cover the pixels s·i + j       for 0 ≤ j < s
//   row 2k + f of field f (0 or 1) of an interlaced frame covers 2(s·k + j) + f
// Pixels beyond the frame are replaced by its last pixel. Every pixel is thus covered, even if the
// two fields have different numbers of rows.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "cuda/core/range.h"
#include "cuda/core/view.h"

namespace cudavision::regions {

/// Weight of a pixel that is replaced completely.
constexpr int full_weight = 256;

enum class Shape : std::uint8_t { rectangle, ellipse };

/// The pixels [x0, x1) × [y0, y1). May be empty, or partly or entirely outside the frame.
struct Box {
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;

  CUDAVISION_HOST_DEVICE bool empty() const { return x1 <= x0 || y1 <= y0; }
  bool operator==(const Box&) const = default;
};

CUDAVISION_HOST_DEVICE inline Box grown(const Box& box, int pixels) {
  return {box.x0 - pixels, box.y0 - pixels, box.x1 + pixels, box.y1 + pixels};
}

inline Box clipped(const Box& box, int width, int height) {
  return {std::max(box.x0, 0), std::max(box.y0, 0), std::min(box.x1, width),
          std::min(box.y1, height)};
}

CUDAVISION_HOST_DEVICE inline bool overlap(const Box& a, const Box& b) {
  return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

/// The pixels that a sample covers, along one axis.
struct CoveredPixels {
  int first = 0, step = 1, count = 1;
  int last = 0;  ///< last pixel of the frame

  CUDAVISION_HOST_DEVICE int operator[](int number) const {
    const int pixel = first + step * number;
    return pixel < last ? pixel : last;
  }
};

/// Returns the rows that a sample covers, with `pixels` rows per sample and `length` in the frame.
CUDAVISION_HOST_DEVICE inline CoveredPixels covered_rows(int row, int pixels, int length,
                                                         bool fields) {
  if (!fields)
    return {row * pixels, 1, pixels, length - 1};
  return {2 * pixels * (row / 2) + row % 2, 2, pixels, length - 1};
}

/// Returns the covered pixel nearest to the centre of [first, end). It has the largest weight,
/// because the weight of a region never rises with the distance from its centre along either axis.
CUDAVISION_HOST_DEVICE inline int nearest(const CoveredPixels& covered, int first, int end) {
  int best = covered[0];
  CUDAVISION_NO_UNROLL
  for (int i = 1; i < covered.count; ++i) {
    const int pixel = covered[i];
    const int offset = 2 * pixel + 1 - first - end, best_offset = 2 * best + 1 - first - end;
    if ((offset < 0 ? -offset : offset) < (best_offset < 0 ? -best_offset : best_offset))
      best = pixel;
  }
  return best;
}

struct Parameters {
  static constexpr int max_count = 1024;
  static constexpr int max_coordinate = 1 << 20;  ///< largest absolute coordinate of a box
  static constexpr int max_masks = 64;
  static constexpr int max_mask_radius = 254;  ///< maximum of mask_radius()
  struct Ranges {
    static constexpr Range<int> margin{0, 65535};
    static constexpr Range<int> feather{0, 65535};
  };

  Shape shape = Shape::rectangle;
  int margin = 0;       ///< pixels, added to each side of each box
  int feather = 0;      ///< pixels over which the weight falls to 0 outside a region
  bool invert = false;  ///< select everything except the regions
  bool fields = false;  ///< interlaced video: even and odd rows are separate pictures
  int count = 0;        ///< at most max_count
  std::array<Box, max_count> boxes{};  ///< only the first `count` are used
  /// Clockwise rotation of each box, in 1/65536 turn.
  std::array<std::uint16_t, max_count> angles{};

  int mask_count = 0;   ///< at most max_masks
  int mask_growth = 0;  ///< pixels, added to the margin for masks
  /// Boxes of the masks (masks.h); none is empty.
  std::array<Box, max_masks> mask_boxes{};

  /// Margin and feather of masks, limited by max_mask_radius. Beyond mask_radius(), weights are 0.
  CUDAVISION_HOST_DEVICE int mask_margin() const {
    const int pixels = margin + mask_growth;
    return pixels < max_mask_radius ? pixels : max_mask_radius;
  }
  CUDAVISION_HOST_DEVICE int mask_feather() const {
    const int room = max_mask_radius + 1 - mask_margin();
    return feather < room ? feather : room;
  }
  int mask_radius() const { return mask_margin() + std::max(mask_feather() - 1, 0); }

  bool operator==(const Parameters& other) const noexcept {
    return shape == other.shape && margin == other.margin && feather == other.feather &&
           invert == other.invert && fields == other.fields && count == other.count &&
           std::equal(boxes.begin(), boxes.begin() + count, other.boxes.begin()) &&
           std::equal(angles.begin(), angles.begin() + count, other.angles.begin()) &&
           mask_count == other.mask_count && mask_growth == other.mask_growth &&
           std::equal(mask_boxes.begin(), mask_boxes.begin() + mask_count,
                      other.mask_boxes.begin());
  }
};

struct Region {
  Box box;                         ///< with the margin
  std::uint32_t scale_x, scale_y;  ///< 2^31 div the width and height of box
};

inline Region region_of(const Box& box, int margin) {
  const Box whole = grown(box, margin);
  constexpr std::uint32_t unit = 1u << 31;
  return {whole, unit / static_cast<std::uint32_t>(whole.x1 - whole.x0),
          unit / static_cast<std::uint32_t>(whole.y1 - whole.y0)};
}

/// Weight of the position `at` along one axis of the rectangle [first, end). The weight of a pixel
/// is the minimum over both axes, because w(d) never rises with d.
CUDAVISION_HOST_DEVICE inline int rectangle_weight(int first, int end, int feather, int at) {
  const int before = first - at, after = at - end + 1;
  const int distance = before > after ? before : after;
  if (distance <= 0)
    return full_weight;
  if (distance >= feather)
    return 0;
  return (full_weight * (feather - distance) + feather / 2) / feather;
}

/// Weight of a pixel at this distance from the pixels that masks select.
CUDAVISION_HOST_DEVICE inline int mask_weight(int distance, int margin, int feather) {
  return rectangle_weight(0, 1, feather, distance > margin ? distance - margin : 0);
}

/// Distance of a pixel from the centre of an ellipse along one axis.
struct EllipseOffset {
  std::uint64_t square;             ///< u² or v², in half pixels
  std::uint64_t normalised_square;  ///< s² or t²
};

/// `at` is the position of a pixel along one axis. The ellipse's box is [first, end) on this axis.
CUDAVISION_HOST_DEVICE inline EllipseOffset ellipse_offset(int first, int end, std::uint32_t scale,
                                                           int feather, int at) {
  const int signed_offset = 2 * at + 1 - first - end;
  const auto offset =
      static_cast<std::uint64_t>(signed_offset < 0 ? -signed_offset : signed_offset);
  constexpr std::uint64_t maximum = 1u << 25;
  const std::uint64_t scaled = offset * scale >> 16;
  const bool beyond = at < first - feather || at >= end + feather;
  const std::uint64_t normalised = beyond || scaled > maximum ? maximum : scaled;
  return {offset * offset, normalised * normalised};
}

/// integer_root() and integer_quotient() compute in binary64. This is exact: a true value just
/// below an integer up to 2^26 differs from this integer by more than the rounding error.

/// Integer part of the square root of a value below 2^52.
CUDAVISION_HOST_DEVICE inline std::uint64_t integer_root(std::uint64_t value) {
  return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(value)));
}

/// a div b, where b and the result are below 2^26.
CUDAVISION_HOST_DEVICE inline std::uint64_t integer_quotient(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(static_cast<double>(a) / static_cast<double>(b));
}

CUDAVISION_HOST_DEVICE inline int ellipse_weight(const EllipseOffset& x, const EllipseOffset& y,
                                                 int feather) {
  constexpr std::uint64_t unit = 1u << 15;
  const std::uint64_t radius_square = x.normalised_square + y.normalised_square;
  if (radius_square <= unit * unit)
    return full_weight;
  if (feather == 0)
    return 0;
  const std::uint64_t radius = integer_root(radius_square);
  const std::uint64_t distance =
      integer_quotient(integer_root((x.square + y.square) << 8) * (radius - unit), radius);
  const auto end = static_cast<std::uint64_t>(32) * static_cast<std::uint64_t>(feather);
  if (distance >= end)
    return 0;
  return (8 * static_cast<int>(end - distance) + feather / 2) / feather;
}

struct RotatedRegion {
  Box reached;                     ///< contains all pixels whose weight is not 0
  int sum_x, sum_y;                ///< x0 + x1 and y0 + y1: twice the centre
  int width, height;               ///< with the margin
  std::int32_t cosine, sine;       ///< in units of 2^-30
  std::uint32_t scale_x, scale_y;  ///< as in Region
};

/// Encloses a rotated box of width×height pixels that has the same centre as `box`.
inline Box enclosing(const Box& box, int width, int height, std::int64_t cosine,
                     std::int64_t sine) {
  cosine = std::abs(cosine);
  sine = std::abs(sine);
  // The margin of four half pixels covers the squares of pixels that touch the box, and rounding.
  const auto side = [](std::int64_t sum) { return static_cast<int>(sum >> 30) + 4; };
  const int more_x = (side(width * cosine + height * sine) - (box.x1 - box.x0) + 1) >> 1;
  const int more_y = (side(width * sine + height * cosine) - (box.y1 - box.y0) + 1) >> 1;
  return {box.x0 - more_x, box.y0 - more_y, box.x1 + more_x, box.y1 + more_y};
}

inline RotatedRegion rotated_region_of(const Box& box, int angle, int margin, int feather) {
  const Region region = region_of(box, margin);
  const int width = region.box.x1 - region.box.x0, height = region.box.y1 - region.box.y0;
  constexpr double pi = 3.14159265358979323846;
  const double radians = angle * (pi / 32768);
  const auto cosine = static_cast<std::int32_t>(std::lround(std::ldexp(std::cos(radians), 30)));
  const auto sine = static_cast<std::int32_t>(std::lround(std::ldexp(std::sin(radians), 30)));
  return {enclosing(region.box, width + 2 * feather, height + 2 * feather, cosine, sine),
          box.x0 + box.x1,
          box.y0 + box.y1,
          width,
          height,
          cosine,
          sine,
          region.scale_x,
          region.scale_y};
}

CUDAVISION_HOST_DEVICE inline int rotated_weight(const RotatedRegion& region, Shape shape,
                                                 int feather, int x, int y) {
  const auto magnitude = [](std::int64_t value) { return value < 0 ? -value : value; };
  const std::int64_t u = 2 * x + 1 - region.sum_x, v = 2 * y + 1 - region.sum_y;
  const std::int64_t p = magnitude(u * region.cosine + v * region.sine);
  const std::int64_t q = magnitude(v * region.cosine - u * region.sine);
  constexpr std::int64_t unit = 1 << 30;
  if (shape == Shape::rectangle) {
    const std::int64_t beyond_x = p - region.width * unit, beyond_y = q - region.height * unit;
    const std::int64_t beyond = (beyond_x > beyond_y ? beyond_x : beyond_y) -
                                magnitude(region.cosine) - magnitude(region.sine);
    if (beyond < 0)
      return full_weight;
    const std::int64_t distance = (beyond >> 26) + 32;
    if (distance >= std::int64_t{32} * feather)
      return 0;
    return (8 * (32 * feather - static_cast<int>(distance)) + feather / 2) / feather;
  }
  const auto offset = [&](std::int64_t from_centre, std::int64_t along_axis, int side,
                          std::uint32_t scale) {
    constexpr std::uint64_t maximum = 1u << 25;
    const std::uint64_t scaled = static_cast<std::uint64_t>(along_axis >> 22) * scale >> 24;
    const bool beyond = along_axis >= (side + std::int64_t{2} * feather) * unit || scaled > maximum;
    const std::uint64_t normalised = beyond ? maximum : scaled;
    return EllipseOffset{static_cast<std::uint64_t>(from_centre * from_centre),
                         normalised * normalised};
  };
  return ellipse_weight(offset(u, p, region.width, region.scale_x),
                        offset(v, q, region.height, region.scale_y), feather);
}

/// Blends `in` (weight 0) and `processed` (weight 256), rounded half up.
CUDAVISION_HOST_DEVICE inline std::uint32_t blended(std::uint32_t in, std::uint32_t processed,
                                                    int weight) {
  const int difference = static_cast<int>(processed) - static_cast<int>(in);
  return in + static_cast<std::uint32_t>((weight * difference + full_weight / 2) >> 8);
}

}  // namespace cudavision::regions
