// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"
#include "cuda/pixels/luminance.h"

/// Dense stereo by Semi-Global Matching (Hirschmüller, "Stereo Processing by Semiglobal Matching
/// and Mutual Information", 2008) of census features (Zabih & Woodfill, 1994).
///
/// Both pictures are rectified. For each pixel (x, y) of the left picture, the matching finds the
/// disparity d for which pixel (x − d − minimum, y) of the right picture shows the same point. The
/// stages, in order and without masks: estimate_noise, filter_noise and census of both pictures,
/// aggregate, select, Median of both maps, Refine of the right map, Check, RemoveSpeckles,
/// KeepConfident, Sharpen, Refine, FillSlopes, RefineFilled, Smooth, FilterOverTime, Write. Without
/// slanted_surfaces and in compatibility, the right map is not refined, and FillHoles and Refine
/// replace the stages from Sharpen to Smooth. backend.h and mapstages.h define each stage.
namespace cudavision::sgm {

struct NoiseState;

/// Parameters that are fixed at construction, because memory and kernels depend on them.
struct Config {
  enum class Census : std::uint8_t {
    symmetric_9x7,    ///< 31 bits: compares pixels opposite each other, as libSGM does
    neighbours_9x7,   ///< 62 bits: compares each neighbour with the centre
    neighbours_5x5,   ///< 24 bits: compares each neighbour with the centre
    census_gradient,  ///< 32 bits: compares 16 neighbours with the mean, encodes derivatives
    automatic,        ///< census_gradient, or symmetric_9x7 in compatibility
  };
  /// The results of `libsgm` are bit-identical to libSGM 3.1.0. This mode needs
  /// Census::symmetric_9x7 and ignores adaptive_p2, subpixel_method, refine and slanted_surfaces.
  enum class Compatibility : std::uint8_t { none, libsgm };

  /// The largest whole disparity that fits signed 16 bits in sixteenths of a pixel.
  static constexpr int max_disparity = 2047;
  static constexpr int disparity_step = 32;
  struct Ranges {
    static constexpr Range<int> disparities{disparity_step, 1024};
    /// Also, minimum + disparities must be at most max_disparity.
    static constexpr Range<int> minimum{-max_disparity, max_disparity - disparity_step};
    static constexpr Range<int> paths{4, 8};  ///< 4 or 8
  };

  int disparities = 128;  ///< a multiple of disparity_step
  int minimum = 0;        ///< the smallest disparity searched
  int paths = automatic;  ///< automatic: 4, or 8 in compatibility
  Census census = Census::automatic;
  Compatibility compatibility = Compatibility::none;
  /// Device memory for the sums of path costs, in bytes or, if at most 1, as a share of the free
  /// memory at construction. Larger pictures are matched in bands, with the same result. CUDA only.
  double memory_budget = 0.25;

  /// Selects the default that fits the other parameters. This value is outside all ranges.
  static constexpr int automatic = std::numeric_limits<int>::min();

  bool libsgm() const noexcept { return compatibility == Compatibility::libsgm; }

  bool operator==(const Config&) const = default;
};

/// All parameters. The members that are not in Config may change between frames.
struct Parameters : Config {
  /// Interpolates by the vertex of two lines of equal and opposite slope, or of a parabola.
  enum class SubpixelMethod : std::uint8_t { equiangular, parabola };

  struct Ranges : Config::Ranges {
    static constexpr Range<int> p2{0, 255};
    static constexpr Range<int> p1{0, p2.max - 1};
    static constexpr Range<double> uniqueness{0, 1};
    static constexpr Range<int> lr_max_diff{-1, 1024};
    static constexpr Range<int> speckle_size{0, std::numeric_limits<int>::max()};
    static constexpr Range<int> speckle_range{0, 1024};
    static constexpr Range<int> confidence_threshold{0, 255};
    static constexpr Range<double> temporal_alpha{1.0 / 256, 1};
    static constexpr Range<int> temporal_delta{0, 1024};
    static constexpr Range<int> temporal_persistence{0, 255};
    static constexpr Range<double> noise{-1, 30};
  };

  /// Penalty for a step of one disparity, less than p2. 0: automatic, see resolved().
  int p1 = 0;
  /// Penalty for a larger step, from 2 to Ranges::p2.max − census bits. 0: automatic.
  int p2 = 0;
  double uniqueness = 0.95;  ///< rounded to binary32; 1 keeps every winner
  /// Largest left-right difference in pixels. −1: rejects nothing (compatibility: black pixels).
  int lr_max_diff = 1;
  bool subpixel = true;
  SubpixelMethod subpixel_method = SubpixelMethod::equiangular;
  bool median = true;
  /// Removes regions of up to this many pixels; 0: none. automatic: 100, or 0 in compatibility.
  int speckle_size = automatic;
  int speckle_range = 1;  ///< largest step between neighbours in a region, in disparities
  /// Disparities below this confidence become unknown before holes are filled. 0 keeps all.
  int confidence_threshold = 0;
  /// Exponential smoothing over time: weight of the new disparity, rounded to 256ths. 1: off.
  double temporal_alpha = 1;
  /// The largest change that is smoothed, in pixels.
  int temporal_delta = 1;
  /// Number of frames for which a pixel that became unknown keeps its disparity.
  int temporal_persistence = 0;
  bool fill_holes = false;
  bool refine = true;       ///< applies a median weighted by similarity of luminance
  bool adaptive_p2 = true;  ///< lowers p2 at edges of the left picture
  /// Models slanted surfaces. The left-right check uses a refined right map, and holes are filled
  /// at the slope of the adjacent surface. With refine and subpixel, disparities are also adjusted
  /// to the pictures and smoothed along planes.
  bool slanted_surfaces = true;
  /// Standard deviation of the noise in 8-bit levels, rounded to sixteenths. Pictures are filtered
  /// according to it, and P1 and P2 are raised. 0: no filter. automatic_noise: measured in the left
  /// pictures. Only census_gradient uses it.
  double noise = automatic_noise;
  static constexpr double automatic_noise = -1;

  bool operator==(const Parameters&) const = default;
};

/// Returns the bits of a census feature, or 0 for automatic and invalid values.
CUDAVISION_HOST_DEVICE constexpr int census_bits(Config::Census census) noexcept {
  switch (census) {
    case Config::Census::symmetric_9x7:
      return 31;
    case Config::Census::neighbours_9x7:
      return 62;
    case Config::Census::neighbours_5x5:
      return 24;
    case Config::Census::census_gradient:
      return 32;
    case Config::Census::automatic:
      break;
  }
  return 0;
}

/// Replace automatic values. Defaults of P1 and P2: 14 and 60 with census_gradient and 4 paths, 10
/// and 50 with census_gradient and 8 paths, 10 and 120 with other censuses. If only one of them is
/// automatic, it is adjusted so that P1 < P2.
Config resolved(Config config) noexcept;
Parameters resolved(Parameters parameters) noexcept;

/// Translates a name of a parameter or value, such as "memory_budget", into the user's name for it.
using Wording = std::string (*)(std::string name);
inline std::string own_words(std::string name) {
  return name;
}

/// Returns an empty string if all is valid, or a message that names the parameter and its range.
std::string validation_error(const Parameters& parameters, Wording word = own_words);

/// Throws invalid_argument, with `name`, if `rows` is not `height` rows of row_bytes bytes.
void check_rows(const char* operation, const char* name, View<const std::uint8_t> rows, int height,
                int row_bytes);

bool heeds_noise(const Parameters& parameters) noexcept;

/// The encoding of disparities in the output, as signed 16-bit values.
struct DisparityScale {
  int per_pixel;          ///< 16; 1 in compatibility without subpixel
  std::uint16_t invalid;  ///< (minimum − 1)·per_pixel, which is below every disparity searched
};
DisparityScale disparity_scale(const Parameters& parameters) noexcept;

class SgmStereo {
 public:
  /// left and right must be layouts that Luminance accepts, of equal width, height and bits.
  /// Allocates all memory that later parameters may need: about 2·width·height·(disparities + 21)
  /// bytes. A GPU needs 20·width·height + 2·disparities·max(height, 6·width) bytes more. Throws
  /// invalid_argument, or out_of_memory with the requested bytes; `word` names parameters.
  SgmStereo(Device& device, const FrameLayout& left, const FrameLayout& right,
            const Parameters& parameters, Wording word = own_words);
  ~SgmStereo();

  /// Takes effect with the next run(). Never allocates. Throws invalid_argument and keeps the last
  /// valid set if parameters are invalid or their resolved Config differs from the constructor's.
  void set_parameters(const Parameters& parameters);

  /// The next frame starts a new sequence for the temporal filter and the noise estimate. Switching
  /// the temporal filter or, in compatibility, subpixel on or off has the same effect. A change of
  /// `noise` restarts only the estimate, and a scene cut (scenecut::AreaMeans) only the filter.
  void restart() noexcept;

  /// Marks pixels without a view of the scene, such as pixels of a rectified picture outside the
  /// camera's field of view. Marked pixels of the left picture are unknown, even with fill_holes,
  /// but the temporal filter may keep earlier disparities. Marked pixels of the right map become
  /// unknown before its median. The left-right check rejects left pixels that match unknown pixels.
  ///
  /// Pixel (x, y) is marked if bit x % 32 of word x / 32 of row y is set. Masks have rows of ⌈width
  /// / 32⌉ words in device memory, and must outlive this object or the next set_masks(). A view
  /// without data marks nothing. Takes effect with the next run(). Never allocates. Throws
  /// invalid_argument for masks of another size.
  void set_masks(View<const std::uint32_t> left, View<const std::uint32_t> right);

  /// disparity: width·height words in native byte order, as rows of 2·width bytes. confidence:
  /// width·height bytes, 0 to 255. Confidence measures how much worse the second-best match is,
  /// times the share of the neighbourhood that agrees. It is 0 where this pair gave no disparity,
  /// even if a disparity was filled in or kept from an earlier frame. unfilled has the format of
  /// disparity, and receives the map before it is sharpened, filled, refined and filtered over
  /// time. Pass a view without data to skip confidence or unfilled. Only enqueues work.
  void run(const ConstFrame& left, const ConstFrame& right, View<std::uint8_t> disparity,
           View<std::uint8_t> confidence = {}, View<std::uint8_t> unfilled = {});

  /// The luminances that the last run() matched, in device memory. They may be views of the frames
  /// passed to run(), and the next run() overwrites them.
  struct Pictures {
    SamplePlane left, right;
  };
  Pictures pictures() const;

  /// Returns the last noise estimate, in device memory. Null if noise is not automatic or unused.
  const NoiseState* noise_state() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace cudavision::sgm
