// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface of the SgmStereo backends, with exact definitions of the stages.
//
// Callers validate all arguments. Pictures have the size and depth of the StageConfig. Pointers are
// device pointers. Features and maps are dense: pixel (x, y) has index y·width + x. Sums are
// aligned to 16 bytes, other arrays to their element size. Calls only enqueue work. "In
// compatibility" means with Compatibility::libsgm.

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "cuda/pixels/luminance.h"
#include "cuda/sgm/mapstages.h"
#include "cuda/sgm/noise.h"
#include "cuda/sgm/sgmstereo.h"

namespace cudavision::sgm {

struct StageConfig : PlaneSize, Config {
  StageConfig() : Config(resolved(Config())) {}
  StageConfig(const FrameLayout& layout, const Config& config, Wording wording = own_words)
      : PlaneSize{layout.width, layout.height, layout.bits},
        Config(resolved(config)),
        word(wording) {}

  Wording word = own_words;  ///< gives the names of parameters in error messages

  std::int64_t pixels() const noexcept { return static_cast<std::int64_t>(width) * height; }
  std::size_t sums() const noexcept {
    return static_cast<std::size_t>(pixels()) * static_cast<std::size_t>(disparities);
  }
  std::size_t feature_map_bytes() const noexcept {
    return static_cast<std::size_t>(pixels()) * static_cast<std::size_t>(feature_bytes());
  }
  int feature_bytes() const noexcept { return census_bits(census) > 32 ? 8 : 4; }
  /// If true, the census uses the upper 8 bits of the luminance. Other censuses use its full depth.
  bool eight_bit() const noexcept { return census == Census::census_gradient; }
  /// If true, features outside the right picture repeat its nearest column. Otherwise they are 0.
  bool replicates_features() const noexcept { return census == Census::census_gradient; }
  /// Disparity d matches left column x with column x − d − right_shift() of the right map.
  int right_shift() const noexcept { return libsgm() ? 0 : minimum; }
};

/// P1, and a table of P2. The table is indexed by the luminance step between two consecutive pixels
/// p and q of a path, in 8-bit levels: |I(p) − I(q)| with I = `luminance >> (bits − 8)` if
/// StageConfig::eight_bit(), and |luminance(p) − luminance(q)| >> (bits − 8) otherwise.
struct Penalties {
  int p1 = 10;
  std::array<std::uint8_t, 256> p2{};
};
/// Returns P1 and p2[step] = max(P1 + 1, 16·P2 div (16 + step)), or P2 if P2 is not adaptive.
Penalties penalties_for(const Parameters& parameters);
/// Raises P1 to P1' = min(P1 + min(6, (e + 4) >> 3), p2[0] − 1) for the noise deviation e, and each
/// P2 to at least P1' + 1.
Penalties penalties_under(const NoiseLevel& noise, const Penalties& penalties);

struct WtaResult {
  std::uint16_t* left;       ///< map values, or `unknown`
  std::uint16_t* right;      ///< whole disparities; `unknown` if no left pixel can match
  std::uint8_t* confidence;  ///< of the left map; may be null

  WtaResult from_pixel(std::int64_t pixel) const noexcept {
    return {left + pixel, right + pixel, confidence ? confidence + pixel : nullptr};
  }
};

enum class Subpixel : std::uint8_t { none, equiangular, parabola, libsgm };
Subpixel subpixel_of(const Parameters& parameters) noexcept;

/// Describes the output of filter_noise(): 12-bit samples, whose upper 8 bits are rounded levels.
inline SamplePlane filtered_plane(const StageConfig& config, const std::uint16_t* filtered) {
  SamplePlane plane;
  plane.rows = contiguous_rows(reinterpret_cast<const std::uint8_t*>(filtered), 2 * config.width,
                               config.height);
  plane.width = config.width;
  plane.bits = filtered_bits;
  return plane;
}

class Stages {
 public:
  virtual ~Stages() = default;

  /// Writes one feature of feature_bytes() per pixel. Each comparison, in the order given, shifts
  /// the feature left by one bit and becomes its lowest bit. Unused high bits are 0.
  ///  symmetric_9x7: for dy = −3…−1, dx = −4…4, then dy = 0, dx = −4…−1:
  ///    `I(x + dx, y + dy) > I(x − dx, y − dy)`
  ///  neighbours_9x7, neighbours_5x5: for dy = −3…3 (−2…2), dx = −4…4 (−2…2), without the centre:
  ///    `I(x, y) > I(x + dx, y + dy)`
  ///  census_gradient: first 16 comparisons
  ///    `M > I(x + dx, y + dy)`, M = (Σ (2 − |i|)(2 − |j|)·I(x + i, y + j) + 8) >> 4, i, j = −1…1,
  ///    for (dx, dy) = (−1, −3) (1, −3) (−2, −2) (0, −2) (2, −2) (−5, −1) (5, −1) (−2, 0) (2, 0)
  ///    (−5, 1) (5, 1) (−2, 2) (0, 2) (2, 2) (−1, 3) (1, 3), then three values in unary codes, from
  ///    the highest threshold to the lowest, so that the Hamming distance is their difference:
  ///    Sx > 19, 11, 5, 1, −2, −6, −12, −20, Sx = Σ (2 − |j|)(I(x + 1, y + j) − I(x − 1, y + j))
  ///    Sy > 9, 3, −3, −9, Sy = Σ (2 − |i|)(I(x + i, y + 1) − I(x + i, y − 1))
  ///    Dxx > 12, 4, −4, −12, Dxx = Σ (2 − |j|)(2·I(x, y + j) − I(x − 2, y + j) − I(x + 2, y + j))
  /// I is the luminance, or `luminance >> (bits − 8)` for census_gradient. It is replicated beyond
  /// the edges. In compatibility, features are 0 within 4 columns or 3 rows of an edge.
  virtual void census(const SamplePlane& picture, void* features) = 0;

  /// Sums the path costs of all paths: sums[(y·width + x)·disparities + d] for disparity d of pixel
  /// (x, y).
  ///
  /// The matching cost C is the number of differing bits between the left feature (x, y) and the
  /// right feature (x − d − minimum, y). Outside the picture, the right feature is 0 or, with
  /// replicates_features(), the feature of the nearest column. Paths run along (0, 1), (0, −1),
  /// (1, 0), (−1, 0) and, if there are 8, the diagonals. Let L' be the costs of the previous pixel
  /// on the path, and m the smallest of them. Then
  ///   L(d) = C + min(L'(d) − m, L'(d ± 1) − m + P1, P2),
  /// where d ± 1 must be within the disparity range. If the previous pixel is outside the picture,
  /// L = C. L is at most feature bits + P2, which fits a byte, and m is at most the feature bits.
  ///
  /// picture is the left luminance or its filtered_plane(), from which P2 is computed. Then
  /// penalties_under() raises P1 and P2.
  virtual void aggregate(const SamplePlane& picture, const void* left, const void* right,
                         const Penalties& penalties, const NoiseSource& noise,
                         std::uint16_t* sums) = 0;

  /// Selects disparities by the sums S.
  ///
  /// In the left map, best is the lowest d that minimises S(d). A pixel is unknown if a d with
  /// |d − best| > 1 has `(float)S(d)·uniqueness < (float)S(best)`, in binary32. Otherwise its map
  /// value is 16·best, plus a subpixel offset if 0 < best < disparities − 1. Let l, c and r be S
  /// at best − 1, best and best + 1, h = max(l, r) − c, den = l − 2c + r and n = 16·(l − r).
  /// Offsets:
  ///   equiangular: sign(n)·((|n| + h) div 2h), or 0 if h is 0
  ///   parabola: sign(n)·((|n| + den) div 2den), or 0 if den is 0
  ///   libsgm: (n + den) / (2·den), truncated as in C, or 0 if den is 0
  /// In compatibility with Subpixel::none, the map value is best.
  ///
  /// Column r of the right map receives the lowest d that minimises S(x, d), where
  /// x = r + d + minimum and 0 ≤ x < width, or becomes unknown if there is no such d. In
  /// compatibility, x = r + d.
  ///
  /// With c1 = S(best) and c2 the smallest S(d) where |d − best| > 1, confidence is ((c2 − c1)·255
  /// + c2 div 2) div c2, or 0 if c2 is 0 or the disparity is unknown.
  virtual void select(const std::uint16_t* sums, float uniqueness, Subpixel subpixel,
                      const WtaResult& winners) = 0;

  /// Runs filter_noise(), census_filtered(), aggregate() and select(). With a census other than
  /// census_gradient, census() replaces the first two, and noise must be empty.
  virtual void match(const SamplePlane& left, const SamplePlane& right, const Penalties& penalties,
                     const NoiseSource& noise, float uniqueness, Subpixel subpixel,
                     const WtaResult& winners) = 0;

  // The next three functions require census_gradient. I is `luminance >> (bits − 8)`, replicated
  // beyond the edges, and div truncates. The noise has the standard deviation e, in sixteenths of
  // an 8-bit level, and the variance v, in the square of this unit.

  /// Measures the noise of the left picture and updates the state.
  ///
  /// Blocks have 8×8 pixels, begin at multiples of 8 and are completely inside the picture. Pairs
  /// of block rows begin at multiples of 16. Every (1 + (width·height >> 19))-th pair is measured,
  /// from the first pair on. Blocks with more than 4 pixels where I < 8 or I > 247 are skipped. For
  /// each remaining block, s = Σ |N(x, y)| over its pixels is computed for r = 1 and r = 3, with
  ///   N(x, y) = Σ k(i)·k(j)·I(x + i·r, y + j·r), i, j = −1…1, k(0) = −2, k(±1) = 1.
  /// A block is flat if s = 0 for r = 1, as in drawings. It is also flat if all 8 samples are equal
  /// in one of the four lines three pixels outside the block, as next to black bars.
  ///
  /// Let n be the number of blocks that are not flat. For each r, let b be the smallest bin such
  /// that more than n div 50 of these blocks have min(1023, s >> 4) ≤ b. The variance at r is
  /// max(0, (16b + 8)² div 200 − c), with c = 440 for r = 1 and c = 2000 for r = 3. The picture's
  /// variance is the larger of the two, at most 40000. White noise of standard deviation σ gives
  /// |N| a mean of 4.79σ; the quietest fiftieth of the blocks has about three quarters of this
  /// mean. c is subtracted because noise-free pictures have texture, too.
  ///
  /// If at least 64 blocks and more than n blocks are flat, the variance is 0. Otherwise, if
  /// n < 64, the picture is ignored. The variance updates a moving average a, in 1/256: the first
  /// estimate sets a to 256·variance, and later estimates to a + ((256·variance − a) >> 3). Let
  /// m = (a + 128) >> 8. At the first estimate, and whenever m differs from v by more than
  /// 64 + v div 4, v becomes m and e becomes √m, rounded down. first_frame discards earlier
  /// estimates. v and e are 0 until there is an estimate.
  virtual void estimate_noise(const SamplePlane& picture, bool first_frame, NoiseState* state) = 0;

  /// Filters a picture according to its noise (Lee, 1980). If the 5×5 window around p varies only
  /// by noise, the result is the mean of the window. If it varies far more, the result is close to
  /// I(p). With n = (625·v) >> 8, S = Σ I, and V = 25·Σ I² − S² of the window, A is ((V − n)·256)
  /// div V, or 0 if V ≤ n. filtered(p) is
  ///   8 + (25·A·I(p) + S·(256 − A) + 200) div 400,
  /// in 12 bits, described by filtered_plane(). Without noise it is 16·I + 8.
  virtual void filter_noise(const SamplePlane& picture, const NoiseSource& noise,
                            std::uint16_t* filtered) = 0;

  /// Computes the features of a filtered picture F as in census(), but M is compared with
  /// F(x + dx, y + dy) + ((13·e) >> 5) − 8, M = 16·((Σ (2 − |i|)(2 − |j|)·F(x + i, y + j)) >> 8).
  /// Sx, Sy and Dxx use F and thresholds 16 times as high. Without noise, this equals census().
  virtual void census_filtered(const std::uint16_t* filtered, const NoiseSource& noise,
                               void* features) = 0;

  /// Runs stages that follow the matching, in order. A backend may merge several stages into one
  /// launch. Afterwards, the right map of a Check is undefined. If the list ends with a Write of
  /// the result of a Check, Refine or Smooth, the map with this result is undefined, too.
  virtual void run(std::span<const Stage> stages) = 0;
  void run(const Stage& stage) { run({&stage, 1}); }

  /// Stages called between begin_frame() and end_frame() may be deferred until end_frame().
  virtual void begin_frame() {}
  virtual void end_frame() {}
};

std::unique_ptr<Stages> make_stages(Device& device, const StageConfig& config);
std::unique_ptr<Stages> make_stages_cpu(Device& device, const StageConfig& config);
std::unique_ptr<Stages> make_stages_cuda(Device& device, const StageConfig& config);
/// Matches in bands of about band_rows rows, regardless of the memory budget.
std::unique_ptr<Stages> make_stages_in_bands_cuda(Device& device, const StageConfig& config,
                                                  int band_rows);

}  // namespace cudavision::sgm
