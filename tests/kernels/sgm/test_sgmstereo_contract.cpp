// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "cuda/sgm/backend.h"
#include "tests/kernels/contract/contract.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

using Parameters = sgm::Parameters;
using Census = Parameters::Census;
using Compatibility = Parameters::Compatibility;
/// Changes of parameters that cannot change after construction.
const Change config_changes[] = {
    [](Parameters& p) { p.disparities = 64; },
    [](Parameters& p) { p.minimum = 1; },
    [](Parameters& p) { p.paths = 8; },
    [](Parameters& p) { p.census = Census::neighbours_9x7; },
    [](Parameters& p) { p.compatibility = Compatibility::libsgm; },
    [](Parameters& p) { p.memory_budget = 0.5; },
};

struct SgmContract : ContractTraits<SgmCase> {
  static Case dense(const char* layout, int width, int height, const Parameters& parameters) {
    return plain_sgm_case(layout_named(layout, width, height), parameters, Content::natural, 5);
  }

  static constexpr Size captured{101, 43}, busy{640, 480}, neighbour{133, 41}, streamed{160, 60};

  static std::vector<LayoutRefusal> layout_refusals() { return luminance_layout_refusals(); }

  static std::vector<std::function<void(Device&, const FrameLayout&)>> constructors() {
    const FrameLayout good = gray_layout(33, 9);
    return {
        [=](Device& device, const FrameLayout& bad) {
          SgmStereo(device, bad, good, few_disparities());
        },
        [=](Device& device, const FrameLayout& bad) {
          SgmStereo(device, good, bad, few_disparities());
        },
    };
  }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    constexpr int minimum = std::numeric_limits<int>::min(),
                  maximum = std::numeric_limits<int>::max();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::nan("");
    struct Refusal {
      const char* words;
      Change spoil;
    };
    const Refusal refusals[] = {
        {"disparities is 0", [](Parameters& p) { p.disparities = 0; }},
        {"disparities is -32", [](Parameters& p) { p.disparities = -32; }},
        {"disparities is 16", [](Parameters& p) { p.disparities = 16; }},
        {"disparities is 33", [](Parameters& p) { p.disparities = 33; }},
        {"multiple of 32 from 32 to 1024", [](Parameters& p) { p.disparities = 1056; }},
        {"disparities", [=](Parameters& p) { p.disparities = minimum; }},
        {"minimum is -2048", [](Parameters& p) { p.minimum = -2048; }},
        {"make it -2047 to 2015", [](Parameters& p) { p.minimum = 2016; }},
        {"make it -2047 to 1023", [](Parameters& p) { p.disparities = 1024, p.minimum = 1024; }},
        {"minimum", [=](Parameters& p) { p.minimum = maximum; }},
        {"minimum", [=](Parameters& p) { p.minimum = minimum; }},
        {"paths is 5; make it 4 or 8", [](Parameters& p) { p.paths = 5; }},
        {"paths is 3", [](Parameters& p) { p.paths = 3; }},
        {"census", [](Parameters& p) { p.census = static_cast<Census>(5); }},
        {"subpixel_method",
         [](Parameters& p) { p.subpixel_method = static_cast<Parameters::SubpixelMethod>(2); }},
        {"compatibility", [](Parameters& p) { p.compatibility = static_cast<Compatibility>(2); }},
        {"compatibility=libsgm",
         [](Parameters& p) {
           p.compatibility = Compatibility::libsgm, p.census = Census::neighbours_5x5;
         }},
        {"compatibility=libsgm",
         [](Parameters& p) {
           p.compatibility = Compatibility::libsgm, p.census = Census::census_gradient;
         }},
        {"memory_budget is 0", [](Parameters& p) { p.memory_budget = 0; }},
        {"memory_budget is -1", [](Parameters& p) { p.memory_budget = -1; }},
        {"memory_budget", [=](Parameters& p) { p.memory_budget = nan; }},
        {"p1 is -1", [](Parameters& p) { p.p1 = -1; }},
        {"less than p2 = 60", [](Parameters& p) { p.p1 = 60, p.p2 = 60; }},
        {"less than p2 = 223", [](Parameters& p) { p.p1 = 223; }},
        {"p1", [=](Parameters& p) { p.p1 = maximum; }},
        {"p2 is 224; with a census of 32 bits, make it 2 to 223",
         [](Parameters& p) { p.p2 = 224; }},
        {"2 to 224", [](Parameters& p) { p.census = Census::symmetric_9x7, p.p2 = 225; }},
        {"2 to 193", [](Parameters& p) { p.census = Census::neighbours_9x7, p.p2 = 194; }},
        {"2 to 231", [](Parameters& p) { p.census = Census::neighbours_5x5, p.p2 = 232; }},
        {"p2 is 1", [](Parameters& p) { p.p2 = 1; }},
        {"p2", [=](Parameters& p) { p.p2 = minimum; }},
        {"uniqueness", [](Parameters& p) { p.uniqueness = -0.01; }},
        {"uniqueness", [](Parameters& p) { p.uniqueness = 1.01; }},
        {"uniqueness", [=](Parameters& p) { p.uniqueness = nan; }},
        {"uniqueness", [=](Parameters& p) { p.uniqueness = infinity; }},
        {"lr_max_diff is -2", [](Parameters& p) { p.lr_max_diff = -2; }},
        {"lr_max_diff is 1025", [](Parameters& p) { p.lr_max_diff = 1025; }},
        {"speckle_size is -2", [](Parameters& p) { p.speckle_size = -2; }},
        {"speckle_range is -1", [](Parameters& p) { p.speckle_range = -1; }},
        {"speckle_range is 1025", [](Parameters& p) { p.speckle_range = 1025; }},
        {"confidence_threshold is -1", [](Parameters& p) { p.confidence_threshold = -1; }},
        {"confidence_threshold is 256", [](Parameters& p) { p.confidence_threshold = 256; }},
        {"temporal_alpha is 0", [](Parameters& p) { p.temporal_alpha = 0; }},
        {"temporal_alpha is 1.01", [](Parameters& p) { p.temporal_alpha = 1.01; }},
        {"temporal_alpha", [=](Parameters& p) { p.temporal_alpha = nan; }},
        {"temporal_delta is -1", [](Parameters& p) { p.temporal_delta = -1; }},
        {"temporal_delta is 1025", [](Parameters& p) { p.temporal_delta = 1025; }},
        {"temporal_persistence is -1", [](Parameters& p) { p.temporal_persistence = -1; }},
        {"temporal_persistence is 256", [](Parameters& p) { p.temporal_persistence = 256; }},
    };
    std::vector<ParametersRefusal<Case>> all;
    for (const Refusal& refusal : refusals)
      all.push_back(
          {refusal.words,
           dense("GRAY8", 67, 31, changed([](Parameters& p) { p.p1 = 7, p.fill_holes = true; })),
           changed(refusal.spoil)});
    return all;
  }

  static Case refused_case() { return dense("NV12", 34, 10, few_disparities()); }

  static std::vector<FramesRefusal<Case>> frames_refusals() {
    using Frames = SgmFrames;
    auto refusals = wrong_frames<Case>(&Frames::left, "of the input frame");
    append(refusals, wrong_frames<Case>(&Frames::right, "of the input frame"));
    constexpr const char* disparities = "disparities must be 10 rows of 68 bytes";
    constexpr const char* confidences = "confidences must be 10 rows of 34 bytes";
    append(refusals, {{disparities, [](Frames& frames) { frames.disparity.data = nullptr; }},
                      {disparities, [](Frames& frames) { frames.disparity.width /= 2; }},
                      {disparities, [](Frames& frames) { frames.disparity.width += 2; }},
                      {disparities, [](Frames& frames) { frames.disparity.height -= 1; }},
                      {disparities, [](Frames& frames) { frames.disparity.height += 1; }},
                      {confidences, [](Frames& frames) { frames.confidence.width /= 2; }},
                      {confidences, [](Frames& frames) { frames.confidence.width += 2; }},
                      {confidences, [](Frames& frames) { frames.confidence.height -= 1; }},
                      {confidences, [](Frames& frames) { frames.confidence.height += 1; }}});
    return refusals;
  }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    // Large images are slow on the CPU, so they have one layout only.
    const bool large = width * height > 100000;
    for (const char* layout : {"GRAY8", "YUY2", "P010", "RGBA"})
      for (const Parameters& parameters : representative_sgm_parameters())
        if (!large || layout == std::string("GRAY8"))
          cases.push_back(dense(layout, width, height, parameters));
    return cases;
  }

  static std::vector<Case> changing() {
    std::vector<Case> cases = representatives(80, 30);
    for (std::size_t i = 0; i < cases.size(); i += 2)
      cases[i].with_confidence = false;
    return cases;
  }

  static std::vector<Parameters> sets(const Case& test) {
    const Change changes[] = {
        [](Parameters&) {},
        [](Parameters& p) { p.p1 = 30; },
        [](Parameters& p) { p.p2 = 40; },
        [](Parameters& p) { p.adaptive_p2 = false; },
        [](Parameters& p) { p.uniqueness = 0.5; },
        [](Parameters& p) { p.lr_max_diff = -1; },
        [](Parameters& p) { p.lr_max_diff = 3; },
        [](Parameters& p) { p.subpixel = !p.subpixel; },
        [](Parameters& p) { p.subpixel_method = Parameters::SubpixelMethod::parabola; },
        [](Parameters& p) { p.refine = !p.refine; },
        [](Parameters& p) { p.median = !p.median; },
        [](Parameters& p) { p.speckle_size = 0; },
        [](Parameters& p) { p.speckle_range = 4; },
        [](Parameters& p) { p.fill_holes = !p.fill_holes; },
        [](Parameters& p) { p.confidence_threshold = 40; },
        [](Parameters& p) { p.slanted_surfaces = !p.slanted_surfaces; },
        [](Parameters&) {},
    };
    std::vector<Parameters> all;
    for (const Change& change : changes) {
      all.push_back(test.parameters);
      change(all.back());
    }
    return all;
  }
};

CUDAVISION_CONTRACT(SgmStereo, SgmContract);

/// The contract's test of changing parameters needs sets whose maps differ from the first map.
TEST(SgmParameters, EachSetOfTheContractChangesTheMap) {
  SgmCase test = SgmContract::dense("GRAY8", 123, 45, few_disparities());
  const SgmInput input = input_block(test);
  const auto first = defined_output(test, input, 0xcd).disparity;
  const auto sets = SgmContract::sets(test);
  for (std::size_t i = 1; i + 1 < sets.size(); ++i) {
    test.parameters = sets[i];
    EXPECT_NE(defined_output(test, input, 0xcd).disparity, first) << describe(sets[i]);
  }
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

CUDAVISION_ON_BOTH_DEVICES(SgmStereoUse);

TEST_P(SgmStereoUse, RefusesPicturesThatAreNoPair) {
  const auto expect_refusal = [&](const FrameLayout& left, const FrameLayout& right) {
    CUDAVISION_EXPECT_ERROR(SgmStereo(device, left, right, few_disparities()), invalid_argument,
                            "must have the same size and bit depth");
  };
  expect_refusal(gray_layout(33, 9), gray_layout(34, 9));
  expect_refusal(gray_layout(33, 9), gray_layout(33, 10));
  expect_refusal(gray_layout(33, 9), gray_layout(33, 9, 10));
  expect_refusal(gray_layout(33, 9, 12), gray_layout(33, 9, 16));
  SgmStereo(device, gray_layout(34, 10, 10), layout_named("P010", 34, 10), few_disparities());
  SgmStereo(device, layout_named("YUY2", 34, 10), layout_named("RGBA", 34, 10), few_disparities());
}

TEST_P(SgmStereoUse, ConfigCannotChange) {
  const SgmCase test = SgmContract::dense("GRAY8", 67, 31, few_disparities());
  SgmStereo stereo = test.make(device, test.parameters);
  for (const Change& change : config_changes)
    CUDAVISION_EXPECT_ERROR(stereo.set_parameters(changed(change)), invalid_argument,
                            "cannot change while frames are being matched");
  EXPECT_EQ(difference_after_run(device, test, stereo), "");
}

/// On CUDA, a frame that needs the same work as the previous frame reuses the graph of that frame.
TEST_P(SgmStereoUse, FramesMayDifferFromThoseBefore) {
  Parameters cleaned = few_disparities(), large_penalties = few_disparities();
  Parameters raw = few_disparities();
  cleaned.speckle_size = 20;
  cleaned.fill_holes = true;
  raw.refine = false;
  raw.speckle_size = 0;
  large_penalties.p1 = 60;
  large_penalties.p2 = 120;
  SgmStereo stereo(device, gray_layout(133, 31), gray_layout(133, 31), few_disparities());
  for (const Parameters& parameters : {few_disparities(), cleaned, raw, large_penalties}) {
    std::vector<std::unique_ptr<SgmFrames>> all;
    for (int i = 0; i < 6; ++i) {
      SgmCase test = SgmContract::dense("GRAY8", 133, 31, parameters);
      test.content_seed += static_cast<std::uint64_t>(i);
      test.with_confidence = i == 3 || i == 4;
      all.push_back(std::make_unique<SgmFrames>(device, test));
    }
    stereo.set_parameters(parameters);
    for (const auto& frames : all)
      frames->run(stereo);
    device.finish();
    for (const auto& frames : all)
      EXPECT_EQ(difference_from_definition(*frames), "") << describe(frames->test);
  }
}

TEST_P(SgmStereoUse, WidthsDoNotDisturbEachOther) {
  for (const int disparities : {64, 128, 256}) {
    Parameters parameters;
    parameters.disparities = disparities;
    const SgmCase wide = SgmContract::dense("GRAY8", 3000, 5, parameters);
    const SgmCase narrow = SgmContract::dense("GRAY8", 40, 5, parameters);
    Running<SgmCase> first(device, device, wide), second(device, device, narrow);
    for (Running<SgmCase>* running : {&first, &second, &first}) {
      running->run();
      device.finish();
      EXPECT_EQ(running->wrong(), "") << disparities << " disparities";
    }
  }
}

/// Removes the names in angle brackets from a text.
std::string without_names(const std::string& text) {
  std::string rest;
  bool is_name = false;
  for (const char c : text) {
    is_name = is_name || c == '<';
    if (!is_name)
      rest += c;
    is_name = is_name && c != '>';
  }
  return rest;
}

std::string without_brackets(std::string text) {
  std::erase(text, '<');
  std::erase(text, '>');
  return text;
}

/// Wording replaces every parameter name in an error, and changes nothing else.
TEST(SgmParameters, ErrorsNameParametersInTheWordsOfTheUser) {
  const Wording bracketed = [](std::string name) { return "<" + name + ">"; };
  for (const auto& refusal : SgmContract::parameters_refusals()) {
    const std::string error = validation_error(refusal.wrong, bracketed);
    EXPECT_EQ(error.find('<'), 0U) << error;
    EXPECT_EQ(without_names(error).find_first_of("_<>"), std::string::npos) << error;
    EXPECT_EQ(without_brackets(error), validation_error(refusal.wrong));
  }
  const FrameLayout layout = gray_layout(40, 10);
  const std::unique_ptr<Device> device = make_cpu_device();
  const auto make = [&](const Parameters& parameters) {
    return SgmStereo(*device, layout, layout, parameters, bracketed);
  };
  CUDAVISION_EXPECT_ERROR(make(changed([](Parameters& p) { p.p2 = 224; })), invalid_argument,
                          "<p2> is 224");
  SgmStereo stereo(*device, layout, layout, {}, bracketed);
  CUDAVISION_EXPECT_ERROR(stereo.set_parameters(changed([](Parameters& p) { p.paths = 8; })),
                          invalid_argument, "<minimum>, <paths>");
}

}  // namespace
}  // namespace cudavision::test
