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
/// and Mutual Information", 2008) of census features (Zabih & Woodfill, 1994), in integers.
///
/// For each pixel (x, y) of the left picture it finds the disparity d such that pixel
/// (x − d − minimum, y) of the right picture shows the same point of the scene. Both pictures are
/// rectified. The stages run in this order: estimate_noise, filter_noise and census of both
/// pictures, aggregate, select, Median of both maps, Refine of the right map, Check,
/// RemoveSpeckles, WriteConfidence or KeepConfident, Sharpen, Refine, FillSlopes, RefineFilled,
/// Smooth, FilterOverTime, Write. Stages that the parameters switch off are skipped. Without
/// slanted_surfaces and in compatibility, the right map is not refined, and FillHoles and Refine,
/// in this order, replace the stages from Sharpen to Smooth.
/// backend.h and mapstages.h define what each stage computes.
namespace cudavision::sgm {

struct NoiseState;

/// The parameters that an SgmStereo is built for. Memory and kernels depend on them.
struct Config {
  enum class Census : std::uint8_t {
    symmetric_9x7,    ///< 31 bits: compares pixels opposite each other, as libSGM does
    neighbours_9x7,   ///< 62 bits: compares each neighbour with the centre
    neighbours_5x5,   ///< 24 bits: likewise
    census_gradient,  ///< 32 bits: compares 16 neighbours with the mean, and codes the slope
    automatic,        ///< census_gradient, or symmetric_9x7 in compatibility
  };
  /// libsgm gives the same bits as libSGM 3.1.0. It needs Census::symmetric_9x7 and ignores
  /// adaptive_p2, subpixel_method, refine and slanted_surfaces.
  enum class Compatibility : std::uint8_t { none, libsgm };

  /// In sixteenths of a pixel, disparities up to this many pixels fit signed 16 bits.
  static constexpr int max_disparity = 2047;
  static constexpr int disparity_step = 32;
  struct Ranges {
    static constexpr Range<int> disparities{disparity_step, 1024};
    /// minimum + disparities ≤ max_disparity
    static constexpr Range<int> minimum{-max_disparity, max_disparity - disparity_step};
    static constexpr Range<int> paths{4, 8};  ///< one of these two
  };

  int disparities = 128;  ///< a multiple of disparity_step
  int minimum = 0;        ///< the smallest disparity searched
  int paths = automatic;  ///< automatic: 4, or 8 in compatibility
  Census census = Census::automatic;
  Compatibility compatibility = Compatibility::none;
  /// Device memory for the sums of path costs: up to 1, a share of what is free when the object is
  /// made; above 1, bytes. Larger pictures are matched in bands of rows, with the same result. The
  /// CPU device ignores it.
  double memory_budget = 0.25;

  /// Stands for the value that suits the other parameters. It lies in no range.
  static constexpr int automatic = std::numeric_limits<int>::min();

  bool libsgm() const noexcept { return compatibility == Compatibility::libsgm; }

  bool operator==(const Config&) const = default;
};

/// All parameters: those above, and those that may change from one frame to the next.
struct Parameters : Config {
  /// How a disparity is refined to sixteenths of a pixel: by the vertex of two lines of equal and
  /// opposite slope, or of a parabola.
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
  /// Penalty for a larger step, from 2 to Ranges::p2.max − census bits, so that path costs fit a
  /// byte. 0: automatic.
  int p2 = 0;
  double uniqueness = 0.95;  ///< rounded to binary32; 1 keeps every winner
  int lr_max_diff = 1;       ///< left-right check, in pixels; −1 for no check
  bool subpixel = true;
  SubpixelMethod subpixel_method = SubpixelMethod::equiangular;
  bool median = true;
  /// Removes regions of up to this many pixels; 0: none. automatic: 100, or 0 in compatibility.
  int speckle_size = automatic;
  int speckle_range = 1;  ///< disparities between neighbours of one region
  /// Disparities of less confidence become unknown, before holes are filled. 0 keeps all.
  int confidence_threshold = 0;
  /// The weight of a new disparity against those of the frames before it, rounded to 256ths; 1 for
  /// no smoothing. Smooths exponentially over time.
  double temporal_alpha = 1;
  /// Only disparities that changed by at most this are smoothed, in pixels.
  int temporal_delta = 1;
  /// The number of frames for which a pixel that became unknown keeps its disparity.
  int temporal_persistence = 0;
  bool fill_holes = false;
  bool refine = true;       ///< smooths the disparities of each surface, at the end
  bool adaptive_p2 = true;  ///< p2 falls where the left picture has an edge
  /// Treats surfaces as planes that slant. The left-right check then compares with a refined right
  /// map, and holes are filled at the slope of the surface beside them. With refine and subpixel,
  /// disparities are also sharpened by the pictures and smoothed along planes.
  bool slanted_surfaces = true;
  /// Standard deviation of the pictures' noise in levels of 8 bits, rounded to sixteenths. Features
  /// and penalties are then those of pictures that are filtered to this noise. 0: they are taken as
  /// they are. automatic_noise: it is measured in the left pictures. Only census_gradient without
  /// compatibility heeds it.
  double noise = automatic_noise;
  static constexpr double automatic_noise = -1;

  bool operator==(const Parameters&) const = default;
};

/// Returns the number of bits of a census feature, or 0 if there is no such census.
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

/// Replace automatic values by those that they stand for. P1 and P2 are 14 and 60 with
/// census_gradient and 4 paths, 10 and 50 with census_gradient and 8 paths, and 10 and 120 with any
/// other census. If only one of them is automatic, it gives way to the other, so that P1 < P2.
Config resolved(Config config) noexcept;
Parameters resolved(Parameters parameters) noexcept;

/// Returns the word by which users know a parameter or a value of one, whose name here is `name`:
/// "memory_budget", "census_gradient".
using Wording = std::string (*)(std::string name);
inline std::string own_words(std::string name) {
  return name;
}

/// Returns an empty string for valid parameters. Otherwise returns a sentence without its full
/// stop, which names the parameter and the values that it may have.
std::string validation_error(const Parameters& parameters, Wording word = own_words);

/// Returns true if the parameters filter the pictures to their noise.
bool heeds_noise(const Parameters& parameters) noexcept;

/// Describes how a map stores disparities, which are in 16-bit two's complement.
struct DisparityScale {
  int per_pixel;          ///< 16; 1 in compatibility without subpixel
  std::uint16_t invalid;  ///< (minimum − 1)·per_pixel, which is below every disparity searched
};
DisparityScale disparity_scale(const Parameters& parameters) noexcept;

class SgmStereo {
 public:
  /// left and right must be layouts that Luminance accepts, of equal width, height and bits.
  /// Allocates all the memory that any later parameters need: about 2·width·height·(disparities +
  /// 21) bytes, and on a GPU 20·width·height more, and 2·disparities times height or 6 times width,
  /// whichever is more. Throws invalid_argument, or out_of_memory with the number of bytes asked
  /// for. All errors of this object name parameters by `word`.
  SgmStereo(Device& device, const FrameLayout& left, const FrameLayout& right,
            const Parameters& parameters, Wording word = own_words);
  ~SgmStereo();

  /// Takes effect with the next run(). Never allocates. Throws invalid_argument and keeps the last
  /// valid set if parameters are invalid or their Config, resolved, differs from the constructor's.
  void set_parameters(const Parameters& parameters);

  /// Makes the next frame the first one of a sequence, for the filter over time and for the noise's
  /// estimate. That also happens if this filter has been switched on, and, for the filter alone, if
  /// the left picture shows another scene (scenecut::AreaMeans).
  void restart() noexcept;

  /// Marks pixels that show nothing of the scene, such as those of a rectified picture that its
  /// camera does not see. A marked pixel of the left picture is always unknown, also with
  /// fill_holes. So is one that the left-right check compares with a marked pixel of the right one.
  ///
  /// Pixel (x, y) is marked if bit x % 32 of word x / 32 of row y is set. Each mask has rows of
  /// width / 32 words, rounded up, in device memory, and must outlive this object or the next call;
  /// a view without data marks nothing. Takes effect with the next run(). Never allocates. Throws
  /// invalid_argument for masks of another size.
  void set_masks(View<const std::uint32_t> left, View<const std::uint32_t> right);

  /// disparity has width·height words in the machine's byte order, as rows of 2·width bytes.
  /// confidence has width·height bytes: how much worse the second best is, times the share of the
  /// surroundings that agree, up to 255; 0 where this pair of pictures gave no disparity, even if
  /// one was filled in or kept from a frame before. unfilled has the form of disparity, and gets
  /// the map as it is before it is sharpened, filled, refined and filtered over time. Pass a view
  /// without data to skip either. Only enqueues.
  void run(const ConstFrame& left, const ConstFrame& right, View<std::uint8_t> disparity,
           View<std::uint8_t> confidence = {}, View<std::uint8_t> unfilled = {});

  /// The luminances, on the device, that the last run() has matched. They may lie in its frames.
  /// The next run() overwrites them.
  struct Pictures {
    SamplePlane left, right;
  };
  Pictures pictures() const;

  /// Returns the state of the noise's estimate, on the device, as of the last run(). Null if noise
  /// is not automatic or has no effect.
  const NoiseState* noise_state() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace cudavision::sgm
