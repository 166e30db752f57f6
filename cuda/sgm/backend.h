// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Semi-Global Matching step by step: what each stage computes, exactly. A backend implements them
// all, one file per stage; sgmstereo.cpp strings them together, tests call them one by one.
// Everything arrives validated, pointers are the device's, and pictures of numbers lie densely:
// number (x, y) is number y·width + x. Sums begin at a multiple of 16 bytes, all else at a multiple
// of its own size. All calls only enqueue.

#include <array>
#include <cstdint>
#include <memory>

#include "cuda/sgm/sgmstereo.h"

namespace cudavision::sgm {

/// What the stages are built for.
struct Config {
  int width = 0;
  int height = 0;
  int bits = 8;  ///< of the samples
  int disparities = 128;
  int minimum = 0;
  int paths = 8;
  Parameters::Census census = Parameters::Census::symmetric_9x7;
  Parameters::Compatibility compatibility = Parameters::Compatibility::none;

  std::int64_t pixels() const noexcept { return static_cast<std::int64_t>(width) * height; }
  /// 8 where a census feature has more than 32 bits, else 4.
  int feature_bytes() const noexcept;
};

/// layout: of the left pictures.
Config config_of(const FrameLayout& layout, const Parameters& parameters);

/// P1, and P2 by the step of the luminance between a pixel and the one before it on the path:
/// p2[|step| >> (bits − 8)].
struct Penalties {
  int p1 = 10;
  std::array<std::uint8_t, 256> p2{};
};
/// max(P1 + 1, 16·P2 div (16 + step)), or P2 everywhere where it is not adaptive.
Penalties penalties_for(const Parameters& parameters);

/// Maps hold disparities from the minimum of the search on, in sixteenths of a pixel; in
/// compatibility without subpixel in pixels. The right map is in pixels always.
constexpr std::uint16_t unknown = 0xFFFF;

class Stages {
 public:
  virtual ~Stages() = default;

  /// One feature per pixel, of feature_bytes() each: each comparison, in this order, pushes the
  /// bits before it up by one, so that the last is the lowest; bits that no comparison made are 0.
  ///  symmetric_9x7: for dy = −3…−1, dx = −4…4, then dy = 0, dx = −4…−1:
  ///    `I(x + dx, y + dy) > I(x − dx, y − dy)`
  ///  neighbours_9x7, neighbours_5x5: for dy = −3…3 (−2…2), dx = −4…4 (−2…2), without the centre:
  ///    `I(x, y) > I(x + dx, y + dy)`
  /// Beyond the edges the outermost pixel counts. In compatibility, features within 4 columns or 3
  /// rows of the edge are 0.
  virtual void census(const SamplePlane& picture, void* features) = 0;

  /// The sum over all paths of the costs of paths, for every pixel and disparity: disparity d of
  /// pixel (x, y) is sums[(y·width + x)·disparities + d].
  ///
  /// The matching cost C is the number of bits in which feature (x, y) of the left differs from
  /// feature (x − d − minimum, y) of the right, which is 0 outside the picture. Paths run along (0,
  /// 1), (0, −1), (1, 0), (−1, 0) and, where there are 8, the diagonals. On each, with L' the costs
  /// of the pixel before and m the least of them,
  ///   L(d) = C + min(L'(d) − m, L'(d ± 1) − m + P1, P2),
  /// without a d ± 1 that is no disparity, and L = C where the pixel before would lie outside. L is
  /// at most the bits of a feature + P2, which is within a byte, and m at most the bits. picture:
  /// the left luminance, for P2.
  virtual void aggregate(const SamplePlane& picture, const void* left, const void* right,
                         const Penalties& penalties, std::uint16_t* sums) = 0;

  /// What the sums S say of each pixel.
  struct Winners {
    std::uint16_t* left;       ///< disparity of the left map, or unknown
    std::uint16_t* right;      ///< of the right map: integer, known everywhere
    std::uint8_t* confidence;  ///< may be null
  };
  /// left: best = the lowest d of the smallest S. Unknown if a d with |d − best| > 1 has
  ///   `(float)S(d)·uniqueness < (float)S(best)`, in binary32. Else 16·best, to which subpixel
  ///   adds, where 0 < best < disparities − 1, with l, c, r = S(best − 1, best, best + 1), den = l
  ///   − 2c + r and n = 16·(l − r): sign(n)·((|n| + den) div 2den), nothing where den is 0. In
  ///   compatibility it adds ((l − r)·16 + den) / (2·den), truncated as C does; and without
  ///   subpixel the number is best.
  /// right: at p the lowest d of the smallest S(p + d, d) with p + d < width. The minimum does not
  /// count: p is the column less the minimum.
  /// confidence: with c1 = S(best), c2 the least S(d) where |d − best| > 1:
  ///   ((c2 − c1)·255 + c2 div 2) div c2; 0 where c2 is 0 or the disparity is unknown.
  virtual void select(const std::uint16_t* sums, float uniqueness, bool subpixel,
                      const Winners& winners) = 0;

  /// Median of 3×3, unknown being the largest number. Outermost pixels become unknown; in
  /// compatibility 0. from and to differ.
  virtual void median(const std::uint16_t* from, std::uint16_t* to) = 0;

  /// Makes pixels of left unknown that right does not confirm. With v the number in left,
  /// d = (v + 8) >> 4 and k = x − d: unknown where k is outside the picture, right(k) is unknown or
  /// |right(k) − d| > max_diff. Is not called with max_diff −1.
  /// In compatibility d = v >> 4, or v without subpixel; k outside the picture confirms; right(k)
  /// is a number like any other; max_diff −1 confirms all; and a pixel whose luminance is 0 becomes
  /// unknown.
  virtual void check(const SamplePlane& picture, const std::uint16_t* right, bool subpixel,
                     int max_diff, std::uint16_t* left) = 0;

  /// Components of known pixels, joined to those above, below and beside them that differ by no
  /// more than most_step, become unknown where they have no more than size pixels. size is 1 or
  /// more.
  virtual void remove_speckles(int size, int most_step, std::uint16_t* map) = 0;

  /// A map as DisparityScale has it: number + minimum·per_pixel, invalid where unknown.
  virtual void write(const std::uint16_t* map, const DisparityScale& scale,
                     View<std::uint8_t> disparity) = 0;
  /// confidence, but 0 where the map is unknown.
  virtual void write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                                View<std::uint8_t> out) = 0;

  /// Unknown pixels become the smaller of the nearest known ones to the left and to the right in
  /// the row as it was, or the one there is. A row without any becomes the nearest row above that
  /// had some, as it is then, or else the nearest below. A map without any stays as it is.
  virtual void fill_holes(std::uint16_t* map) = 0;
};

/// Those of the device's backend.
std::unique_ptr<Stages> make_stages(Device& device, const Config& config);
std::unique_ptr<Stages> make_stages_cpu(Device& device, const Config& config);
std::unique_ptr<Stages> make_stages_cuda(Device& device, const Config& config);

}  // namespace cudavision::sgm
