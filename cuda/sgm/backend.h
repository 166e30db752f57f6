// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface that backends of SgmStereo implement: the exact stages of Semi-Global Matching.
// sgmstereo.cpp calls them in order; tests call them one by one. Each stage has a file of its own
// per backend (README.md lists them).
//
// Callers have validated all arguments, and pass pictures of the size and depth of the StageConfig.
// Pointers are the device's. "In compatibility" means Compatibility::libsgm. Features, sums and
// maps are dense: entry (x, y) is number y·width + x. Sums begin at a multiple of 16 bytes,
// everything else at a multiple of its own size. All calls only enqueue.

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "cuda/pixels/luminance.h"
#include "cuda/sgm/mapstages.h"
#include "cuda/sgm/noise.h"
#include "cuda/sgm/sgmstereo.h"

namespace cudavision::sgm {

/// The stages are built for the size of the pictures and a Config without automatic values.
struct StageConfig : PlaneSize, Config {
  StageConfig() : Config(resolved(Config())) {}
  /// layout is that of the left pictures.
  StageConfig(const FrameLayout& layout, const Config& config, Wording wording = own_words)
      : PlaneSize{layout.width, layout.height, layout.bits},
        Config(resolved(config)),
        word(wording) {}

  Wording word = own_words;  ///< for errors

  std::int64_t pixels() const noexcept { return static_cast<std::int64_t>(width) * height; }
  /// The number of sums of all pixels.
  std::size_t sums() const noexcept {
    return static_cast<std::size_t>(pixels()) * static_cast<std::size_t>(disparities);
  }
  /// The bytes of the features of one picture.
  std::size_t feature_map_bytes() const noexcept {
    return static_cast<std::size_t>(pixels()) * static_cast<std::size_t>(feature_bytes());
  }
  int feature_bytes() const noexcept { return census_bits(census) > 32 ? 8 : 4; }
  /// True if the luminance counts in levels of 8 bits before anything is computed from it. Other
  /// censuses compare it at its full depth, as they did before census_gradient came.
  bool eight_bit() const noexcept { return census == Census::census_gradient; }
  /// True if the right picture's outermost features stand for those outside of it.
  bool replicates_features() const noexcept { return census == Census::census_gradient; }
  /// Left pixel (x, y) meets column x − d − right_shift() of the right map at disparity d.
  int right_shift() const noexcept { return libsgm() ? 0 : minimum; }
};

/// P1, and P2 by the step of the luminance from one pixel of a path to the next, in levels of 8
/// bits: p2[|I(p) − I(q)|] with `I >> (bits − 8)` for I if StageConfig::eight_bit(), else
/// p2[|I(p) − I(q)| >> (bits − 8)].
struct Penalties {
  int p1 = 10;
  std::array<std::uint8_t, 256> p2{};
};
/// P2(step) = max(P1 + 1, 16·P2 div (16 + step)), or P2 for every step if it is not adaptive.
Penalties penalties_for(const Parameters& parameters);
/// Returns the penalties under noise: P1' = min(P1 + min(6, (e + 4) >> 3), p2[0] − 1) with the
/// deviation e of the noise, and every P2 is at least P1' + 1.
Penalties penalties_under(const NoiseLevel& noise, const Penalties& penalties);

/// The maps that select() makes from the sums.
struct WtaResult {
  std::uint16_t* left;       ///< may be unknown
  std::uint16_t* right;      ///< integers; unknown only in columns that no left pixel meets
  std::uint8_t* confidence;  ///< of the left map; may be null

  /// Returns the parts of the maps that begin at this pixel.
  WtaResult from_pixel(std::int64_t pixel) const noexcept {
    return {left + pixel, right + pixel, confidence ? confidence + pixel : nullptr};
  }
};

/// The formula for the sixteenths of a disparity.
enum class Subpixel : std::uint8_t { none, equiangular, parabola, libsgm };
Subpixel subpixel_of(const Parameters& parameters) noexcept;

/// Describes what filter_noise() gives as a picture, whose luminance in 8 bits is the filtered one,
/// rounded.
inline SamplePlane filtered_plane(const StageConfig& config, const std::uint16_t* filtered) {
  SamplePlane plane;
  plane.rows = {reinterpret_cast<const std::uint8_t*>(filtered), 2 * config.width, config.height,
                2 * static_cast<std::ptrdiff_t>(config.width)};
  plane.width = config.width;
  plane.bits = filtered_bits;
  return plane;
}

class Stages {
 public:
  virtual ~Stages() = default;

  /// Writes one feature per pixel, of feature_bytes() each. Each comparison, in the order given,
  /// shifts the feature left by one and becomes its lowest bit; the remaining high bits are 0.
  ///  symmetric_9x7: for dy = −3…−1, dx = −4…4, then dy = 0, dx = −4…−1:
  ///    `I(x + dx, y + dy) > I(x − dx, y − dy)`
  ///  neighbours_9x7, neighbours_5x5: for dy = −3…3 (−2…2), dx = −4…4 (−2…2), without the centre:
  ///    `I(x, y) > I(x + dx, y + dy)`
  ///  census_gradient: with `I >> (bits − 8)` for I, 16 comparisons
  ///    `M > I(x + dx, y + dy)`, M = (Σ (2 − |i|)(2 − |j|)·I(x + i, y + j) + 8) >> 4, i, j = −1…1,
  ///    for (dx, dy) = (−1, −3) (1, −3) (−2, −2) (0, −2) (2, −2) (−5, −1) (5, −1) (−2, 0) (2, 0)
  ///    (−5, 1) (5, 1) (−2, 2) (0, 2) (2, 2) (−1, 3) (1, 3), then three numbers in unary codes,
  ///    from the highest threshold to the lowest, so that the bits that differ count the distance:
  ///    Sx > 19, 11, 5, 1, −2, −6, −12, −20, Sx = Σ (2 − |j|)(I(x + 1, y + j) − I(x − 1, y + j))
  ///    Sy > 9, 3, −3, −9, Sy = Σ (2 − |i|)(I(x + i, y + 1) − I(x + i, y − 1))
  ///    Dxx > 12, 4, −4, −12, Dxx = Σ (2 − |j|)(2·I(x, y + j) − I(x − 2, y + j) − I(x + 2, y + j))
  /// I is replicated beyond the edges. In compatibility, features within 4 columns or 3 rows of an
  /// edge are 0.
  virtual void census(const SamplePlane& picture, void* features) = 0;

  /// Sums the path costs of all paths: sums[(y·width + x)·disparities + d] for disparity d of
  /// pixel (x, y).
  ///
  /// The matching cost C is the number of bits in which feature (x, y) of the left differs from
  /// feature (x − d − minimum, y) of the right. Outside the picture, this is 0 or, with
  /// replicates_features(), the feature at the nearest column. Paths run along (0, 1), (0, −1),
  /// (1, 0), (−1, 0) and, if there are 8, the diagonals. With L' the costs of the previous pixel of
  /// the path and m the smallest of them,
  ///   L(d) = C + min(L'(d) − m, L'(d ± 1) − m + P1, P2),
  /// where d ± 1 counts only within the range of disparities, and L = C if the previous pixel lies
  /// outside the picture. L is at most the bits of a feature + P2, which fits a byte, and m is at
  /// most the bits. picture is the left luminance, for P2.
  virtual void aggregate(const SamplePlane& picture, const void* left, const void* right,
                         const Penalties& penalties, std::uint16_t* sums) = 0;

  /// Selects disparities by the sums, which are called S here.
  ///
  /// In the left map, best is the lowest d of the smallest S. A pixel is unknown if a d with
  /// |d − best| > 1 has `(float)S(d)·uniqueness < (float)S(best)`, in binary32. Otherwise its
  /// number is 16·best. If 0 < best < disparities − 1, an offset is added. With l, c, r =
  /// S(best − 1, best, best + 1), h = max(l, r) − c, den = l − 2c + r and n = 16·(l − r), it is
  ///   equiangular: sign(n)·((|n| + h) div 2h), or 0 if h is 0
  ///   parabola: sign(n)·((|n| + den) div 2den), or 0 if den is 0
  ///   libsgm: (n + den) / (2·den), truncated as in C, or 0 if den is 0
  /// In compatibility, the number without an offset (Subpixel::none) is best.
  ///
  /// The right map at column r of the right picture has the lowest d of the smallest S(x, d) with
  /// x = r + d + minimum, 0 ≤ x < width. It is unknown if there is no such d. In compatibility, the
  /// minimum does not count: x = r + d.
  ///
  /// With c1 = S(best) and c2 the smallest S(d) where |d − best| > 1, confidence is
  /// ((c2 − c1)·255 + c2 div 2) div c2, or 0 if c2 is 0 or the disparity is unknown.
  virtual void select(const std::uint16_t* sums, float uniqueness, Subpixel subpixel,
                      const WtaResult& winners) = 0;

  /// All of the above: census() of both pictures, aggregate() and select(). A backend need not
  /// compute features and sums in the form that those give.
  virtual void match(const SamplePlane& left, const SamplePlane& right, const Penalties& penalties,
                     float uniqueness, Subpixel subpixel, const WtaResult& winners) = 0;

  // Matching under noise, with census_gradient only. I is `luminance >> (bits − 8)`, replicated
  // beyond the edges, and div truncates. Noise has a standard deviation e in sixteenths of a level
  // of 8 bits, and a variance v = e².

  /// Measures the noise of the left picture, and takes it into the state.
  ///
  /// With N(x, y) = Σ k(i)·k(j)·I(x + i·r, y + j·r), i, j = −1…1, k(0) = −2, else 1, a block of 8×8
  /// pixels has s = Σ |N|. Blocks begin at multiples of 8 and lie wholly inside the picture. Of
  /// pairs of rows of blocks, which begin at multiples of 16, only every (1 + (width·height >>
  /// 19))-th counts, from the first. Blocks with more than 4 pixels where I < 8 or I > 247 do not
  /// count. A block is flat if its s at the distance 1 is 0, as in drawings, or the 8 samples of
  /// the line three rows or columns before or after it are equal, as at bars beside the picture.
  /// Let n be the number of the blocks that count and are not flat, and b the smallest bin such
  /// that more than n div 50 of them have min(1023, s >> 4) ≤ b. The variance at the distance r is
  /// max(0, (16b + 8)² div 200 − c), c = 440 for r = 1 and 2000 for r = 3, and the picture's
  /// is the larger of the two, but at most 40000. White noise of the standard deviation σ gives |N|
  /// a mean of 4.79σ, and the quietest fiftieth of the blocks has about three quarters of that; c
  /// is what the texture of pictures without noise looks like.
  ///
  /// If at least 64 blocks that count are flat, and more than n, the variance is 0. Otherwise, with
  /// n < 64, the picture tells nothing, and the state does not change. Else the average a,
  /// in 1/256, becomes 256·variance if there was none before, else a + ((256·variance − a) >> 3).
  /// If there was none before, or if m = (a + 128) >> 8 differs from the variance v in use by more
  /// than 64 + v div 4, m and √m, rounded down, are in use from now on. In the first frame there
  /// was none before; the noise in use is 0 until there is one.
  virtual void estimate_noise(const SamplePlane& picture, bool first_frame, NoiseState* state) = 0;

  /// Filters a picture to its noise: the mean of the 5×5 around p where they vary as noise does,
  /// and the pixel itself where they vary far more (Lee, 1980). With n = (625·v) >> 8, S = Σ I, and
  /// V = 25·Σ I² − S² of these 25, A is ((V − n)·256) div V, or 0 if V ≤ n. filtered(p) is
  ///   8 + (25·A·I(p) + S·(256 − A) + 200) div 400,
  /// which has 12 bits: filtered_plane() describes them as a picture. Without noise it is 16·I + 8.
  virtual void filter_noise(const SamplePlane& picture, const NoiseSource& noise,
                            std::uint16_t* filtered) = 0;

  /// census() of a filtered picture F. Comparisons are M > F(x + dx, y + dy) + ((13·e) >> 5) − 8,
  /// M = 16·((Σ (2 − |i|)(2 − |j|)·F(x + i, y + j)) >> 8). Sx, Sy and Dxx are those of F, and their
  /// thresholds 16 times as high. Without noise these are the features of census().
  virtual void census_filtered(const std::uint16_t* filtered, const NoiseSource& noise,
                               void* features) = 0;

  /// aggregate() with penalties_under() the noise, which take their steps from the filtered left
  /// picture.
  virtual void aggregate_filtered(const std::uint16_t* filtered, const NoiseSource& noise,
                                  const void* left, const void* right, const Penalties& penalties,
                                  std::uint16_t* sums) = 0;

  /// All of the above: filter_noise() of both pictures, census_filtered(), aggregate_filtered() and
  /// select().
  virtual void match_under_noise(const SamplePlane& left, const SamplePlane& right,
                                 const NoiseSource& noise, const Penalties& penalties,
                                 float uniqueness, Subpixel subpixel, const WtaResult& winners) = 0;

  /// Runs stages that follow the matching, in order. A backend may run several stages in one
  /// launch. Afterwards the right map of a Check is undefined. So is the result of a Check, Refine
  /// or Smooth if the list ends with a Write of it.
  virtual void run(std::span<const Stage> stages) = 0;
  void run(const Stage& stage) { run({&stage, 1}); }

  /// The stages between these two calls may do their work only at the second one.
  virtual void begin_frame() {}
  virtual void end_frame() {}
};

/// Makes the stages for the device's kind.
std::unique_ptr<Stages> make_stages(Device& device, const StageConfig& config);
std::unique_ptr<Stages> make_stages_cpu(Device& device, const StageConfig& config);
std::unique_ptr<Stages> make_stages_cuda(Device& device, const StageConfig& config);
/// Likewise stages that match in bands of band_rows rows or few more, instead of those that fit the
/// memory budget.
std::unique_ptr<Stages> make_stages_in_bands_cuda(Device& device, const StageConfig& config,
                                                  int band_rows);

}  // namespace cudavision::sgm
