// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a user of NlMeans relies on beside the pixels: refusals with words, the identity known as
// such, parameters that change between frames; and the table of weights by itself.

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "cuda/nlmeans/weights.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"
#include "tests/kernels/nlmeans/nlmeans_frames.h"

namespace cudavision::test {
namespace {

using namespace nlmeans;

class NlMeansUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, NlMeansUse, both_devices(), device_name);

constexpr nlmeans::Parameters small{5, 3, 20};

TEST_P(NlMeansUse, RefusesLayoutsWithWords) {
  std::vector<LayoutRefusal> refusals = common_layout_refusals();
  const auto add = [&](const char* words, const std::function<void(FrameLayout&)>& spoil) {
    refusals.push_back({words, [=](FrameLayout& l) {
                          l = layout_named("RGB", l.width, l.height);
                          spoil(l);
                        }});
  };
  add("one channel each", [](FrameLayout& l) { l.channel_count = 2; });
  add("one channel each", [](FrameLayout& l) { l.channels[1].role = Role::chroma; });
  add("one channel each", [](FrameLayout& l) { l.channels[2].role = Role::red; });
  add("one channel each", [](FrameLayout& l) {
    l = layout_named("RGBA", l.width, l.height);
    l.channels[3].role = Role::blue;
  });
  add("different sizes", [](FrameLayout& l) { l.channels[1].height -= 1; });
  add("different sizes", [](FrameLayout& l) { l.channels[2].width -= 1; });
  add("different sizes", [](FrameLayout& l) { l.channels[0].width -= 1; });
  on_device([&](Device& device) {
    for (const LayoutRefusal& refusal : refusals) {
      SCOPED_TRACE("refusal " + std::to_string(&refusal - refusals.data()));
      FrameLayout layout = gray_layout(33, 9);
      refusal.spoil(layout);
      CUDAVISION_EXPECT_ERROR(NlMeans(device, layout, small), invalid_argument, refusal.words);
    }
  });
}

TEST_P(NlMeansUse, RefusesParametersWithWordsAndKeepsTheLastValidSet) {
  struct Refusal {
    const char* words;
    nlmeans::Parameters wrong;
  };
  const Refusal refusals[] = {
      {"a search of 0 pixels; it must be an odd number up to 101", {0, 3, 20}},
      {"a search of -1 pixels", {-1, 3, 20}},
      {"a search of 20 pixels", {20, 3, 20}},
      {"a search of 103 pixels", {103, 3, 20}},
      {"a patch of 0 pixels; it must be an odd number up to 31", {5, 0, 20}},
      {"a patch of -3 pixels", {5, -3, 20}},
      {"a patch of 4 pixels", {5, 4, 20}},
      {"a patch of 33 pixels", {5, 33, 20}},
      {"a strength of -0.100000; it must be 0 to 255", {5, 3, -0.1}},
      {"it must be 0 to 255", {5, 3, 255.1}},
      {"it must be 0 to 255", {5, 3, std::numeric_limits<double>::infinity()}},
      {"it must be 0 to 255", {5, 3, std::nan("")}},
  };
  on_device([&](Device& device) {
    for (const Refusal& refusal : refusals) {
      SCOPED_TRACE(refusal.words);
      const DenoisedFrames frames(device, layout_named("NV12", 67, 31), Content::natural);
      CUDAVISION_EXPECT_ERROR(NlMeans(device, frames.layout, refusal.wrong), invalid_argument,
                              refusal.words);
      NlMeans denoising(device, frames.layout, {3, 5, 0});
      denoising.set_parameters(small);
      CUDAVISION_EXPECT_ERROR(denoising.set_parameters(refusal.wrong), invalid_argument,
                              refusal.words);
      EXPECT_FALSE(denoising.identity());
      denoising.run(frames.in(), frames.out());
      device.finish();
      EXPECT_EQ(frames.out_block.values(), frames.expected(small)) << "the last valid set is lost";
    }
  });
}

TEST_P(NlMeansUse, RefusesFramesOfAnotherShape) {
  on_device([](Device& device) {
    const DenoisedFrames frames(device, layout_named("NV12", 34, 10), Content::natural);
    NlMeans denoising(device, frames.layout, small);
    const auto expect_refusal = [&](const std::function<void(Frame&)>& spoil) {
      Frame wrong = frames.out();
      spoil(wrong);
      CUDAVISION_EXPECT_ERROR(denoising.run(frames.in(), wrong), invalid_argument,
                              "of the output frame");
      CUDAVISION_EXPECT_ERROR(denoising.run(wrong, frames.out()), invalid_argument,
                              "of the input frame");
    };
    expect_refusal([](Frame& frame) { frame.planes[0].data = nullptr; });
    expect_refusal([](Frame& frame) { frame.planes[1].data = nullptr; });
    expect_refusal([](Frame& frame) { frame.planes[0].width += 1; });
    expect_refusal([](Frame& frame) { frame.planes[1].height -= 1; });
    device.finish();
    EXPECT_EQ(frames.out_block.values(),
              std::vector<std::uint8_t>(frames.placement.bytes, DenoisedFrames::out_poison))
        << "a refused run wrote something";
  });
}

TEST_P(NlMeansUse, KnowsTheIdentity) {
  struct Claim {
    bool identity;
    nlmeans::Parameters parameters;
  };
  const Claim claims[] = {
      {true, {5, 3, 0}},   {true, {1, 3, 20}}, {true, {1, 1, 0}},
      {false, {3, 1, 20}}, {false, small},     {false, {5, 3, 1e-30}},
  };
  on_device([&](Device& device) {
    for (const char* name : {"GRAY8", "NV12", "RGBA", "P010", "GRAY8Roomy"})
      for (const Claim& claim : claims) {
        SCOPED_TRACE(testing::Message() << name << ", claim " << &claim - claims);
        const DenoisedFrames frames(device, layout_named(name, 20, 10), Content::random);
        EXPECT_EQ(NlMeans(device, frames.layout, claim.parameters).identity(), claim.identity);
        // Where it was another set's before.
        NlMeans denoising(device, frames.layout, {3, 3, claim.identity ? 3.0 : 0.0});
        EXPECT_EQ(denoising.identity(), !claim.identity);
        denoising.set_parameters(claim.parameters);
        EXPECT_EQ(denoising.identity(), claim.identity);
        denoising.run(frames.in(), frames.out());
        device.finish();
        EXPECT_EQ(frames.out_block.values(), frames.expected(claim.parameters));
      }
  });
}

TEST_P(NlMeansUse, ParametersChangeFromOneFrameToTheNext) {
  // Windows and tables get larger and smaller.
  const int most = most_search(settings().max_pixels);
  const nlmeans::Parameters sets[] = {
      small,        {7, 5, 10},   {7, 5, 10.5}, {3, 7, 255}, {3, 7, 0.5}, {21, 3, 40},   {5, 3, 0},
      {3, 31, 100}, {most, 1, 9}, {5, 3, 5},    {1, 9, 5},   {5, 9, 5},   {5, 3, 1e-30}, small,
  };
  on_device([&](Device& device) {
    for (const char* name : {"RGBA", "YUY2", "P010", "I420"}) {
      SCOPED_TRACE(name);
      const FrameLayout layout = layout_named(name, 35, 17);
      std::vector<std::unique_ptr<DenoisedFrames>> frames;
      for (const nlmeans::Parameters& set : sets)
        frames.push_back(std::make_unique<DenoisedFrames>(device, layout, Content::natural,
                                                          static_cast<std::uint64_t>(&set - sets)));
      // Not finished in between: each frame keeps the parameters that held when it was enqueued.
      NlMeans denoising(device, layout, {9, 3, 99});
      for (std::size_t i = 0; i < frames.size(); ++i) {
        denoising.set_parameters(sets[i]);
        denoising.run(frames[i]->in(), frames[i]->out());
      }
      denoising.set_parameters({9, 3, 99});
      device.finish();
      for (std::size_t i = 0; i < frames.size(); ++i)
        EXPECT_EQ(frames[i]->out_block.values(), frames[i]->expected(sets[i])) << "set " << i;
    }
  });
}

/// The planes of one colour space give the same in whatever order they lie in memory.
TEST_P(NlMeansUse, ChannelsGiveTheSameInEveryLayout) {
  on_device([](Device& device) {
    const auto denoised = [&](const DenoisedFrames& frames) {
      NlMeans(device, frames.layout, {7, 5, 15}).run(frames.in(), frames.out());
      device.finish();
      return frames.out_block.values();
    };
    const FrameLayout nv12 = layout_named("NV12", 90, 40), i420 = layout_named("I420", 90, 40);
    DenoisedFrames interleaved(device, nv12, Content::natural);
    DenoisedFrames planar(device, i420, Content::natural);
    // The same chroma in both: that of the painted NV12 frame.
    std::vector<std::uint8_t> block = interleaved.host;
    std::vector<std::uint8_t> apart(planar.placement.bytes);
    const auto from = frame_in(nv12, interleaved.placement, block.data());
    const auto to = frame_in(i420, planar.placement, apart.data());
    const auto separate = [](const Frame& pairs, const Frame& planes) {
      for (int y = 0; y < 40; ++y)
        std::copy_n(pairs.planes[0].row(y), 90, planes.planes[0].row(y));
      for (int y = 0; y < 20; ++y)
        for (int x = 0; x < 45; ++x)
          for (int c = 0; c < 2; ++c)
            planes.planes[static_cast<std::size_t>(1 + c)].row(y)[x] =
                pairs.planes[1].row(y)[2 * x + c];
    };
    separate(from, to);
    const DeviceBlock<std::uint8_t> planar_in(device, apart);
    NlMeans(device, i420, {7, 5, 15})
        .run(frame_in(i420, planar.placement, static_cast<const std::uint8_t*>(planar_in.data())),
             planar.out());
    device.finish();
    std::vector<std::uint8_t> planar_out = planar.out_block.values();
    std::vector<std::uint8_t> interleaved_out = denoised(interleaved), expected = planar_out;
    separate(frame_in(nv12, interleaved.placement, interleaved_out.data()),
             frame_in(i420, planar.placement, expected.data()));
    EXPECT_EQ(planar_out, expected);
  });
}

TEST_P(NlMeansUse, TakesNoiseAway) {
  on_device([](Device& device) {
    const DenoisedFrames frames(device, gray_layout(200, 100), Content::narrow);
    NlMeans(device, frames.layout, {21, 7, 10}).run(frames.in(), frames.out());
    device.finish();
    const auto variance = [](const std::vector<std::uint8_t>& block) {
      double sum = 0, squares = 0;
      for (std::size_t i = 0; i < 20000; ++i) {
        sum += block[i];
        squares += double{1} * block[i] * block[i];
      }
      return squares / 20000 - sum / 20000 * sum / 20000;
    };
    EXPECT_LT(variance(frames.out_block.values()), variance(frames.host) / 20);
  });
}

TEST(PatchWeights, AreTheDefinedOnes) {
  for (const int bits : {8, 9, 10, 16})
    for (const int channels : {1, 3})
      for (const int patch : {1, 3, 7, 9, 31})
        for (const double strength : {1e-30, 0.3, 3.0, 10.0, 47.5, 200.0, 255.0}) {
          const nlmeans::Parameters parameters{21, patch, strength};
          SCOPED_TRACE(testing::Message() << bits << " bits, " << channels << " channels, patch "
                                          << patch << ", strength " << strength);
          const auto expected = defined_weights(parameters, bits, channels);
          std::vector<std::uint32_t> weights(static_cast<std::size_t>(most_patch_weights(channels)),
                                             0xdeadbeef);
          const int count = make_patch_weights(parameters, bits, channels, weights.data());
          ASSERT_GE(count, 1);
          ASSERT_LE(static_cast<std::size_t>(count), expected.size());
          for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_EQ(weights[std::min(i, static_cast<std::size_t>(count - 1))], expected[i])
                << "weight " << i;
          if (static_cast<std::size_t>(count) < weights.size()) {
            EXPECT_EQ(weights[static_cast<std::size_t>(count)], 0xdeadbeef) << "not asked for";
          }
        }
}

}  // namespace
}  // namespace cudavision::test
