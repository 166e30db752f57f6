// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "cuda/nlmeans/strengths.h"
#include "tests/kernels/contract/contract.h"
#include "tests/kernels/contract/filters.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

constexpr Parameters small{5, 3, 20};

struct NlMeansContract : ContractTraits<NlMeansCase> {
  static constexpr Size captured{101, 43}, busy{640, 480}, neighbour{133, 77}, streamed{320, 180};

  static std::vector<LayoutRefusal> layout_refusals() {
    std::vector<LayoutRefusal> refusals = common_layout_refusals();
    add_refusal(refusals, "RGB", "one channel each", [](FrameLayout& l) { l.channel_count = 2; });
    add_refusal(refusals, "RGB", "one channel each",
                [](FrameLayout& l) { l.channels[1].role = Role::chroma; });
    add_refusal(refusals, "RGB", "one channel each",
                [](FrameLayout& l) { l.channels[2].role = Role::red; });
    add_refusal(refusals, "RGB", "one channel each", [](FrameLayout& l) {
      l = layout_named("RGBA", l.width, l.height);
      l.channels[3].role = Role::blue;
    });
    add_refusal(refusals, "RGB", "must have the same size",
                [](FrameLayout& l) { l.channels[1].height -= 1; });
    add_refusal(refusals, "RGB", "must have the same size",
                [](FrameLayout& l) { l.channels[2].width -= 1; });
    add_refusal(refusals, "RGB", "must have the same size",
                [](FrameLayout& l) { l.channels[0].width -= 1; });
    return refusals;
  }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    const Case valid = dense("NV12", 67, 31, small);
    return {
        {"a search size of 0 pixels; it must be an odd number from 1 to 101", valid, {0, 3, 20}},
        {"a search size of -1 pixels", valid, {-1, 3, 20}},
        {"a search size of 20 pixels", valid, {20, 3, 20}},
        {"a search size of 103 pixels", valid, {103, 3, 20}},
        {"a patch size of 0 pixels; it must be an odd number from 1 to 31", valid, {5, 0, 20}},
        {"a patch size of -3 pixels", valid, {5, -3, 20}},
        {"a patch size of 4 pixels", valid, {5, 4, 20}},
        {"a patch size of 33 pixels", valid, {5, 33, 20}},
        {"a strength of -0.100000; it must be 0 to 255", valid, {5, 3, -0.1}},
        {"it must be 0 to 255", valid, {5, 3, 255.1}},
        {"it must be 0 to 255", valid, {5, 3, std::numeric_limits<double>::infinity()}},
        {"it must be 0 to 255", valid, {5, 3, std::nan("")}},
        {"it must be 0 to 255, or -1 for automatic", valid, {5, 3, 20, -0.5}},
        {"a strength of 256.000000", valid, {5, 3, 20, 256}},
        {"0 frames; there must be 1 to", valid, with_frames({5, 3, 20}, 0)},
        {"10 frames; there must be 1 to", valid, with_frames({5, 3, 20}, 10)},
    };
  }

  static Case refused_case() { return dense("NV12", 34, 10, small); }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBA"})
      for (const Parameters& parameters : {Parameters{9, 7, 10}, {7, 5, 200}, {5, 9, 5}})
        cases.push_back(dense(layout, width, height, parameters));
    for (const char* layout : {"GRAY8", "NV12", "P010", "RGBA"})
      for (const Parameters& parameters :
           {with_frames({9, 7, 10}, 3), with_frames({5, 5, 30}, 2), with_frames({3, 17, 20}, 2)})
        cases.push_back(dense(layout, width, height, parameters));
    return cases;
  }

  static std::vector<Case> changing() {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "RGBA", "YUY2", "P010", "I420"})
      cases.push_back(dense(layout, 35, 17, {9, 3, 99}));
    return cases;
  }

  static std::vector<Parameters> sets(const Case&) {
    const int maximum = max_search(settings().max_pixels);
    return {small,         {7, 5, 10},   {7, 5, 10.5},    {3, 7, 255}, {3, 7, 0.5}, {21, 3, 40},
            {5, 3, 0},     {3, 31, 100}, {maximum, 1, 9}, {5, 3, 5},   {1, 9, 5},   {5, 9, 5},
            {5, 3, 1e-30}, small};
  }
};

CUDAVISION_CONTRACT(NlMeans, NlMeansContract);

CUDAVISION_ON_BOTH_DEVICES(NlMeansUse);

TEST_P(NlMeansUse, KnowsTheIdentity) {
  expect_identities<NlMeansCase>(device, {
                                             {true, {5, 3, 0}},
                                             {true, {1, 3, 20}},
                                             {true, {1, 1, 0}},
                                             {false, {3, 1, 20}},
                                             {false, small},
                                             {false, {5, 3, 1e-30}},
                                         });
}

TEST_P(NlMeansUse, RefusesAnAutomaticStrengthWithoutNoise) {
  const NlMeansCase test =
      plain_nlmeans_case(layout_named("NV12", 20, 10), {5, 3, -1}, Content::random, 5);
  NlMeans denoising = test.make(device, test.parameters);
  const NlMeansCase::Frames frames(device, test);
  EXPECT_TRUE(denoising.needs_noise());
  EXPECT_THROW(denoising.run(frames.in, frames.out), Error);
  denoising.set_parameters({5, 3, 0, 0});
  EXPECT_FALSE(denoising.needs_noise());
  denoising.set_parameters({5, 3, 3});
  EXPECT_FALSE(denoising.needs_noise());
  denoising.run(frames.in, frames.out);
  device.finish();
}

TEST_P(NlMeansUse, FollowsNoiseFromFrameToFrame) {
  NlMeansCase test =
      plain_nlmeans_case(layout_named("NV12", 34, 10), {7, 5, -1}, Content::natural, 82);
  NlMeans denoising = test.make(device, test.parameters);
  for (const std::uint32_t variance : {90000u, 100u, 0u, 400000u, 6000u, 6100u}) {
    test.noise = {variance, variance / 4, variance / 2, 0};
    EXPECT_EQ(difference_after_run(device, test, denoising), "")
        << "with a variance of " << variance;
  }
}

CUDAVISION_ON_BOTH_DEVICES(NlMeansSeveralFrames);

NlMeansCase case_of(const char* layout, int frames) {
  return plain_nlmeans_case(layout_named(layout, 45, 23), with_frames({5, 3, 30}, frames),
                            Content::natural, 5);
}

TEST_P(NlMeansSeveralFrames, MayBecomeFewerAndMoreAgain) {
  for (const char* layout : {"GRAY8", "RGBA", "P010"}) {
    NlMeans denoising = case_of(layout, 9).make(device, with_frames({7, 5, 10}, 9));
    for (const int frames : {3, 1, 2, 9, 5, 1, 9}) {
      const NlMeansCase test = case_of(layout, frames);
      SCOPED_TRACE(describe(test));
      denoising.set_parameters(test.parameters);
      EXPECT_EQ(difference_after_run(device, test, denoising), "");
    }
  }
}

/// With several frames, a search of one pixel averages over time, so it is not the identity.
TEST_P(NlMeansSeveralFrames, AreSearchedEvenIfTheSearchIsOnePixel) {
  NlMeansCase test = case_of("GRAY8", 2);
  test.parameters = with_frames({1, 1, 255}, 2);
  NlMeans denoising = test.make(device, test.parameters);
  EXPECT_FALSE(denoising.identity());
  denoising.set_parameters(with_frames({1, 1, 255}, 1));
  EXPECT_TRUE(denoising.identity());
  denoising.set_parameters(with_frames({3, 1, 0}, 2));
  EXPECT_TRUE(denoising.identity());
}

TEST_P(NlMeansSeveralFrames, AreRefusedIfTheyAreNotThoseOfTheParameters) {
  const NlMeansCase test = case_of("NV12", 3);
  NlMeans denoising = test.make(device, test.parameters);
  CUDAVISION_EXPECT_ERROR(denoising.set_parameters(with_frames({5, 3, 30}, 4)), invalid_argument,
                          "4 frames; there must be 1 to 3");
  const NlMeansCase::Frames memory(device, test);
  std::vector<ConstFrame> neighbours = test.neighbours(memory.in);
  CUDAVISION_EXPECT_ERROR(denoising.run(memory.in, memory.out), invalid_argument,
                          "1 frames; the parameters require 3");
  neighbours.push_back(neighbours[0]);
  CUDAVISION_EXPECT_ERROR(denoising.run(memory.in, neighbours, memory.out), invalid_argument,
                          "4 frames; the parameters require 3");
  neighbours.pop_back();
  --neighbours[1].planes[1].height;
  CUDAVISION_EXPECT_ERROR(denoising.run(memory.in, neighbours, memory.out), invalid_argument,
                          "of the neighbour frame");
  ++neighbours[1].planes[1].height;
  EXPECT_NE(difference_from_definition(memory), "") << "something was written";
  memory.run(denoising);
  device.finish();
  EXPECT_EQ(difference_from_definition(memory), "");
}

TEST(StrengthSteps, AreTheNearest) {
  constexpr std::array<std::pair<int, int>, 5> searches_and_frames{
      {{3, 1}, {11, 5}, {21, 1}, {21, 9}, {101, 2}}};
  for (const auto& [search, frames] : searches_and_frames) {
    const StrengthSteps steps(search, frames);
    for (std::uint32_t variance = 0; variance < 1u << 22; variance += 1 + variance / 200) {
      const double strength = (0.95 * std::sqrt(variance) / noise::Level::per_level + 0.5) *
                              std::pow(21.0 / search, 0.2) * std::pow(frames, -1.0 / 7);
      const double nearest = std::round(8 * std::log2(std::clamp(strength, 1.0, 58.0)));
      ASSERT_EQ(steps.step_for(variance), nearest)
          << "for a variance of " << variance << " and a search of " << search << " in " << frames
          << " frames";
    }
  }
}

/// The weight tables of all strength steps fit into the memory for tables, and each ends with 0.
TEST(StrengthSteps, HaveTablesThatFit) {
  for (const int bits : {8, 10, 16})
    for (const int channels : {1, 3})
      for (int patch = 1; patch <= Parameters::Ranges::patch.max; patch += 2) {
        const Parameters parameters = with_frames({patch % 4 == 1 ? 65 : 21, patch}, 2);
        std::vector<std::uint32_t> weights(static_cast<std::size_t>(max_patch_weights(channels)));
        int sum = 0, count = 0;
        for (int step = 0; step < strength_steps; ++step) {
          count = make_patch_weights(parameters, strength_of_step(step), bits, channels,
                                     weights.data());
          ASSERT_EQ(weights[count - 1], 0u);
          sum += count;
        }
        EXPECT_LE(sum + strength_class_count, max_weights_of_steps(channels));
        EXPECT_LT(count, max_weights_of_last_step(channels));
      }
}

}  // namespace
}  // namespace cudavision::test
