// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <limits>

#include "tests/kernels/contract/contract.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"

namespace cudavision::test {
namespace {

using namespace localstatistics;

using Output = Parameters::Output;

constexpr Output outputs[] = {Output::mean, Output::stddev, Output::bradley, Output::sauvola};

struct LocalStatisticsContract : ContractTraits<LocalStatisticsCase> {
  static constexpr Size captured{901, 403};

  static Case dense(const char* layout, int width, int height, const Parameters& parameters,
                    int bits) {
    return plain_localstatistics_case(layout_named(layout, width, height), parameters,
                                      Content::natural, 5, bits);
  }

  static std::vector<LayoutRefusal> layout_refusals() { return luminance_layout_refusals(); }

  static std::vector<std::function<void(Device&, const FrameLayout&)>> constructors() {
    std::vector<std::function<void(Device&, const FrameLayout&)>> all;
    for (const Output output : outputs)
      all.emplace_back([output](Device& device, const FrameLayout& layout) {
        LocalStatistics(device, layout, 8, statistics(output, 7));
      });
    return all;
  }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::nan("");
    struct Refusal {
      const char* words;
      std::function<void(Parameters&)> spoil;
    };
    const Refusal refusals[] = {
        {"radius=-1", [](Parameters& p) { p.radius = -1; }},
        {"radius=65536 must be 0 to 65535", [](Parameters& p) { p.radius = 65536; }},
        {"radius=", [](Parameters& p) { p.radius = std::numeric_limits<int>::min(); }},
        {"ratio=-0.01", [](Parameters& p) { p.ratio = -0.01; }},
        {"ratio", [](Parameters& p) { p.ratio = 1.01; }},
        {"ratio", [=](Parameters& p) { p.ratio = nan; }},
        {"ratio", [=](Parameters& p) { p.ratio = infinity; }},
        {"k=", [](Parameters& p) { p.k = -0.01; }},
        {"k=", [](Parameters& p) { p.k = 1.01; }},
        {"k=", [=](Parameters& p) { p.k = nan; }},
        {"k=", [=](Parameters& p) { p.k = -infinity; }},
        {"range", [](Parameters& p) { p.range = -0.5; }},
        {"range", [=](Parameters& p) { p.range = nan; }},
        {"range", [=](Parameters& p) { p.range = infinity; }},
    };
    std::vector<ParametersRefusal<Case>> all;
    for (const Refusal& refusal : refusals)
      for (const Output output : outputs) {
        Parameters wrong = statistics(output, 9);
        refusal.spoil(wrong);
        all.push_back({refusal.words, dense("GRAY8", 67, 31, statistics(output, 4), 8), wrong});
      }
    return all;
  }

  static Case refused_case() { return dense("NV12", 34, 10, statistics(Output::mean, 2), 16); }

  static std::vector<FramesRefusal<Case>> frames_refusals() {
    using Frames = Case::Frames;
    auto refusals = wrong_frames<Case>(&Frames::in, "of the input frame");
    constexpr const char* shape = "must have 10 rows of 34 samples of 16 bits";
    append(refusals, {{shape, [](Frames& frames) { frames.out.planes[0].data = nullptr; }},
                      {shape, [](Frames& frames) { frames.out.planes[0].width = 34; }},
                      {shape, [](Frames& frames) { frames.out.planes[0].width += 2; }},
                      {shape, [](Frames& frames) { frames.out.planes[0].height -= 1; }},
                      {shape, [](Frames& frames) { frames.out.planes[0].height += 1; }}});
    return refusals;
  }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "GRAY16", "YUY2", "P010", "RGB", "RGBx"})
      for (const Output output : outputs)
        cases.push_back(dense(layout, width, height, statistics(output, 35), 16));
    return cases;
  }

  static std::vector<Case> changing() { return representatives(321, 145); }

  static std::vector<Parameters> sets(const Case& test) {
    const auto set = [&](const std::function<void(Parameters&)>& change) {
      Parameters parameters = statistics(test.parameters.output, 9);
      change(parameters);
      return parameters;
    };
    std::vector<Parameters> all = {
        set([](Parameters&) {}),
        set([](Parameters& p) { p.radius = 65535; }),
        set([](Parameters& p) { p.radius = 0; }),
        set([](Parameters& p) { p.ratio = 0.4; }),
        set([](Parameters& p) { p.k = 0.5; }),
        set([](Parameters& p) { p.range = 20; }),
        set([](Parameters& p) { p.range = 60000.5; }),
        set([](Parameters& p) { p.radius = 100; }),
        set([](Parameters& p) { p.invert = true; }),
        set([](Parameters& p) { p.limited_range = true; }),
    };
    if (is_threshold(test.parameters.output)) {
      all.push_back(statistics(Output::bradley, 9));
      all.push_back(statistics(Output::sauvola, 9));
      all.push_back(statistics(Output::bradley, 33));
      all.push_back(in_limited_range(statistics(Output::bradley, 33)));
    }
    return all;
  }
};

CUDAVISION_CONTRACT(LocalStatistics, LocalStatisticsContract);

CUDAVISION_ON_BOTH_DEVICES(LocalStatisticsUse);

TEST_P(LocalStatisticsUse, TakesOutputsOfEnoughBits) {
  for (const char* name : {"GRAY8", "RGB", "GRAY9", "P010", "GRAY16"})
    for (const Output output : outputs) {
      SCOPED_TRACE(std::string(name) + ", output " + std::to_string(static_cast<int>(output)));
      const FrameLayout layout = layout_named(name, 33, 9);
      const Parameters parameters = statistics(output, 7);
      for (const int bits : {-1, 0, 7, 9, 10, 15, 17, 32})
        CUDAVISION_EXPECT_ERROR(LocalStatistics(device, layout, bits, parameters), invalid_argument,
                                std::to_string(bits) + " bits");
      const bool levels = output == Output::mean || output == Output::stddev;
      if (levels && layout.bits > 8)
        CUDAVISION_EXPECT_ERROR(LocalStatistics(device, layout, 8, parameters), invalid_argument,
                                std::to_string(layout.bits) + " bits");
      else
        LocalStatistics(device, layout, 8, parameters);
      LocalStatistics(device, layout, 16, parameters);
    }
}

TEST_P(LocalStatisticsUse, OnlyThresholdsTakeEachOthersPlace) {
  for (const Output from : outputs)
    for (const Output to : outputs) {
      LocalStatisticsCase test =
          LocalStatisticsContract::dense("GRAY8", 67, 31, statistics(from, 4), 8);
      auto operation = test.make(device, test.parameters);
      const Parameters other = statistics(to, 11);
      if (from == to || (is_threshold(from) && is_threshold(to))) {
        operation.set_parameters(other);
        test.parameters = other;
      } else {
        CUDAVISION_EXPECT_ERROR(operation.set_parameters(other), invalid_argument,
                                "the output may change only");
      }
      SCOPED_TRACE(describe(test));
      EXPECT_EQ(difference_after_run(device, test, operation), "");
    }
}

}  // namespace
}  // namespace cudavision::test
