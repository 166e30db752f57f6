// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The stages after the matching, which process disparity maps. The rules in backend.h apply.

#include <cstdint>
#include <variant>

#include "cuda/pixels/luminance.h"
#include "cuda/scenecut/scenecut.h"
#include "cuda/sgm/sgmstereo.h"

namespace cudavision::sgm {

/// Marks an unknown pixel in a map; the other pixels are known. Known values are disparities minus
/// Config::minimum, in 1/16 pixel. Right maps and compatibility without subpixel use whole pixels.
constexpr std::uint16_t unknown = 0xFFFF;

/// Parameters of FilterOverTime: weight in 1/256, max_step in map values, persistence in frames.
struct TemporalFilter {
  int weight = 256, max_step = 0, persistence = 0;

  bool is_on() const noexcept { return weight < 256 || persistence > 0; }
};
/// weight = rint(256·temporal_alpha), in double; max_step = temporal_delta·per_pixel.
TemporalFilter temporal_filter(const Parameters& parameters) noexcept;

struct History {
  std::uint16_t* numbers;            ///< the result of FilterOverTime
  std::uint8_t* ages;                ///< frames since the last measurement; 255: filled value
  const std::uint32_t* area_change;  ///< scenecut::AreaMeans::change() of the left picture
  bool first_frame = false;

  /// Returns true in the first frame and after a scene cut, where the history must be ignored.
  CUDAVISION_HOST_DEVICE bool begins() const {
    return first_frame || *area_change > scenecut::default_threshold;
  }
};

/// Takes the median of 3×3 values, with unknown as the largest. The outermost pixels become
/// unknown (0 in compatibility). from and to must differ.
struct Median {
  const std::uint16_t* from;
  std::uint16_t* to;
};

/// The left-right check: pixels of left that right does not confirm become unknown. Let v be the
/// value in left, d = (v + 8) >> 4 and k = x − d − minimum. A pixel becomes unknown if k is
/// outside the picture, right(k) is unknown or |right(k) − d| > max_diff. max_diff is not −1.
///
/// In compatibility, d is v >> 4, or v without subpixel, and k = x − d. A k outside the picture
/// confirms the pixel, and an unknown right(k) is compared like any value. A max_diff of −1
/// confirms all pixels, but a pixel whose luminance is 0 always becomes unknown.
struct Check {
  SamplePlane picture;
  const std::uint16_t* right;
  bool subpixel;
  int max_diff;
  std::uint16_t* left;
};

/// Makes masked pixels unknown. SgmStereo::set_masks() defines masks.
struct ApplyMask {
  View<const std::uint32_t> mask;
  std::uint16_t* map;
};

/// Connects each known pixel with its 4 neighbours if they differ by at most max_step. Components
/// of at most size pixels become unknown. size is at least 1.
struct RemoveSpeckles {
  int size, max_step;
  std::uint16_t* map;
};

/// Writes a map with this scale: value + minimum·per_pixel, or scale.invalid for unknown pixels.
struct Write {
  const std::uint16_t* map;
  DisparityScale scale;
  View<std::uint8_t> disparity;
};

/// Writes (a·(n + 1) + 13) div 26 to `out`. a is the pixel's confidence. n counts the samples at
/// (x + i, y + j), i, j ∈ {−4, −2, 0, 2, 4}, that are in the picture, known and within 16 of the
/// pixel's map value. In compatibility, writes a. Confidence becomes 0 if it is below the threshold
/// or the pixel is unknown. `to` receives the map, in which pixels below the threshold become
/// unknown. out may have no data. If the threshold is 0, `to` may be null. map and to must differ.
struct KeepConfident {
  const std::uint16_t* map;
  const std::uint8_t* confidence;
  int threshold;
  View<std::uint8_t> out;
  std::uint16_t* to;
};

/// Fills each unknown pixel with the smaller of the nearest known values to its left and right. If
/// only one side has a known value, this value is used. Filled pixels are not used to fill others.
/// Then each row without known pixels becomes a copy of the nearest filled row above or, if there
/// is none, below. A map without known pixels does not change.
struct FillHoles {
  std::uint16_t* map;
};

/// Replaces each known value by a weighted median: the smallest v for which samples q with values
/// ≤ v have at least half of the weight Σ w(q). Samples are the pixels at (x + i, y + j), i, j ∈
/// {−4, −2, 0, 2, 4}, that are in the picture and known. With I = `luminance >> (bits − 8)` of
/// `picture`, `w(q) = 64 >> (|I(p) − I(q)| >> 3)`. from and to must differ. Not in compatibility.
struct Refine {
  SamplePlane picture;
  const std::uint16_t* from;
  std::uint16_t* to;
};

// The stages for slanted surfaces. In compatibility, they do not run. I and R are
// `luminance >> (bits − 8)` of the left and of the right picture, replicated beyond the edges.
// Known values are at most top = 16·(disparities − 1). >> rounds down, and div towards 0.

/// Moves each known value by up to 4 sixteenths to improve the photometric match. The move is one
/// Gauss-Newton step over the n known pixels in the 3×3 window, clipped to the picture. A pixel at
/// column x with value v matches position X = 16(x − minimum) − v in the right picture. Let
/// u = X >> 4, f = X & 15 and
///   e = 16·I(x) − (16 − f)·R(u) − f·R(u + 1), g = 8(I(x + 1) − I(x − 1)).
/// With the sums over the n pixels
///   A = n·Σeg − Σe·Σg, B = n·Σgg − (Σg)² + 64n² and m = min(4, (32·|A| + B) div 2B),
/// v becomes max(0, v − m) if A > 0, and min(top, v + m) otherwise. Unknown pixels stay unknown.
/// from and to must differ.
struct Sharpen {
  SamplePlane left_picture, right_picture;
  const std::uint16_t* from;
  std::uint16_t* to;
};

/// Fills each run of unknown pixels in a row along the adjacent surface. l and e are the known
/// pixels before and after the run, if they are in the picture. v(x) is the value of pixel x of
/// the row y in `from`.
///
/// If l and e exist and |v(l) − v(e)| ≤ 32, pixel k becomes
///   (2(v(l)·(e − k) + v(e)·(k − l)) + e − l) div 2(e − l).
///
/// Otherwise one of the adjacent surfaces is extrapolated: the surface at the end of the run with
/// the smaller value, or at the only end in the picture. Let x be the column of this end, and
/// o = −1 for l and 1 for e. The slope is measured at a distance n, which is 32, 16 or 8. For each
/// n, Σ sums v0 − v2 over the c rows y + j, j ∈ {−8, −4, 0, 4, 8}, in which the values v0 at x, v1
/// at x + o·n/2 and v2 at x + o·n are in the picture, known and |v0 − 2·v1 + v2| ≤ 8. The largest n
/// with c > 0 is used. Pixel k, with t = |k − x|, becomes v(x) + (2Σ·min(t, 4n) + cn) / 2cn,
/// rounded down and limited to 0 … top. If c is 0 for every n, it becomes v(x).
///
/// Then rows without known pixels are filled as in FillHoles. Confidence becomes 0 where `from` is
/// unknown. confidence may be null. from and to must differ.
struct FillSlopes {
  const std::uint16_t* from;
  std::uint16_t* to;
  std::uint8_t* confidence;
};

/// Applies Refine to filled pixels, which are unknown in `map` and known in `filled`. Other pixels
/// keep their values. All known pixels of `filled` are samples. The three maps must differ.
struct RefineFilled {
  SamplePlane picture;
  const std::uint16_t *map, *filled;
  std::uint16_t* to;
};

/// Smooths along planes, more where confidence is low, in three passes with h = 8, 4 and 2. Each
/// pass reads the result of the previous pass and replaces each known value v(p) by
///   v(p) + (2S + T) / 2T, rounded down.
/// S begins at 0 and T at 64. They sum over the 12 pairs of pixels q = p + (i, j), r = p − (i, j)
/// with i, j ∈ {−2h, −h, 0, h, 2h}, where j > 0, or j = 0 and i > 0. Let
/// cut = max(8, 18 − (a >> 4)), where a is the confidence of Stages::select(), or 0 for filled
/// pixels. A pair is used if both pixels are in the picture and known and
/// c = |v(q) + v(r) − 2·v(p)| ≤ 2·cut. It adds w·(v(q) + v(r) − 2·v(p)) to S and 2w to T, with
///   w = (64 >> (max(|I(p) − I(q)|, |I(p) − I(r)|) >> 3))·(2·cut + 1 − c) div (2·cut).
/// Unknown pixels stay unknown. The three maps must differ; scratch has the size of a map.
struct Smooth {
  SamplePlane picture;
  const std::uint8_t* confidence;
  const std::uint16_t* from;
  std::uint16_t *to, *scratch;
};

/// Smooths a map over time, and keeps the values of pixels that became unknown. v is a value of the
/// map, and h and n are the value and age in the history. h is unknown if history.begins(). v
/// is measured if it is known and, unless `measured` is null, also known in `measured`. The first
/// of these cases that applies is used:
///  v not measured, h known, n < persistence: n = n + 1
///  v and h known, |v − h| ≤ max_step: h = (weight·v + (256 − weight)·h + 128) >> 8
///  otherwise: h = v
/// In the last two cases n becomes 0, or 255 if v is known but not measured, so that filled values
/// are never kept. The result is in the history.
struct FilterOverTime {
  const std::uint16_t *map, *measured;
  TemporalFilter filter;
  History history;
};

using Stage =
    std::variant<Median, Check, ApplyMask, RemoveSpeckles, Write, KeepConfident, FillHoles, Refine,
                 Sharpen, FillSlopes, RefineFilled, Smooth, FilterOverTime>;

}  // namespace cudavision::sgm
