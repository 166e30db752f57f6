// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/pixels/luminance.h"

/// Dense stereo by Semi-Global Matching (Hirschmüller, "Stereo Processing by Semiglobal Matching
/// and Mutual Information", 2008) of census features (Zabih & Woodfill, 1994), in integers.
///
/// For each pixel (x, y) of the left picture it finds d such that the same point of the scene lies
/// at (x − d − minimum, y) of the right one; both are rectified. stages.h defines each step. They
/// follow each other so: census of both, aggregate, select, median of both maps, check,
/// remove_speckles, write_confidence, fill_holes, write; what is off is left out.
namespace cudavision::sgm {

struct Parameters {
  enum class Census : std::uint8_t {
    symmetric_9x7,   ///< 31 bits, pairs of pixels opposite each other (as libSGM)
    neighbours_9x7,  ///< 62 bits, each neighbour beside the centre
    neighbours_5x5,  ///< 24 bits
  };
  /// libsgm: every bit as libSGM 3.1.0 has it; only with Census::symmetric_9x7. adaptive_p2 has no
  /// effect.
  enum class Compatibility : std::uint8_t { none, libsgm };

  // What an object is built for.
  int disparities = 128;  ///< multiple of 32, 32 to 1024
  int minimum = 0;  ///< of the disparities searched; from −2047, minimum + disparities ≤ 2047
  int paths = 8;    ///< 4 or 8
  Census census = Census::symmetric_9x7;
  Compatibility compatibility = Compatibility::none;

  // What may change from frame to frame.
  int p1 = 10;               ///< penalty for a step of one disparity, 1 to p2 − 1
  int p2 = 120;              ///< for a larger one, at most 255 − census bits
  double uniqueness = 0.95;  ///< 0 to 1, rounded to binary32; 1 lets all winners pass
  int lr_max_diff = 1;       ///< 0 to 1024 pixels between the two maps, −1 for no check
  bool subpixel = true;
  bool median = true;
  int speckle_size = 0;   ///< pixels, 0 to 2^31 − 1; regions that small are no surfaces. 0: off
  int speckle_range = 1;  ///< disparities between neighbours of one region, 0 to 1024
  bool fill_holes = false;
  bool adaptive_p2 = true;  ///< p2 falls where the left picture has an edge

  bool operator==(const Parameters& other) const noexcept;
  bool operator!=(const Parameters& other) const noexcept { return !(*this == other); }
};

/// Bits of a census feature.
int census_bits(Parameters::Census census) noexcept;

/// What is wrong with parameters, in words that name the remedy and speak of them by the names of
/// the element's properties (p1, p2, num-disparities, min-disparity…); empty where nothing is.
std::string wrong_with(const Parameters& parameters);

/// The numbers in a map of disparities: 16-bit two's complement.
struct DisparityScale {
  int per_pixel;          ///< 16; 1 in compatibility without subpixel
  std::uint16_t invalid;  ///< (minimum − 1)·per_pixel: below all that are searched
};
DisparityScale disparity_scale(const Parameters& parameters) noexcept;

class SgmStereo {
 public:
  /// left, right: as Luminance takes them, of equal width, height and bits. Allocates what all
  /// later parameters may need: about 2·width·height·(disparities + 20) bytes, and on a
  /// GPU 2·disparities times height or 6 times width, whichever is more. Throws
  /// invalid_argument, or out_of_memory with the number of bytes that it takes.
  SgmStereo(Device& device, const FrameLayout& left, const FrameLayout& right,
            const Parameters& parameters);
  ~SgmStereo();

  /// Takes effect with the next run(). Never allocates; throws invalid_argument and keeps the last
  /// valid set, also where the new one would need another object.
  void set_parameters(const Parameters& parameters);

  /// disparity: width·height words in the machine's byte order, as rows of 2·width bytes.
  /// confidence: width·height bytes, 255·(how much worse the second best is), 0 where the disparity
  /// is not known or was filled in; a view without data where it is not wanted. Only enqueues.
  void run(const ConstFrame& left, const ConstFrame& right, View<std::uint8_t> disparity,
           View<std::uint8_t> confidence = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace cudavision::sgm
