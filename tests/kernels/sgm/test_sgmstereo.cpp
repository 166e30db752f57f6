// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using Parameters = sgm::Parameters;
using Census = Parameters::Census;
using Compatibility = Parameters::Compatibility;

CUDAVISION_RANDOM_CASES(SgmCases, make_sgm_case);
CUDAVISION_RANDOM_CASES(SlantedSgmCases, make_slanted_sgm_case);
CUDAVISION_RANDOM_CASES(NoisySgmCases, make_noisy_sgm_case);

using Change = void (*)(Parameters&);

std::vector<SgmCase> case_of(const Extreme<Change>& extreme) {
  Parameters parameters;
  parameters.noise = 0;  // automatic noise depends on previous frames
  extreme.parameters(parameters);
  return {plain_sgm_case(layout_named(extreme.layout, extreme.width, extreme.height), parameters,
                         extreme.content, 77)};
}

const Extreme<Change> extremes[] = {
    // Images smaller than the window of the census or the median, or than the disparity range.
    {"OnePixel", "GRAY8", 1, 1, Content::random, [](Parameters& p) { p.speckle_size = 0; }},
    {"OnePixelFilled", "GRAY8", 1, 1, Content::random,
     [](Parameters& p) { p.speckle_size = 0, p.median = false, p.fill_holes = true; }},
    {"OnePixelLargest", "GRAY16", 1, 1, Content::random,
     [](Parameters& p) {
       p.speckle_size = 0, p.disparities = 1024, p.census = Census::neighbours_9x7;
     }},
    {"OneRow", "GRAY8", 999, 1, Content::random,
     [](Parameters& p) { p.speckle_size = 0, p.median = false; }},
    {"OneColumn", "GRAY8", 1, 999, Content::random,
     [](Parameters& p) { p.speckle_size = 0, p.median = false; }},
    {"WidestRow", "GRAY8", 65535, 1, Content::natural, [](Parameters& p) { p.disparities = 32; }},
    {"HighestColumn", "GRAY8", 1, 65535, Content::natural,
     [](Parameters& p) { p.disparities = 32, p.speckle_size = 0, p.median = false; }},
    // CUDA has specialised kernels for up to 256 disparities.
    {"WideByteSums", "GRAY8", 20000, 3, Content::natural,
     [](Parameters& p) { p.disparities = 64; }},
    {"HighByteSums", "GRAY8", 5, 3000, Content::natural,
     [](Parameters& p) { p.disparities = 256, p.minimum = -256; }},
    {"SevenRows", "GRAY8", 130, 7, Content::random,
     [](Parameters& p) { p.compatibility = Compatibility::libsgm; }},
    // The maximum noise, and noise in images smaller than the window of the noise filter.
    {"MostNoise", "GRAY8", 211, 45, Content::random,
     [](Parameters& p) { p.noise = 30, p.disparities = 64; }},
    {"MostNoiseAndLargestPenalties", "GRAY8", 90, 45, Content::random,
     [](Parameters& p) { p.noise = 30, p.p1 = 222, p.p2 = 223; }},
    {"NoiseAndNoRoomForPenalties", "GRAY8", 90, 45, Content::natural,
     [](Parameters& p) { p.noise = 5, p.p1 = 57, p.p2 = 60; }},
    {"NoiseOfOnePixel", "GRAY8", 1, 1, Content::random,
     [](Parameters& p) { p.noise = 5, p.speckle_size = 0; }},
    {"NoiseOfOneColumn", "GRAY8", 1, 999, Content::random,
     [](Parameters& p) { p.noise = 5, p.speckle_size = 0, p.median = false; }},
    {"NoiseOfEightPaths", "P010", 211, 33, Content::natural,
     [](Parameters& p) { p.noise = 5, p.paths = 8, p.minimum = -64; }},
    {"NoiseOfManyDisparities", "GRAY8", 401, 9, Content::natural,
     [](Parameters& p) { p.noise = 2, p.disparities = 512; }},
    // Extreme ranges of disparities.
    {"LargestMinimum", "GRAY8", 140, 9, Content::random,
     [](Parameters& p) { p.minimum = 2047 - 128; }},
    {"LeastMinimum", "GRAY8", 140, 9, Content::random, [](Parameters& p) { p.minimum = -2047; }},
    {"LeastMinimumLibsgm", "GRAY8", 140, 9, Content::random,
     [](Parameters& p) { p.minimum = -2047, p.compatibility = Compatibility::libsgm; }},
    {"MostDisparities", "GRAY8", 1100, 3, Content::random,
     [](Parameters& p) { p.disparities = 1024, p.median = false; }},
    {"RightOfTheRightPicture", "GRAY8", 90, 25, Content::natural,
     [](Parameters& p) { p.minimum = -150, p.disparities = 64; }},
    {"LeftOfTheRightPicture", "P010", 90, 25, Content::natural,
     [](Parameters& p) { p.minimum = 70, p.disparities = 64; }},
    // Extreme penalties, with the largest costs and sums.
    {"LargestPenalties32", "GRAY8", 90, 45, Content::random,
     [](Parameters& p) { p.paths = 8, p.p1 = 222, p.p2 = 223, p.adaptive_p2 = false; }},
    {"LargestPenalties62", "GRAY16", 90, 45, Content::random,
     [](Parameters& p) { p.paths = 8, p.p1 = 192, p.p2 = 193, p.census = Census::neighbours_9x7; }},
    {"LargestPenalties24", "GRAY8", 90, 45, Content::two_valued,
     [](Parameters& p) { p.paths = 8, p.p1 = 1, p.p2 = 231, p.census = Census::neighbours_5x5; }},
    {"LeastPenalties", "GRAY8", 90, 45, Content::random, [](Parameters& p) { p.p1 = 1, p.p2 = 2; }},
    // Images with little or no texture, for which many sums are equal.
    {"Black", "GRAY8", 90, 45, Content::zeros, [](Parameters& p) { p.fill_holes = true; }},
    {"BlackLibsgm", "GRAY8", 90, 45, Content::zeros,
     [](Parameters& p) { p.compatibility = Compatibility::libsgm, p.lr_max_diff = -1; }},
    {"Spark", "GRAY8", 90, 45, Content::spark, [](Parameters& p) { p.uniqueness = 0; }},
    // All regions are speckles.
    {"OnlySpeckles", "GRAY8", 90, 45, Content::natural,
     [](Parameters& p) { p.speckle_size = 0x7fffffff, p.fill_holes = true; }},
    // The strictest left-right check.
    {"EqualDisparitiesOnly", "GRAY8", 90, 45, Content::natural,
     [](Parameters& p) { p.lr_max_diff = 0; }},
    // Several chunks of columns or bands of rows. 64, 128 and 256 disparities have specialised
    // kernels. Up to 2·P2 + 3·bits = 255, sums of 8 paths fit into bytes.
    {"EightPathsInBytes", "GRAY8", 211, 75, Content::natural,
     [](Parameters& p) { p.paths = 8, p.disparities = 64; }},
    {"EightPathsInFullBytes", "GRAY8", 97, 46, Content::random,
     [](Parameters& p) {
       p.paths = 8, p.disparities = 128, p.adaptive_p2 = false;
       p.census = Census::symmetric_9x7, p.p1 = 20, p.p2 = 81;
     }},
    {"EightPathsTooLargeForBytes", "GRAY8", 97, 46, Content::random,
     [](Parameters& p) {
       p.paths = 8, p.disparities = 128, p.adaptive_p2 = false;
       p.census = Census::symmetric_9x7, p.p1 = 20, p.p2 = 82;
     }},
    {"EightPathsHigherThanWide", "GRAY8", 19, 150, Content::natural,
     [](Parameters& p) { p.paths = 8, p.disparities = 256; }},
    {"AsBeforeCensusGradient", "P010", 211, 75, Content::natural,
     [](Parameters& p) {
       p.census = Census::symmetric_9x7, p.paths = 8, p.refine = false, p.speckle_size = 0;
       p.slanted_surfaces = false;
       p.subpixel_method = Parameters::SubpixelMethod::parabola;
     }},
    {"LibsgmWhole", "GRAY8", 211, 75, Content::natural,
     [](Parameters& p) { p.compatibility = Compatibility::libsgm, p.subpixel = false; }},
};

CUDAVISION_TABLE_CASES(SgmExtremes, extremes, case_of);

/// Pairs that are too large for the slow definition; CUDA is compared with the CPU only.
const Extreme<Change> large[] = {
    {"Vga", "GRAY8", 640, 480, Content::natural, [](Parameters&) {}},
    {"VgaEightPaths", "GRAY8", 640, 480, Content::natural,
     [](Parameters& p) { p.paths = 8, p.census = Census::symmetric_9x7; }},
    {"VgaEightPathsInBytes", "NV12", 641, 479, Content::natural,
     [](Parameters& p) { p.paths = 8, p.disparities = 128; }},
    {"VgaFourPaths", "NV12", 641, 479, Content::natural,
     [](Parameters& p) { p.paths = 4, p.disparities = 64, p.speckle_size = 100; }},
    {"VgaLibsgm", "GRAY8", 640, 480, Content::random,
     [](Parameters& p) { p.compatibility = Compatibility::libsgm; }},
    {"VgaNeighbours", "P010", 640, 480, Content::natural,
     [](Parameters& p) {
       p.census = Census::neighbours_9x7, p.disparities = 256, p.speckle_size = 1000;
       p.fill_holes = true;
     }},
    {"VgaMost", "GRAY8", 640, 480, Content::natural, [](Parameters& p) { p.disparities = 1024; }},
    {"FullHd", "RGBx", 1920, 1080, Content::natural,
     [](Parameters& p) { p.speckle_size = 200, p.fill_holes = true; }},
    {"FullHdEightPaths", "GRAY8", 1920, 1080, Content::natural,
     [](Parameters& p) { p.paths = 8, p.disparities = 64; }},
};

CUDAVISION_CUDA_TABLE_CASES(SgmLarge, large, case_of);

}  // namespace
}  // namespace cudavision::test
