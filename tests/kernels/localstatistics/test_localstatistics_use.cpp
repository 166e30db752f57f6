// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a user of LocalStatistics relies on beside the samples: refusals with words, parameters that
// change between frames, which sets are equal.

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/localstatistics/localstatistics_frames.h"

namespace cudavision::test {
namespace {

using namespace localstatistics;

using Parameters = localstatistics::Parameters;
using Output = Parameters::Output;

constexpr Output outputs[] = {Output::mean, Output::stddev, Output::bradley, Output::sauvola};

Parameters changed(Output output, const std::function<void(Parameters&)>& change) {
  Parameters parameters = statistics(output, 9);
  change(parameters);
  return parameters;
}

class LocalStatisticsUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, LocalStatisticsUse, both_devices(), device_name);

TEST_P(LocalStatisticsUse, RefusesLayoutsWithWords) {
  on_device([](Device& device) {
    for (const LayoutRefusal& refusal : luminance_layout_refusals()) {
      SCOPED_TRACE(refusal.words);
      FrameLayout layout = gray_layout(33, 9);
      refusal.spoil(layout);
      for (const Output output : outputs)
        CUDAVISION_EXPECT_ERROR(LocalStatistics(device, layout, 8, statistics(output, 7)),
                                invalid_argument, refusal.words);
    }
  });
}

TEST_P(LocalStatisticsUse, TakesOutputsOfEnoughBits) {
  on_device([](Device& device) {
    for (const char* name : {"GRAY8", "RGB", "GRAY9", "P010", "GRAY16"})
      for (const Output output : outputs) {
        SCOPED_TRACE(std::string(name) + ", output " + std::to_string(static_cast<int>(output)));
        const FrameLayout layout = layout_named(name, 33, 9);
        const Parameters parameters = statistics(output, 7);
        for (const int bits : {-1, 0, 7, 9, 10, 15, 17, 32})
          CUDAVISION_EXPECT_ERROR(LocalStatistics(device, layout, bits, parameters),
                                  invalid_argument, std::to_string(bits) + " bits");
        const bool levels = output == Output::mean || output == Output::stddev;
        if (levels && layout.bits > 8)
          CUDAVISION_EXPECT_ERROR(LocalStatistics(device, layout, 8, parameters), invalid_argument,
                                  std::to_string(layout.bits) + " bits");
        else
          LocalStatistics(device, layout, 8, parameters);
        LocalStatistics(device, layout, 16, parameters);
      }
  });
}

TEST_P(LocalStatisticsUse, RefusesParametersWithWordsAndKeepsTheLastValidSet) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  struct Refusal {
    const char* words;
    std::function<void(Parameters&)> spoil;
  };
  const Refusal refusals[] = {
      {"radius of -1", [](Parameters& p) { p.radius = -1; }},
      {"radius of 65536", [](Parameters& p) { p.radius = 65536; }},
      {"radius of", [](Parameters& p) { p.radius = std::numeric_limits<int>::min(); }},
      {"ratio", [](Parameters& p) { p.ratio = -0.01; }},
      {"ratio", [](Parameters& p) { p.ratio = 1.01; }},
      {"ratio", [=](Parameters& p) { p.ratio = nan; }},
      {"ratio", [=](Parameters& p) { p.ratio = infinity; }},
      {"k =", [](Parameters& p) { p.k = -0.01; }},
      {"k =", [](Parameters& p) { p.k = 1.01; }},
      {"k =", [=](Parameters& p) { p.k = nan; }},
      {"k =", [=](Parameters& p) { p.k = -infinity; }},
      {"range", [](Parameters& p) { p.range = -0.5; }},
      {"range", [=](Parameters& p) { p.range = nan; }},
      {"range", [=](Parameters& p) { p.range = infinity; }},
  };
  on_device([&](Device& device) {
    for (const Refusal& refusal : refusals)
      for (const Output output : outputs) {
        SCOPED_TRACE(std::string(refusal.words) + ", output " +
                     std::to_string(static_cast<int>(output)));
        const StatisticsFrames frames(device, gray_layout(67, 31), 8, Content::natural);
        const Parameters wrong = changed(output, refusal.spoil), valid = statistics(output, 4);
        CUDAVISION_EXPECT_ERROR(LocalStatistics(device, frames.layout, 8, wrong), invalid_argument,
                                refusal.words);
        LocalStatistics operation(device, frames.layout, 8, statistics(output, 0));
        operation.set_parameters(valid);
        CUDAVISION_EXPECT_ERROR(operation.set_parameters(wrong), invalid_argument, refusal.words);
        operation.run(frames.in(), frames.plane());
        device.finish();
        EXPECT_EQ(frames.plane_block.values(), frames.expected(valid))
            << "the last valid set is lost";
      }
  });
}

TEST_P(LocalStatisticsUse, OnlyThresholdsTakeEachOthersPlace) {
  on_device([](Device& device) {
    const auto is_threshold = [](Output output) {
      return output == Output::bradley || output == Output::sauvola;
    };
    for (const Output from : outputs)
      for (const Output to : outputs) {
        SCOPED_TRACE(std::to_string(static_cast<int>(from)) + " to " +
                     std::to_string(static_cast<int>(to)));
        const StatisticsFrames frames(device, gray_layout(67, 31), 8, Content::natural);
        const Parameters first = statistics(from, 4), second = statistics(to, 11);
        LocalStatistics operation(device, frames.layout, 8, first);
        const bool allowed = from == to || (is_threshold(from) && is_threshold(to));
        if (allowed)
          operation.set_parameters(second);
        else
          CUDAVISION_EXPECT_ERROR(operation.set_parameters(second), invalid_argument,
                                  "another output");
        operation.run(frames.in(), frames.plane());
        device.finish();
        EXPECT_EQ(frames.plane_block.values(), frames.expected(allowed ? second : first));
      }
  });
}

TEST_P(LocalStatisticsUse, RefusesFramesOfAnotherShape) {
  on_device([](Device& device) {
    const StatisticsFrames frames(device, layout_named("NV12", 34, 10), 16, Content::natural);
    LocalStatistics operation(device, frames.layout, 16, statistics(Output::mean, 2));
    const auto expect_refusal = [&](const std::function<void(ConstFrame&)>& spoil) {
      ConstFrame wrong = frames.in();
      spoil(wrong);
      CUDAVISION_EXPECT_ERROR(operation.run(wrong, frames.plane()), invalid_argument,
                              "of the input frame");
    };
    expect_refusal([](ConstFrame& frame) { frame.planes[0].data = nullptr; });
    expect_refusal([](ConstFrame& frame) { frame.planes[1].data = nullptr; });
    expect_refusal([](ConstFrame& frame) { frame.planes[0].width += 1; });
    expect_refusal([](ConstFrame& frame) { frame.planes[1].height -= 1; });
    const auto expect_no_plane = [&](const std::function<void(View<std::uint8_t>&)>& spoil) {
      View<std::uint8_t> wrong = frames.plane();
      spoil(wrong);
      CUDAVISION_EXPECT_ERROR(operation.run(frames.in(), wrong), invalid_argument,
                              "must have 10 rows of 34 samples of 16 bits");
    };
    expect_no_plane([](View<std::uint8_t>& plane) { plane.data = nullptr; });
    expect_no_plane([](View<std::uint8_t>& plane) { plane.width = 34; });
    expect_no_plane([](View<std::uint8_t>& plane) { plane.width += 2; });
    expect_no_plane([](View<std::uint8_t>& plane) { plane.height -= 1; });
    expect_no_plane([](View<std::uint8_t>& plane) { plane.height += 1; });
    device.finish();
    EXPECT_EQ(frames.plane_block.values(),
              std::vector<std::uint8_t>(frames.plane_placement.bytes, StatisticsFrames::out_poison))
        << "a refused run wrote something";
  });
}

TEST_P(LocalStatisticsUse, ParametersChangeFromOneFrameToTheNext) {
  const std::function<void(Parameters&)> changes[] = {
      [](Parameters&) {},
      [](Parameters& p) { p.radius = 65535; },
      [](Parameters& p) { p.radius = 0; },
      [](Parameters& p) { p.ratio = 0.4; },
      [](Parameters& p) { p.k = 0.5; },
      [](Parameters& p) { p.range = 20; },
      [](Parameters& p) { p.range = 60000.5; },
      [](Parameters& p) { p.radius = 100; },
  };
  on_device([&](Device& device) {
    for (const Output output : outputs)
      for (const char* name : {"GRAY8", "P010", "RGBx"}) {
        SCOPED_TRACE(std::string(name) + ", output " + std::to_string(static_cast<int>(output)));
        const FrameLayout layout = layout_named(name, 321, 145);
        std::vector<std::unique_ptr<StatisticsFrames>> frames;
        for (const auto& change : changes)
          frames.push_back(std::make_unique<StatisticsFrames>(
              device, layout, 16, Content::natural, static_cast<std::uint64_t>(&change - changes)));
        // Not finished in between: each frame keeps the parameters that held when it was enqueued.
        LocalStatistics operation(device, layout, 16, statistics(output, 33));
        for (std::size_t i = 0; i < frames.size(); ++i) {
          operation.set_parameters(changed(output, changes[i]));
          operation.run(frames[i]->in(), frames[i]->plane());
        }
        operation.set_parameters(statistics(output, 1));
        device.finish();
        for (std::size_t i = 0; i < frames.size(); ++i)
          EXPECT_TRUE(frames[i]->plane_block.values() ==
                      frames[i]->expected(changed(output, changes[i])))
              << "set " << i;
      }
  });
}

TEST(LocalStatisticsParameters, AreEqualWhereNothingDiffers) {
  const std::function<void(Parameters&)> changes[] = {
      [](Parameters& p) { p.output = Output::sauvola; },
      [](Parameters& p) { p.radius = 8; },
      [](Parameters& p) { p.ratio = 0.25; },
      [](Parameters& p) { p.k = 0.25; },
      [](Parameters& p) { p.range = 1; },
  };
  for (const auto& change : changes) {
    Parameters other;
    EXPECT_TRUE(other == Parameters());
    EXPECT_FALSE(other != Parameters());
    change(other);
    EXPECT_FALSE(other == Parameters());
    EXPECT_TRUE(other != Parameters());
  }
}

}  // namespace
}  // namespace cudavision::test
