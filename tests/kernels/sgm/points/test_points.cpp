// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares Points with the definition for random maps, and tests its refusals.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "cuda/sgm/points/points.h"
#include "tests/kernels/common/allocations/no_allocations.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

constexpr std::uint8_t poison = 0xcd;

/// The bits of a point's coordinates, so that NaNs compare equal.
using PointBits = std::array<std::uint32_t, 3>;

PointBits bits_of(const std::array<float, 3>& point) {
  PointBits bits;
  std::memcpy(bits.data(), point.data(), sizeof bits);
  return bits;
}

constexpr PointBits unknown = {0x7fc00000, 0x7fc00000, 0x7fc00000};

PointBits defined_point(const Parameters& parameters, const Reprojection& q, int x, int y,
                        std::uint16_t number) {
  const DisparityScale scale = disparity_scale(parameters);
  if (number == scale.invalid)
    return unknown;
  const double v[4] = {static_cast<double>(x), static_cast<double>(y),
                       static_cast<std::int16_t>(number) / static_cast<double>(scale.per_pixel), 1};
  double h[4];
  for (std::size_t i = 0; i < 4; ++i) {
    volatile double sum = 0;  // volatile, so that no compiler fuses or reorders the sum
    for (std::size_t k = 0; k < 4; ++k) {
      volatile double product = q[i][k] * v[k];
      sum = sum + product;
    }
    h[i] = sum;
  }
  if (!(h[3] > 0) || std::isinf(1 / h[3]))
    return unknown;
  const double inverse = 1 / h[3];
  return bits_of({static_cast<float>(h[0] * inverse), static_cast<float>(h[1] * inverse),
                  static_cast<float>(h[2] * inverse)});
}

struct PointsCase {
  PointsCase(int w, int h, const Parameters& sgm, const Reprojection& reprojection, Random& random)
      : width(w),
        height(h),
        parameters(sgm),
        q(reprojection),
        map_layout(gray_layout(w, h, 16)),
        out_layout(gray_layout(12 * w, h, 8)),
        map_placement(random_placement(map_layout, random)),
        placement(random_placement(out_layout, random)) {
    const DisparityScale scale = disparity_scale(sgm);
    const int span = scale.per_pixel * (sgm.disparities - 1) + 1;
    for (int i = 0; i < w * h; ++i)
      numbers.push_back(random.one_in(11)
                            ? scale.invalid
                            : static_cast<std::uint16_t>(scale.per_pixel * sgm.minimum +
                                                         random.between(0, span - 1)));
  }

  std::vector<std::uint8_t> map_block() const {
    std::vector<std::uint8_t> block(map_placement.bytes, 0x11);
    put_rows(numbers, frame_in(map_layout, map_placement, block.data()).planes[0]);
    return block;
  }

  std::vector<std::uint8_t> expected() const {
    std::vector<std::uint8_t> block(placement.bytes, poison);
    const View<std::uint8_t> rows = frame_in(out_layout, placement, block.data()).planes[0];
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const PointBits point = defined_point(parameters, q, x, y, numbers[y * width + x]);
        std::memcpy(rows.row(y) + 12 * x, point.data(), sizeof point);
      }
    return block;
  }

  std::vector<std::uint8_t> computed(Device& device) const {
    const DeviceBlock<std::uint8_t> map(device, map_block());
    const DeviceBlock<std::uint8_t> out(device, std::vector<std::uint8_t>(placement.bytes, poison));
    Points points(device, width, height, parameters, q);
    points.run(frame_in(map_layout, map_placement, map.data()).planes[0],
               frame_in(out_layout, placement, out.data()).planes[0]);
    device.finish();
    EXPECT_EQ(map.values(), map_block()) << "the operation wrote to the map";
    return out.values();
  }

  int width, height;
  Parameters parameters;
  Reprojection q;
  FrameLayout map_layout, out_layout;
  Placement map_placement, placement;
  std::vector<std::uint16_t> numbers;
};

double random_number(Random& random, double size) {
  return size * (random.between(-1000000, 1000000) / 1e6);
}

/// Returns the matrix of a camera pair, or in half of the cases an arbitrary matrix.
Reprojection random_reprojection(int width, int height, Random& random) {
  Reprojection q = reprojection_of(random.between(1, 500000) / 70.0,
                                   random.between(1, 500000) / 300.0, width, height);
  if (random.one_in(2)) {
    q[0][3] += random_number(random, 50);
    q[1][3] += random_number(random, 50);
    q[3][3] = random_number(random, 0.2);
    return q;
  }
  const double sizes[] = {1e-30, 1e-3, 1, 1e3, 1e30};
  for (auto& row : q)
    for (double& element : row)
      element = random.one_in(4) ? 0 : random_number(random, sizes[random.between(0, 4)]);
  return q;
}

CUDAVISION_ON_BOTH_DEVICES(PointClouds);

TEST_P(PointClouds, AreTheDefinition) {
  Random random(settings().seed);
  for (int i = 0; i < settings().cases && !HasFailure(); ++i) {
    const auto [width, height] =
        random_picture_size(random, std::min(settings().max_pixels, 20000));
    const Parameters parameters = random_search(random);
    const PointsCase test(width, height, parameters, random_reprojection(width, height, random),
                          random);
    SCOPED_TRACE("case " + std::to_string(i) + ", " + describe(parameters));
    EXPECT_TRUE(test.computed(device) == test.expected());
  }
}

// For a baseline of 100 mm and a focal length of 1000 pixels, a disparity of 50 means 2 m.
TEST(PointNumbers, KnownOnes) {
  const Reprojection q = reprojection_of(1000, 100, 641, 481);
  Parameters parameters;
  parameters.disparities = 64;
  EXPECT_EQ(defined_point(parameters, q, 320, 240, 16 * 50), bits_of({0, 0, 2000}));
  EXPECT_EQ(defined_point(parameters, q, 420, 240, 16 * 50), bits_of({200, 0, 2000}));
  EXPECT_EQ(defined_point(parameters, q, 320, 140, 16 * 25), bits_of({0, -400, 4000}));
  EXPECT_EQ(defined_point(parameters, q, 320, 240, 0), unknown) << "infinitely far away";
  EXPECT_EQ(defined_point(parameters, q, 320, 240, 65520), unknown);
}

TEST_P(PointClouds, AllocateNothingAfterConstruction) {
  WatchedDevice device(this->device);
  const DeviceBlock<std::uint16_t> map(this->device, std::vector<std::uint16_t>(80 * 30, 77));
  const DeviceBlock<std::uint8_t> out(this->device, std::vector<std::uint8_t>(12 * 80 * 30));
  Points points(device, 80, 30, few_disparities(), reprojection_of(100, 100, 80, 30));
  expect_no_allocations(device, 30, [&](int i) {
    points.set(few_disparities(), reprojection_of(100 + i, 100, 80, 30));
    points.run({reinterpret_cast<const std::uint8_t*>(map.data()), 160, 30, 160},
               {out.data(), 12 * 80, 30, 12 * 80});
  });
}

TEST_P(PointClouds, RefuseWithWordsAndKeepTheLastValidSet) {
  struct Refusal {
    const char* words;
    std::function<void(Parameters&, Reprojection&)> spoil;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const Refusal refusals[] = {
      {"disparities", [](Parameters& parameters, Reprojection&) { parameters.disparities = 33; }},
      {"matrix Q", [=](Parameters&, Reprojection& q) { q[3][2] = infinity; }},
      {"matrix Q", [=](Parameters&, Reprojection& q) { q[0][0] = nan; }},
      {"matrix Q", [](Parameters&, Reprojection& q) { q[2][3] = -2e30; }},
  };
  Random random(5);
  const PointsCase test(41, 7, few_disparities(), reprojection_of(500, 100, 41, 7), random);
  for (const auto& [width, height] : {std::pair{0, 7}, {41, 0}, {65536, 7}, {41, 65536}})
    CUDAVISION_EXPECT_ERROR(Points(device, width, height, test.parameters, test.q),
                            invalid_argument, "width and height");
  const DeviceBlock<std::uint8_t> map(device, test.map_block());
  const View<const std::uint8_t> rows =
      frame_in(test.map_layout, test.map_placement, map.data()).planes[0];
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.words);
    const DeviceBlock<std::uint8_t> out(device,
                                        std::vector<std::uint8_t>(test.placement.bytes, poison));
    const View<std::uint8_t> plane =
        frame_in(test.out_layout, test.placement, out.data()).planes[0];
    Points points(device, 41, 7, test.parameters, test.q);
    Parameters parameters = test.parameters;
    Reprojection q = test.q;
    refusal.spoil(parameters, q);
    CUDAVISION_EXPECT_ERROR(points.set(parameters, q), invalid_argument, refusal.words);
    View<const std::uint8_t> narrow = rows;
    narrow.width -= 1;
    CUDAVISION_EXPECT_ERROR(points.run(narrow, plane), invalid_argument, "7 rows of 82 bytes");
    CUDAVISION_EXPECT_ERROR(points.run(rows, {}), invalid_argument, "7 rows of 492 bytes");
    points.run(rows, plane);
    device.finish();
    EXPECT_EQ(out.values(), test.expected());
  }
}

}  // namespace
}  // namespace cudavision::test
