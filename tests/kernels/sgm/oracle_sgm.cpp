// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares speckle removal with cv::filterSpeckles, points with cv::reprojectImageTo3D, and the
// accuracy on real pairs with cv::StereoSGBM and libSGM.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>

#include "cuda/sgm/points/points.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/pairs/stereo_pairs.h"
#include "tests/kernels/sgm/stages/sgm_stage_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

/// OpenCV's maps are signed, so it reads the bits of `unknown` as −1.
TEST(OracleSpeckles, AreThoseOfOpencv) {
  const auto device = make_cpu_device();
  int removed = 0, kept = 0;
  for_each_case_number([&](int number) {
    const SgmStageCase test = make_sgm_stage_case(settings().seed, number, settings().max_pixels);
    SCOPED_TRACE(describe(test));
    Map ours = test.left, theirs = test.left;
    sgm::make_stages(*device, test.config)
        ->run(sgm::RemoveSpeckles{test.speckle_size, test.max_step, ours.data()});
    cv::Mat image(test.config.height, test.config.width, CV_16S, theirs.data());
    cv::filterSpeckles(image, -1, test.speckle_size, test.max_step);
    EXPECT_TRUE(ours == theirs);
    (ours == test.left ? kept : removed) += 1;
  });
  // With few cases, speckle removal may change all maps or none.
  if (settings().cases < 30 || settings().only_case >= 0)
    return;
  EXPECT_GT(removed, 0);
  EXPECT_GT(kept, 0);
}

int places_between(float a, float b) {
  std::int32_t bits[2];
  std::memcpy(&bits[0], &a, 4);
  std::memcpy(&bits[1], &b, 4);
  // Converts sign and magnitude to two's complement, so that differences count ulps.
  for (std::int32_t& number : bits)
    if (number < 0)
      number = std::numeric_limits<std::int32_t>::min() - number;
  return static_cast<int>(std::min<std::int64_t>(std::abs(std::int64_t{bits[0]} - bits[1]),
                                                 std::numeric_limits<int>::max()));
}

/// Results may differ by 1 ulp, because OpenCV rounds once more and its operations may be fused.
TEST(OraclePoints, AreThoseOfOpencv) {
  const auto device = make_cpu_device();
  Random random(settings().seed);
  int points_compared = 0, equal = 0;
  for (int number = 0; number < settings().cases && !HasFailure(); ++number) {
    const auto [width, height] =
        random_picture_size(random, std::min(settings().max_pixels, 20000));
    Parameters parameters = random_sgm_parameters(random);
    Reprojection q = reprojection_of(random.between(1, 500000) / 70.0,
                                     random.between(1, 500000) / 300.0, width, height);
    q[0][3] += random.between(-1000, 1000) / 7.0;
    q[1][3] += random.between(-1000, 1000) / 7.0;
    q[3][3] = q[3][2] * random.between(-1000, 1000) / 7.0;
    const DisparityScale scale = disparity_scale(parameters);
    const int span = scale.per_pixel * (parameters.disparities - 1);
    std::vector<std::uint16_t> map;
    cv::Mat disparities(height, width, CV_32F), matrix(4, 4, CV_64F), theirs;
    for (int i = 0; i < width * height; ++i) {
      const int v = scale.per_pixel * parameters.minimum + random.between(0, span);
      map.push_back(static_cast<std::uint16_t>(v));
      disparities.ptr<float>()[i] = static_cast<float>(v) / static_cast<float>(scale.per_pixel);
    }
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 4; ++k)
        matrix.at<double>(i, k) = q[i][k];
    cv::reprojectImageTo3D(disparities, theirs, matrix, false, CV_32F);

    std::vector<float> ours(map.size() * 3);
    Points(*device, width, height, parameters, q)
        .run({reinterpret_cast<const std::uint8_t*>(map.data()), 2 * width, height, 2 * width},
             {reinterpret_cast<std::uint8_t*>(ours.data()), 12 * width, height, 12 * width});
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const float expected = theirs.ptr<float>()[i];
      // OpenCV returns points behind the cameras or at infinity, for which ours are NaN.
      const float z = theirs.ptr<float>()[i / 3 * 3 + 2];
      if (!(z > 0) || std::isinf(z)) {
        EXPECT_TRUE(std::isnan(ours[i]));
        continue;
      }
      ASSERT_LE(places_between(ours[i], expected), 1) << ours[i] << " instead of " << expected;
      ++points_compared;
      equal += ours[i] == expected ? 1 : 0;
    }
  }
  EXPECT_GT(points_compared, 0);
  EXPECT_GT(equal, points_compared * 0.8);
}

/// A camera fault. spoil() applies the fault to a pair of dense images of the given width.
struct Cameras {
  const char* name;
  void (*spoil)(SgmInput& pair, std::size_t width);
};

void leave(SgmInput&, std::size_t) {}

template <int levels>
void add_noise_to_both(SgmInput& pair, std::size_t) {
  Random random(7);
  add_noise(pair.left, levels, random);
  add_noise(pair.right, levels, random);
}

void brighten_right(SgmInput& pair, std::size_t) {
  for (std::uint8_t& level : pair.right)
    level = static_cast<std::uint8_t>(std::min(255L, std::lround(1.25 * level)));
}

void lower_right_by_a_row(SgmInput& pair, std::size_t width) {
  std::copy_backward(pair.right.begin(), pair.right.end() - width, pair.right.end());
}

constexpr Cameras as_they_are{"as they are", leave};
constexpr Cameras worse_cameras[] = {{"noise of 5 levels", add_noise_to_both<5>},
                                     {"noise of 10 levels", add_noise_to_both<10>},
                                     {"the right one brighter", brighten_right},
                                     {"the right one lower by a row", lower_right_by_a_row}};

struct Seen {
  Seen(const Scene& which, const Cameras& cameras)
      : scene(which), left(picture_of(which, "left")), input(input_of(which, case_of(which, {}))) {
    cameras.spoil(input, static_cast<std::size_t>(left.width));
  }

  const Scene& scene;
  const GrayPicture left;
  SgmInput input;
};

struct Maps {
  Map holed, filled;
};

Maps our_maps(Device& device, const Seen& pair, sgm::Parameters parameters) {
  parameters.disparities = pair.scene.disparities;
  parameters.speckle_size = 100;
  Maps maps;
  maps.holed = matched(device, case_of(pair.scene, parameters), pair.input).disparities;
  parameters.fill_holes = true;
  maps.filled = matched(device, case_of(pair.scene, parameters), pair.input).disparities;
  return maps;
}

/// The default parameters before census_gradient was introduced.
sgm::Parameters parameters_before() {
  sgm::Parameters parameters;
  parameters.census = sgm::Config::Census::symmetric_9x7;
  parameters.paths = 8;
  parameters.subpixel_method = sgm::Parameters::SubpixelMethod::parabola;
  parameters.refine = false;
  parameters.slanted_surfaces = false;
  return parameters;
}

sgm::Parameters parameters_of_libsgm() {
  sgm::Parameters parameters;
  parameters.compatibility = sgm::Config::Compatibility::libsgm;
  return parameters;
}

/// Returns the maps of cv::StereoSGBM with its best settings, the speckle size of our maps and our
/// hole filling. The images are padded, because StereoSGBM does not match the leftmost columns.
Maps opencv_maps(Device& device, const Seen& pair) {
  const int width = pair.left.width, height = pair.left.height;
  SgmInput input = pair.input;
  const cv::Mat left_image(height, width, CV_8U, input.left.data());
  const cv::Mat right_image(height, width, CV_8U, input.right.data());
  constexpr int block = 3, area = block * block;
  cv::Mat padded_left, padded_right, image;
  for (const auto& [from, to] :
       {std::pair{&left_image, &padded_left}, {&right_image, &padded_right}})
    cv::copyMakeBorder(*from, *to, 0, 0, pair.scene.disparities, 0, cv::BORDER_REPLICATE);
  cv::StereoSGBM::create(0, pair.scene.disparities, block, 8 * area, 32 * area, 1, 63, 10, 100, 1,
                         cv::StereoSGBM::MODE_HH)
      ->compute(padded_left, padded_right, image);
  Maps maps;
  for (int y = 0; y < image.rows; ++y)
    for (int x = pair.scene.disparities; x < image.cols; ++x)
      maps.holed.push_back(static_cast<std::uint16_t>(image.at<std::int16_t>(y, x)));
  maps.filled = maps.holed;
  sgm::StageConfig config;
  config.width = width;
  config.height = height;
  const std::uint16_t invalid = disparity_scale({}).invalid;
  std::replace(maps.filled.begin(), maps.filled.end(), invalid, sgm::unknown);
  sgm::make_stages(device, config)->run(FillHoles{maps.filled.data()});
  return maps;
}

constexpr const char* matchings[] = {"default", "before", "libSGM", "OpenCV"};
using Scores = std::array<Score, std::size(matchings)>;

Scores scores_of(Device& device, const Seen& pair) {
  const Map truth = picture_of(pair.scene, "truth_x16").values;
  const Maps maps[] = {our_maps(device, pair, {}), our_maps(device, pair, parameters_before()),
                       our_maps(device, pair, parameters_of_libsgm()), opencv_maps(device, pair)};
  Scores scores{};
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] = score_of(truth, maps[i].holed, maps[i].filled, disparity_scale({}).invalid);
  return scores;
}

/// Prints the table of errors on five pairs in docs/elements/stereo-accuracy.md.
TEST(OracleAccuracy, DefaultIsTruerThanOpencvAndLibsgm) {
  CUDAVISION_NEEDS_PAIRS();
  const auto device = make_cpu_device();
  for (const Scene& scene : scenes) {
    const Scores scores = scores_of(*device, Seen(scene, as_they_are));
    for (std::size_t i = 0; i < scores.size(); ++i) {
      std::printf("%s, %s: %s\n", scene.name, matchings[i], text_of(scores[i]).c_str());
      if (i > 0) {
        EXPECT_LT(scores[0].wrong_or_missing, scores[i].wrong_or_missing) << matchings[i];
      }
    }
  }
}

/// Prints the table of errors with worse cameras: mean shares of wrong or missing pixels.
TEST(OracleAccuracy, DefaultIsTruerWithWorseCameras) {
  CUDAVISION_NEEDS_PAIRS();
  const auto device = make_cpu_device();
  for (const Cameras& cameras : worse_cameras) {
    std::array<double, std::size(matchings)> means{};
    for (const Scene& scene : scenes) {
      const Scores scores = scores_of(*device, Seen(scene, cameras));
      for (std::size_t i = 0; i < means.size(); ++i)
        means[i] += scores[i].wrong_or_missing / static_cast<double>(std::size(scenes));
    }
    for (std::size_t i = 0; i < means.size(); ++i) {
      std::printf("%s, %s: %.4f\n", cameras.name, matchings[i], means[i]);
      if (i > 0) {
        EXPECT_LT(means[0], means[i]) << matchings[i];
      }
    }
  }
}

}  // namespace
}  // namespace cudavision::test
