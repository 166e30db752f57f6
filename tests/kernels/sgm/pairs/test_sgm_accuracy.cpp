// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

constexpr double pi = 3.14159265358979323846;

/// A texture that can be sampled between pixels: a sum of waves in all directions.
class Texture {
 public:
  Texture() {
    Random random(1);
    for (Wave& wave : waves_) {
      const double frequency = 0.02 * std::pow(5, random.between(0, 1000) / 1000.0);
      const double direction = random.between(0, 999) * 2 * pi / 1000;
      wave = {2 * pi * frequency * std::cos(direction), 2 * pi * frequency * std::sin(direction),
              random.between(0, 999) * 2 * pi / 1000};
    }
  }

  std::uint16_t at(double x, double y) const {
    double sum = 0;
    for (const Wave& wave : waves_)
      sum += std::sin(wave.x * x + wave.y * y + wave.phase);
    return static_cast<std::uint16_t>(std::clamp(32768 + 1760 * sum, 0.0, 65535.0));
  }

 private:
  struct Wave {
    double x, y, phase;
  };
  Wave waves_[40];
};

constexpr int width = 200, height = 100;
// The margins exclude pixels with a census window or a match that is partly outside the image.
constexpr int left_margin = 40, margin = 8;

using Truth = std::function<double(int x, int y)>;

Map matched(Device& device, const sgm::Parameters& parameters, const Truth& truth) {
  const Texture texture;
  SgmCase test = plain_sgm_case(gray_layout(width, height, 16), parameters, Content::random, 0);
  SgmInput input{std::vector<std::uint8_t>(test.left.bytes),
                 std::vector<std::uint8_t>(test.right.bytes)};
  const auto put = [](std::vector<std::uint8_t>& block, int x, int y, std::uint16_t value) {
    std::memcpy(block.data() + 2 * (y * width + x), &value, 2);
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      put(input.right, x, y, texture.at(x, y));
      put(input.left, x, y, texture.at(x - truth(x, y), y));
    }
  const SgmOutput output = SgmRunner(device, test).run(input, 0xcd);
  Map map(static_cast<std::size_t>(width * height));
  std::memcpy(map.data(), output.disparity.data(), 2 * map.size());
  return map;
}

struct Errors {
  Errors(const Map& map, const sgm::Parameters& parameters, const Truth& truth) {
    const auto invalid = static_cast<std::int16_t>(disparity_scale(parameters).invalid);
    int count = 0;
    for (int y = margin; y < height - margin; ++y)
      for (int x = left_margin; x < width - margin; ++x) {
        const auto number = static_cast<std::int16_t>(map[y * width + x]);
        missing += number == invalid;
        const double error = number - 16 * truth(x, y);
        mean += error;
        size += std::abs(error);
        largest = std::max(largest, std::abs(error));
        ++count;
      }
    mean /= count;
    size /= count;
  }

  int missing = 0;
  double mean = 0, size = 0, largest = 0;
};

CUDAVISION_ON_BOTH_DEVICES(SgmAccuracy);

/// Tests whole disparities, and half disparities, for which both neighbours have equal costs.
TEST_P(SgmAccuracy, FrontalPlanesAreFound) {
  for (const double disparity : {-4.0, 0.0, 7.0, 10.0, 10.5, 20.5}) {
    SCOPED_TRACE(disparity);
    sgm::Parameters parameters = few_disparities();
    parameters.minimum = disparity < 0 ? -12 : 0;
    const Truth truth = [=](int, int) { return disparity; };
    const Errors errors(matched(device, parameters, truth), parameters, truth);
    EXPECT_EQ(errors.missing, 0);
    EXPECT_LE(std::abs(errors.mean), 0.5);
    EXPECT_LE(errors.size, disparity == std::floor(disparity) ? 0.5 : 2);
  }
}

/// A plane that slants along rows, and a plane that slants along rows and columns.
const Truth slants[] = {
    [](int x, int) { return 5 + x / 32.0; },
    [](int x, int y) { return 4 + x / 40.0 + y / 20.0; },
};

TEST_P(SgmAccuracy, SlantsAreFoundWithinTwoSixteenths) {
  for (const Truth& truth : slants) {
    const Errors errors(matched(device, few_disparities(), truth), few_disparities(), truth);
    EXPECT_EQ(errors.missing, 0);
    EXPECT_LE(std::abs(errors.mean), 0.5);
    EXPECT_LE(errors.size, 2);
    EXPECT_LE(errors.largest, 8);
  }
}

}  // namespace
}  // namespace cudavision::test
