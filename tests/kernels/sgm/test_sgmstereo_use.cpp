// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a user of SgmStereo relies on beside the maps: refusals with words, parameters that change
// between frames, how the numbers are coded.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/sgm/sgm_frames.h"

namespace cudavision::test {
namespace {

using namespace sgm;

using Parameters = sgm::Parameters;
using Census = Parameters::Census;
using Compatibility = Parameters::Compatibility;
using Change = std::function<void(Parameters&)>;

Parameters changed(const Change& change) {
  Parameters parameters = few_disparities();
  change(parameters);
  return parameters;
}

class SgmStereoUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, SgmStereoUse, both_devices(), device_name);

TEST_P(SgmStereoUse, RefusesLayoutsWithWords) {
  on_device([](Device& device) {
    for (const LayoutRefusal& refusal : luminance_layout_refusals()) {
      SCOPED_TRACE(refusal.words);
      const FrameLayout good = gray_layout(33, 9);
      FrameLayout bad = good;
      refusal.spoil(bad);
      CUDAVISION_EXPECT_ERROR(SgmStereo(device, bad, good, few_disparities()), invalid_argument,
                              refusal.words);
      CUDAVISION_EXPECT_ERROR(SgmStereo(device, good, bad, few_disparities()), invalid_argument,
                              refusal.words);
    }
  });
}

TEST_P(SgmStereoUse, RefusesPicturesThatAreNoPair) {
  on_device([](Device& device) {
    const auto expect_refusal = [&](const FrameLayout& left, const FrameLayout& right) {
      CUDAVISION_EXPECT_ERROR(SgmStereo(device, left, right, few_disparities()), invalid_argument,
                              "must have the same size and depth");
    };
    expect_refusal(gray_layout(33, 9), gray_layout(34, 9));
    expect_refusal(gray_layout(33, 9), gray_layout(33, 10));
    expect_refusal(gray_layout(33, 9), gray_layout(33, 9, 10));
    expect_refusal(gray_layout(33, 9, 12), gray_layout(33, 9, 16));
    SgmStereo(device, gray_layout(34, 10, 10), layout_named("P010", 34, 10), few_disparities());
    SgmStereo(device, layout_named("YUY2", 34, 10), layout_named("RGBA", 34, 10),
              few_disparities());
  });
}

struct Refusal {
  const char* words;
  Change spoil;
};

std::vector<Refusal> parameter_refusals() {
  constexpr int least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  return {
      {"num-disparities is 0", [](Parameters& p) { p.disparities = 0; }},
      {"num-disparities is -32", [](Parameters& p) { p.disparities = -32; }},
      {"num-disparities is 16", [](Parameters& p) { p.disparities = 16; }},
      {"num-disparities is 33", [](Parameters& p) { p.disparities = 33; }},
      {"multiple of 32 from 32 to 1024", [](Parameters& p) { p.disparities = 1056; }},
      {"num-disparities", [=](Parameters& p) { p.disparities = least; }},
      {"min-disparity is -2048", [](Parameters& p) { p.minimum = -2048; }},
      {"make it -2047 to 2015", [](Parameters& p) { p.minimum = 2016; }},
      {"make it -2047 to 1023", [](Parameters& p) { p.disparities = 1024, p.minimum = 1024; }},
      {"min-disparity", [=](Parameters& p) { p.minimum = most; }},
      {"min-disparity", [=](Parameters& p) { p.minimum = least; }},
      {"paths is 5; make it 4 or 8", [](Parameters& p) { p.paths = 5; }},
      {"paths is 0", [](Parameters& p) { p.paths = 0; }},
      {"census", [](Parameters& p) { p.census = static_cast<Census>(3); }},
      {"compatibility", [](Parameters& p) { p.compatibility = static_cast<Compatibility>(2); }},
      {"compatibility=libsgm",
       [](Parameters& p) {
         p.compatibility = Compatibility::libsgm, p.census = Census::neighbours_5x5;
       }},
      {"p1 is 0", [](Parameters& p) { p.p1 = 0; }},
      {"p1 is -1", [](Parameters& p) { p.p1 = -1; }},
      {"less than p2, which is 120", [](Parameters& p) { p.p1 = 120; }},
      {"p1", [=](Parameters& p) { p.p1 = most; }},
      {"p2 is 225; with a census of 31 bits make it 2 to 224", [](Parameters& p) { p.p2 = 225; }},
      {"2 to 193", [](Parameters& p) { p.census = Census::neighbours_9x7, p.p2 = 194; }},
      {"2 to 231", [](Parameters& p) { p.census = Census::neighbours_5x5, p.p2 = 232; }},
      {"p2 is 1", [](Parameters& p) { p.p2 = 1; }},
      {"p2", [=](Parameters& p) { p.p2 = least; }},
      {"uniqueness", [](Parameters& p) { p.uniqueness = -0.01; }},
      {"uniqueness", [](Parameters& p) { p.uniqueness = 1.01; }},
      {"uniqueness", [=](Parameters& p) { p.uniqueness = nan; }},
      {"uniqueness", [=](Parameters& p) { p.uniqueness = infinity; }},
      {"lr-max-diff is -2", [](Parameters& p) { p.lr_max_diff = -2; }},
      {"lr-max-diff is 1025", [](Parameters& p) { p.lr_max_diff = 1025; }},
      {"speckle-size is -1", [](Parameters& p) { p.speckle_size = -1; }},
      {"speckle-range is -1", [](Parameters& p) { p.speckle_range = -1; }},
      {"speckle-range is 1025", [](Parameters& p) { p.speckle_range = 1025; }},
  };
}

TEST_P(SgmStereoUse, RefusesParametersWithWordsAndKeepsTheLastValidSet) {
  on_device([](Device& device) {
    for (const Refusal& refusal : parameter_refusals()) {
      SCOPED_TRACE(refusal.words);
      const Parameters wrong = changed(refusal.spoil);
      EXPECT_NE(validation_error(wrong).find(refusal.words), std::string::npos)
          << validation_error(wrong);
      const Parameters valid = changed([](Parameters& p) { p.p1 = 7, p.fill_holes = true; });
      const StereoFrames frames(device, gray_layout(67, 31), valid, Content::natural);
      CUDAVISION_EXPECT_ERROR(SgmStereo(device, frames.layout(), frames.layout(), wrong),
                              invalid_argument, refusal.words);
      SgmStereo stereo(device, frames.layout(), frames.layout(), few_disparities());
      stereo.set_parameters(valid);
      CUDAVISION_EXPECT_ERROR(stereo.set_parameters(wrong), invalid_argument, refusal.words);
      frames.run(stereo);
      device.finish();
      EXPECT_EQ(frames.difference_from(valid), "") << "the last valid set is lost";
    }
  });
}

TEST_P(SgmStereoUse, WhatAnObjectIsBuiltForStays) {
  const Change changes[] = {
      [](Parameters& p) { p.disparities = 64; },
      [](Parameters& p) { p.minimum = 1; },
      [](Parameters& p) { p.paths = 4; },
      [](Parameters& p) { p.census = Census::neighbours_9x7; },
      [](Parameters& p) { p.compatibility = Compatibility::libsgm; },
  };
  on_device([&](Device& device) {
    for (const Change& change : changes) {
      SCOPED_TRACE(std::to_string(&change - changes));
      const StereoFrames frames(device, gray_layout(67, 31), few_disparities(), Content::natural);
      SgmStereo stereo(device, frames.layout(), frames.layout(), few_disparities());
      CUDAVISION_EXPECT_ERROR(stereo.set_parameters(changed(change)), invalid_argument,
                              "cannot change while frames are being matched");
      frames.run(stereo);
      device.finish();
      EXPECT_EQ(frames.difference_from(few_disparities()), "");
    }
  });
}

TEST_P(SgmStereoUse, RefusesFramesOfAnotherShape) {
  on_device([](Device& device) {
    const StereoFrames frames(device, layout_named("NV12", 34, 10), few_disparities(),
                              Content::natural);
    SgmStereo stereo(device, frames.layout(), frames.layout(), few_disparities());
    const auto expect_no_input = [&](const std::function<void(ConstFrame&)>& spoil) {
      ConstFrame left = frames.left(), right = frames.right();
      spoil(left);
      CUDAVISION_EXPECT_ERROR(stereo.run(left, frames.right(), frames.disparity()),
                              invalid_argument, "of the input frame");
      spoil(right);
      CUDAVISION_EXPECT_ERROR(stereo.run(frames.left(), right, frames.disparity()),
                              invalid_argument, "of the input frame");
    };
    expect_no_input([](ConstFrame& frame) { frame.planes[0].data = nullptr; });
    expect_no_input([](ConstFrame& frame) { frame.planes[1].data = nullptr; });
    expect_no_input([](ConstFrame& frame) { frame.planes[0].width += 1; });
    expect_no_input([](ConstFrame& frame) { frame.planes[1].height -= 1; });
    const auto expect_no_output = [&](const std::function<void(View<std::uint8_t>&)>& spoil) {
      View<std::uint8_t> disparity = frames.disparity(), confidence = frames.confidence();
      spoil(disparity);
      CUDAVISION_EXPECT_ERROR(stereo.run(frames.left(), frames.right(), disparity),
                              invalid_argument, "disparities need 10 rows of 68 bytes");
      spoil(confidence);
      if (confidence)  // without data none is asked for
        CUDAVISION_EXPECT_ERROR(
            stereo.run(frames.left(), frames.right(), frames.disparity(), confidence),
            invalid_argument, "confidences need 10 rows of 34 bytes");
    };
    expect_no_output([](View<std::uint8_t>& out) { out.data = nullptr; });
    expect_no_output([](View<std::uint8_t>& out) { out.width /= 2; });
    expect_no_output([](View<std::uint8_t>& out) { out.width += 2; });
    expect_no_output([](View<std::uint8_t>& out) { out.height -= 1; });
    expect_no_output([](View<std::uint8_t>& out) { out.height += 1; });
    device.finish();
    for (const auto* block : {&frames.disparity_block, &frames.confidence_block})
      EXPECT_EQ(block->values(),
                std::vector<std::uint8_t>(block->values().size(), StereoFrames::poison))
          << "a refused run wrote something";
  });
}

TEST_P(SgmStereoUse, ParametersChangeFromOneFrameToTheNext) {
  const Change changes[] = {
      [](Parameters&) {},
      [](Parameters& p) { p.p1 = 30; },
      [](Parameters& p) { p.p2 = 60; },
      [](Parameters& p) { p.adaptive_p2 = false; },
      [](Parameters& p) { p.uniqueness = 0.5; },
      [](Parameters& p) { p.lr_max_diff = -1; },
      [](Parameters& p) { p.lr_max_diff = 3; },
      [](Parameters& p) { p.subpixel = false; },
      [](Parameters& p) { p.median = false; },
      [](Parameters& p) { p.speckle_size = 50; },
      [](Parameters& p) { p.speckle_size = 50, p.speckle_range = 4; },
      [](Parameters& p) { p.fill_holes = true; },
      [](Parameters&) {},
  };
  on_device([&](Device& device) {
    for (const char* name : {"GRAY8", "P010", "RGBx"}) {
      SCOPED_TRACE(name);
      std::vector<std::unique_ptr<StereoFrames>> frames;
      for (const Change& change : changes)
        frames.push_back(std::make_unique<StereoFrames>(device, layout_named(name, 123, 45),
                                                        changed(change), Content::natural));
      // Not finished in between: each frame keeps the parameters that held when it was enqueued.
      SgmStereo stereo(device, frames[0]->layout(), frames[0]->layout(), few_disparities());
      for (std::size_t i = 0; i < frames.size(); ++i) {
        stereo.set_parameters(changed(changes[i]));
        frames[i]->run(stereo);
      }
      stereo.set_parameters(changed([](Parameters& p) { p.p1 = 1, p.p2 = 2; }));
      device.finish();
      std::vector<std::vector<std::uint8_t>> different;
      for (std::size_t i = 0; i < frames.size(); ++i) {
        EXPECT_EQ(frames[i]->difference_from(changed(changes[i])), "") << "set " << i;
        different.push_back(frames[i]->disparity_block.values());
      }
      // Otherwise the sets before would prove nothing.
      for (std::size_t i = 1; i + 1 < different.size(); ++i)
        EXPECT_NE(different[i], different[0]) << "set " << i << " changes nothing";
      EXPECT_EQ(different.back(), different[0]);
    }
  });
}

/// While it lives, the process gets at most 1 TiB of addresses more: some hosts promise any amount.
class AddressLimit {
 public:
  AddressLimit() {
    getrlimit(RLIMIT_AS, &before_);
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit now = before_;
    now.rlim_cur = std::min<rlim_t>(
        before_.rlim_max,
        pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + (std::uint64_t{1} << 40));
    setrlimit(RLIMIT_AS, &now);
  }
  ~AddressLimit() { setrlimit(RLIMIT_AS, &before_); }
  AddressLimit(const AddressLimit&) = delete;
  AddressLimit& operator=(const AddressLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_P(SgmStereoUse, TooLittleMemoryIsSaidInBytes) {
  on_device([](Device& device) {
    const AddressLimit limit;
    sgm::Parameters parameters;
    parameters.disparities = 1024;
    CUDAVISION_EXPECT_ERROR(
        SgmStereo(device, gray_layout(65535, 65535), gray_layout(65535, 65535), parameters),
        out_of_memory, " bytes");
  });
}

TEST(SgmParameters, AreEqualWhereNothingDiffers) {
  const Change changes[] = {
      [](Parameters& p) { p.disparities = 64; },
      [](Parameters& p) { p.minimum = 1; },
      [](Parameters& p) { p.paths = 4; },
      [](Parameters& p) { p.census = Census::neighbours_9x7; },
      [](Parameters& p) { p.compatibility = Compatibility::libsgm; },
      [](Parameters& p) { p.p1 = 9; },
      [](Parameters& p) { p.p2 = 9; },
      [](Parameters& p) { p.uniqueness = 0.5; },
      [](Parameters& p) { p.lr_max_diff = 0; },
      [](Parameters& p) { p.subpixel = false; },
      [](Parameters& p) { p.median = false; },
      [](Parameters& p) { p.speckle_size = 1; },
      [](Parameters& p) { p.speckle_range = 2; },
      [](Parameters& p) { p.fill_holes = true; },
      [](Parameters& p) { p.adaptive_p2 = false; },
  };
  for (const Change& change : changes) {
    Parameters other;
    EXPECT_TRUE(other == Parameters());
    EXPECT_FALSE(other != Parameters());
    change(other);
    EXPECT_FALSE(other == Parameters()) << &change - changes;
    EXPECT_TRUE(other != Parameters());
  }
}

TEST(SgmParameters, AllThatTheHeaderAllowsAreValid) {
  EXPECT_EQ(validation_error({}), "");
  const Change changes[] = {
      [](Parameters& p) { p.disparities = 1024, p.minimum = 1023; },
      [](Parameters& p) { p.minimum = -2047; },
      [](Parameters& p) { p.minimum = 2047 - p.disparities; },
      [](Parameters& p) { p.p1 = 1, p.p2 = 2; },
      [](Parameters& p) { p.p1 = 223, p.p2 = 224; },
      [](Parameters& p) { p.census = Census::neighbours_9x7, p.p2 = 193; },
      [](Parameters& p) { p.census = Census::neighbours_5x5, p.p2 = 231; },
      [](Parameters& p) { p.uniqueness = 0; },
      [](Parameters& p) { p.uniqueness = 1; },
      [](Parameters& p) { p.lr_max_diff = -1; },
      [](Parameters& p) { p.lr_max_diff = 1024; },
      [](Parameters& p) { p.speckle_size = std::numeric_limits<int>::max(); },
      [](Parameters& p) { p.speckle_range = 0; },
      [](Parameters& p) { p.speckle_range = 1024; },
      [](Parameters& p) { p.compatibility = Compatibility::libsgm; },
  };
  for (const Change& change : changes)
    EXPECT_EQ(validation_error(changed(change)), "");
  Random random(3);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(validation_error(random_sgm_parameters(random)), "");
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
