// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests which parameters are valid, which values automatic ones stand for, and how maps are coded.

#include <cstdint>
#include <limits>

#include "cuda/sgm/sgmstereo.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

using Parameters = sgm::Parameters;
using Census = Parameters::Census;
using Compatibility = Parameters::Compatibility;

TEST(SgmParameters, AllThatTheHeaderAllowsAreValid) {
  EXPECT_EQ(validation_error({}), "");
  const Change changes[] = {
      [](Parameters& p) { p.disparities = 1024, p.minimum = 1023; },
      [](Parameters& p) { p.minimum = -2047; },
      [](Parameters& p) { p.minimum = 2047 - p.disparities; },
      [](Parameters& p) { p.p1 = 1, p.p2 = 2; },
      [](Parameters& p) { p.p1 = 222, p.p2 = 223; },
      [](Parameters& p) { p.p1 = 222; },
      [](Parameters& p) { p.p2 = 2; },
      [](Parameters& p) { p.census = Census::symmetric_9x7, p.p1 = 223, p.p2 = 224; },
      [](Parameters& p) { p.census = Census::neighbours_9x7, p.p2 = 193; },
      [](Parameters& p) { p.census = Census::neighbours_5x5, p.p2 = 231; },
      [](Parameters& p) { p.uniqueness = 0; },
      [](Parameters& p) { p.uniqueness = 1; },
      [](Parameters& p) { p.lr_max_diff = -1; },
      [](Parameters& p) { p.lr_max_diff = 1024; },
      [](Parameters& p) { p.speckle_size = std::numeric_limits<int>::max(); },
      [](Parameters& p) { p.speckle_range = 0; },
      [](Parameters& p) { p.speckle_range = 1024; },
      [](Parameters& p) { p.confidence_threshold = 255; },
      [](Parameters& p) { p.temporal_alpha = 1 / 256.0; },
      [](Parameters& p) { p.temporal_delta = 0; },
      [](Parameters& p) { p.temporal_delta = 1024; },
      [](Parameters& p) { p.temporal_persistence = 255; },
      [](Parameters& p) { p.compatibility = Compatibility::libsgm; },
      [](Parameters& p) {
        p.compatibility = Compatibility::libsgm, p.census = Census::symmetric_9x7;
      },
  };
  for (const Change& change : changes)
    EXPECT_EQ(validation_error(changed(change)), "");
  Random random(3);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(validation_error(random_sgm_parameters(random)), "");
}

TEST(SgmParameters, AutomaticValuesFollowTheConfig) {
  struct Own {
    Change change;
    int paths, p1, p2, speckle_size;
    Census census;
  };
  const Own all[] = {
      {[](Parameters&) {}, 4, 14, 60, 100, Census::census_gradient},
      {[](Parameters& p) { p.paths = 8; }, 8, 10, 50, 100, Census::census_gradient},
      {[](Parameters& p) { p.census = Census::neighbours_5x5; }, 4, 10, 120, 100,
       Census::neighbours_5x5},
      {[](Parameters& p) { p.compatibility = Compatibility::libsgm; }, 8, 10, 120, 0,
       Census::symmetric_9x7},
      {[](Parameters& p) { p.p1 = 70; }, 4, 70, 71, 100, Census::census_gradient},
      {[](Parameters& p) { p.p2 = 9; }, 4, 8, 9, 100, Census::census_gradient},
      {[](Parameters& p) { p.p1 = 20, p.p2 = 30, p.speckle_size = 0; }, 4, 20, 30, 0,
       Census::census_gradient},
  };
  for (const Own& own : all) {
    const Parameters parameters = resolved(changed(own.change));
    SCOPED_TRACE(describe(parameters));
    EXPECT_EQ(parameters.paths, own.paths);
    EXPECT_EQ(parameters.p1, own.p1);
    EXPECT_EQ(parameters.p2, own.p2);
    EXPECT_EQ(parameters.speckle_size, own.speckle_size);
    EXPECT_EQ(parameters.census, own.census);
    EXPECT_EQ(resolved(parameters), parameters);
  }
}

TEST(SgmParameters, ScaleIsThatOfTheMap) {
  const auto expect = [](const Change& change, int per_pixel, int invalid) {
    const DisparityScale scale = disparity_scale(changed(change));
    EXPECT_EQ(scale.per_pixel, per_pixel);
    EXPECT_EQ(scale.invalid, static_cast<std::uint16_t>(invalid));
  };
  expect([](Parameters&) {}, 16, -16);
  expect([](Parameters& p) { p.subpixel = false; }, 16, -16);
  expect([](Parameters& p) { p.minimum = 9; }, 16, 128);
  expect([](Parameters& p) { p.minimum = -2047; }, 16, -32768);
  expect([](Parameters& p) { p.compatibility = Compatibility::libsgm; }, 16, -16);
  expect([](Parameters& p) { p.compatibility = Compatibility::libsgm, p.subpixel = false; }, 1, -1);
  expect(
      [](Parameters& p) {
        p.compatibility = Compatibility::libsgm, p.subpixel = false, p.minimum = 5;
      },
      1, 4);
}

}  // namespace
}  // namespace cudavision::test
