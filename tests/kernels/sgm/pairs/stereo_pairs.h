// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdlib>
#include <iosfwd>
#include <string>
#include <vector>

#include "tests/kernels/common/pictures/png.h"
#include "tests/kernels/common/settings.h"
#include "tests/kernels/sgm/sgm_case.h"

/// Real pairs of images with known disparities, and scores of maps. The pairs are not part of the
/// project. CUDAVISION_STEREO_PAIRS names a folder that holds one folder for each pair, with these
/// files:
///   left.png, right.png        the gray images
///   truth_x16.png              true disparities of the left image in sixteenths, 0 if unknown
///   libsgm_d<disparities>_p<paths>_sub<subpixel>.png
///                              the map of libSGM 3.1.0 with libSGM's defaults
namespace cudavision::test {

struct Scene {
  const char* name;
  int disparities;
  /// Limits of the shares of pixels that are missing or off by more than 1 or 0.5 pixels.
  double max_wrong, max_wrong_by_half;
};

constexpr Scene scenes[] = {
    {"cones", 64, 0.089, 0.111},   {"teddy", 64, 0.088, 0.141}, {"venus", 64, 0.012, 0.026},
    {"tsukuba", 64, 0.040, 0.104}, {"aloe", 256, 0.108, 0.335},
};

void PrintTo(const Scene& scene, std::ostream* stream);

/// Reads a file of a pair. `name`: left, right, truth_x16 or libsgm_…
GrayPicture picture_of(const Scene& scene, const std::string& name);

void add_noise(std::vector<std::uint8_t>& picture, double levels, Random& random);

SgmCase case_of(const Scene& scene, const sgm::Parameters& parameters);
SgmInput input_of(const Scene& scene, const SgmCase& test);

struct PairMaps {
  Map disparities;
  std::vector<std::uint8_t> confidence;
};
PairMaps matched(Device& device, const Scene& scene, const sgm::Parameters& parameters);
PairMaps matched(Device& device, const SgmCase& test, const SgmInput& input);

/// Errors over the pixels whose true disparity is known. Maps hold sixteenths of a pixel.
struct Score {
  double wrong_or_missing;  ///< share of the filled map that is invalid or off by more than 1 pixel
  double wrong_by_half;  ///< share of the filled map that is invalid or off by more than 0.5 pixels
  double known;       ///< share that is valid before filling; the errors below are over this share
  double mean_error;  ///< in pixels
  double off[3];      ///< shares that are off by more than 0.5, 1 and 2 pixels
};
Score score_of(const Map& truth, const Map& map, const Map& filled, std::uint16_t invalid);
/// Matches a pair with added noise. Without `fills`, the filled map is the unfilled map.
Score score_of(Device& device, const Scene& scene, sgm::Parameters parameters, bool fills,
               double noise = 0);
std::string text_of(const Score& score);

/// Returns the area under the ROC curve of confidence as a classifier of right and wrong pixels.
double confidence_area(const Map& truth, const PairMaps& maps, std::uint16_t invalid);

}  // namespace cudavision::test

#define CUDAVISION_NEEDS_PAIRS()                                                             \
  do {                                                                                       \
    if (!std::getenv("CUDAVISION_STEREO_PAIRS"))                                             \
      GTEST_SKIP() << "no real pairs to match: set CUDAVISION_STEREO_PAIRS to their folder"; \
    if (cudavision::test::settings().small)                                                  \
      GTEST_SKIP() << "real pairs are not matched while CUDAVISION_TEST_MAX_PIXELS is set";  \
  } while (false)
