// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The stages that follow the matching. They work on maps of disparities. backend.h defines how
// they run and the rules for all pointers.

#include <cstdint>
#include <variant>

#include "cuda/pixels/luminance.h"
#include "cuda/scenecut/scenecut.h"
#include "cuda/sgm/sgmstereo.h"

namespace cudavision::sgm {

/// This number marks an unknown disparity in a map. Maps count disparities from Config::minimum, in
/// sixteenths of a pixel or, in compatibility without subpixel, in pixels. The right map is always
/// in pixels.
constexpr std::uint16_t unknown = 0xFFFF;

/// The filter over time. Numbers that differ by at most max_step are smoothed with a weight of
/// weight/256 for the new one.
struct TemporalFilter {
  int weight = 256, max_step = 0, persistence = 0;

  bool is_on() const noexcept { return weight < 256 || persistence > 0; }
};
/// weight = rint(256·temporal_alpha), in double; max_step = temporal_delta·per_pixel.
TemporalFilter temporal_filter(const Parameters& parameters) noexcept;

/// The state that the filter over time keeps from one frame to the next.
struct History {
  std::uint16_t* numbers;            ///< the result of FilterOverTime
  std::uint8_t* ages;                ///< frames since a number was measured, or 255
  const std::uint32_t* area_change;  ///< scenecut::AreaMeans::change() of the left picture
  bool first_frame = false;

  /// Returns true if numbers and ages of the frame before count for nothing.
  CUDAVISION_HOST_DEVICE bool begins() const {
    return first_frame || *area_change > scenecut::usual_threshold;
  }
};

/// Takes the median of 3×3 numbers, in which unknown is the largest. The outermost pixels become
/// unknown or, in compatibility, 0. from and to differ.
struct Median {
  const std::uint16_t* from;
  std::uint16_t* to;
};

/// Makes pixels of left unknown that right does not confirm. Let v be the number in left,
/// d = (v + 8) >> 4 and k = x − d − minimum. A pixel becomes unknown if k is outside the picture,
/// right(k) is unknown or |right(k) − d| > max_diff. max_diff is not −1.
///
/// In compatibility, d is v >> 4, or v without subpixel, and k = x − d. A k outside the picture
/// confirms the pixel, and an unknown right(k) is compared like any number. A max_diff of −1
/// confirms all pixels, but a pixel whose luminance is 0 always becomes unknown.
struct Check {
  SamplePlane picture;
  const std::uint16_t* right;
  bool subpixel;
  int max_diff;
  std::uint16_t* left;
};

/// Makes the pixels unknown that a mask marks, as SgmStereo::set_masks() describes it.
struct ApplyMask {
  View<const std::uint32_t> mask;
  std::uint16_t* map;
};

/// Joins each known pixel with those above, below and beside it that differ by at most max_step.
/// Components of at most size pixels become unknown. size is at least 1.
struct RemoveSpeckles {
  int size, max_step;
  std::uint16_t* map;
};

/// Writes a map as scale says: number + minimum·per_pixel, or invalid where it is unknown.
struct Write {
  const std::uint16_t* map;
  DisparityScale scale;
  View<std::uint8_t> disparity;
};

/// Writes (a·(n + 1) + 13) div 26 for the confidence a of a pixel, with n the number of the
/// samples at (x + i, y + j), i, j ∈ {−4, −2, 0, 2, 4}, that are in the picture, known and differ
/// by at most 16 from the pixel's own. 0 where the map is unknown. In compatibility, writes a.
struct WriteConfidence {
  const std::uint16_t* map;
  const std::uint8_t* confidence;
  View<std::uint8_t> out;
};

/// WriteConfidence to `out`, which may have no data, except that numbers below the threshold
/// become 0. `to` receives the map, in which those pixels become unknown. map and to differ.
struct KeepConfident {
  const std::uint16_t* map;
  const std::uint8_t* confidence;
  int threshold;
  View<std::uint8_t> out;
  std::uint16_t* to;
};

/// An unknown pixel becomes the smaller of the nearest known ones to its left and right, in the
/// row as it was before. If only one side has a known pixel, it becomes that one. Then each row
/// without known pixels becomes a copy of the nearest filled row above it, or else below it. A
/// map without known pixels does not change.
struct FillHoles {
  std::uint16_t* map;
};

/// Replaces each known number by the smallest v with 2·Σ w(q), summed over the samples q whose
/// number is at most v, ≥ Σ w(q), summed over all samples. Samples are the pixels at (x + i, y +
/// j), i, j ∈ {−4, −2, 0, 2, 4}, that are in the picture and known. With I = `luminance >> (bits
/// − 8)` of the left picture, `w(q) = 64 >> (|I(p) − I(q)| >> 3)`. Unknown pixels stay unknown.
/// from and to differ. Only without compatibility.
struct Refine {
  SamplePlane picture;
  const std::uint16_t* from;
  std::uint16_t* to;
};

// The stages for slanted surfaces, which run without compatibility only. I and R are `luminance >>
// (bits − 8)` of the left and of the right picture, replicated beyond the edges. Numbers are
// at most top = 16·(disparities − 1). >> rounds down, and div towards 0.

/// Moves each known number by up to 4 sixteenths towards where the pictures fit best: one step of
/// Gauss-Newton over the n known pixels of the 3×3 around it, itself included, that are in the
/// picture. A pixel at column x with the number v meets the place X = 16(x − minimum) − v of the
/// right picture. With u = X >> 4, f = X & 15,
///   e = 16·I(x) − (16 − f)·R(u) − f·R(u + 1) and g = 8(I(x + 1) − I(x − 1)),
/// the sums over those pixels are
///   A = n·Σeg − Σe·Σg and B = n·Σgg − (Σg)² + 64n²,
/// and v becomes max(0, v − m) if A > 0, else min(top, v + m), with
///   m = min(4, (32·|A| + B) div 2B).
/// Unknown pixels stay unknown. from and to differ.
struct Sharpen {
  SamplePlane left_picture, right_picture;
  const std::uint16_t* from;
  std::uint16_t* to;
};

/// Fills the unknown pixels of each row along the surface beside them. Let a run of unknown
/// pixels have the known pixels l before it and e after it, where those are in the picture, and
/// v(x) be the numbers of its row y in `from`.
///
/// If both are known and |v(l) − v(e)| ≤ 32, pixel k becomes
///   (2(v(l)·(e − k) + v(e)·(k − l)) + e − l) div 2(e − l).
///
/// Otherwise the surface at the end with the smaller number, or at the only end, continues at the
/// slope that it has there. Let x be the column of that end, and o = −1 for l
/// and 1 for e. For n = 32, 16, 8, Σ sums v0 − v2 over the c rows y + j, j ∈ {−8, −4, 0, 4, 8},
/// in which the numbers v0 at x, v1 at x + o·n/2 and v2 at x + o·n are in the picture, known and
/// |v0 − 2·v1 + v2| ≤ 8. The first n for which c is not 0 counts. Pixel k, t = |k − x|, becomes
/// v(x) plus (2Σ·min(t, 4n) + cn) / 2cn, rounded down, but at least 0 and at most top. It becomes
/// v(x) if there is no such n.
///
/// Then each row without known pixels becomes a copy of the nearest filled row above it, or else
/// below it. A map without known pixels does not change. The confidence of all pixels that are
/// unknown in `from` becomes 0; the others keep theirs. confidence may be null. from
/// and to differ.
struct FillSlopes {
  const std::uint16_t* from;
  std::uint16_t* to;
  std::uint8_t* confidence;
};

/// Refine for the pixels of `filled` that are unknown in `map`, which is `filled` before it was
/// filled. The other pixels keep their numbers. All known pixels of `filled` are samples. All
/// three maps differ.
struct RefineFilled {
  SamplePlane picture;
  const std::uint16_t *map, *filled;
  std::uint16_t* to;
};

/// Smooths planes, where the match is unsure. This takes three passes, with h = 8, 4 and 2, each
/// of which reads the result of the previous pass. A pass changes each known number v(p):
///   v(p) + (2S + T) / 2T, rounded down.
/// With a the confidence of Stages::select(), or 0 for pixels that were filled, cut = max(8, 18 −
/// (a >> 4)). S begins at 0 and T at 64, and 12 pairs of pixels q = p + (i, j), r = p − (i, j) add
/// to them: i, j ∈ {−2h, −h, 0, h, 2h}, j > 0 or j = 0 and i > 0. A pair counts if both pixels are
/// in the picture and known and c = |v(q) + v(r) − 2·v(p)| ≤ 2·cut. It adds w·(v(q) + v(r) −
/// 2·v(p)) to S and 2w to T, with
///   w = (64 >> (max(|I(p) − I(q)|, |I(p) − I(r)|) >> 3))·(2·cut + 1 − c) div (2·cut).
/// Unknown pixels stay unknown. All three maps differ; scratch has room for a map.
struct Smooth {
  SamplePlane picture;
  const std::uint8_t* confidence;
  const std::uint16_t* from;
  std::uint16_t *to, *scratch;
};

/// Smooths a map over time, and keeps numbers that became unknown. Let v be a number of the map,
/// and h and n number and age of the history, where h is unknown if the history begins; then it
/// is not read. v is measured if it is known and, if measured is not null, the number there is
/// known as well. The first that applies:
///  v not measured, h known, n < persistence: n = n + 1
///  v and h known, |v − h| ≤ max_step: h = (weight·v + (256 − weight)·h + 128) >> 8
///  otherwise: h = v
/// In the last two cases n becomes 0, or 255 if v is known and not measured: a number that was
/// filled in is never kept. The history has the result.
struct FilterOverTime {
  const std::uint16_t *map, *measured;
  TemporalFilter filter;
  History history;
};

using Stage =
    std::variant<Median, Check, ApplyMask, RemoveSpeckles, Write, WriteConfidence, KeepConfident,
                 FillHoles, Refine, Sharpen, FillSlopes, RefineFilled, Smooth, FilterOverTime>;

}  // namespace cudavision::sgm
