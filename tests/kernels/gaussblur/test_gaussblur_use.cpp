// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a user of GaussBlur relies on beside the pixels: refusals with words, the identity known as
// such, parameters that change between frames.

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/gaussblur/gaussblur_frames.h"

namespace cudavision::test {
namespace {

using namespace gaussblur;

class GaussBlurUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, GaussBlurUse, both_devices(), device_name);

TEST_P(GaussBlurUse, RefusesLayoutsWithWords) {
  std::vector<LayoutRefusal> refusals = common_layout_refusals();
  const auto add = [&](const char* words, const char* layout,
                       const std::function<void(FrameLayout&)>& spoil) {
    refusals.push_back({words, [=](FrameLayout& l) {
                          l = layout_named(layout, l.width, l.height);
                          spoil(l);
                        }});
  };
  add("different heights", "RGB", [](FrameLayout& l) { l.channels[1].height -= 1; });
  add("different heights", "NV12", [](FrameLayout& l) { l.channels[2].height -= 1; });
  add("different heights", "YUY2", [](FrameLayout& l) { l.channels[2].subsampling_y = 2; });
  add("at most 8 bytes", "GRAY8", [](FrameLayout& l) {
    l.channels[0].step = 9;
    l.planes[0].row_bytes *= 9;
  });
  add("at most 8 bytes", "GRAY16", [](FrameLayout& l) {
    l.channels[0].step = 5;
    l.planes[0].row_bytes *= 5;
  });
  add("steps of 2 and 3", "RGBMixed", [](FrameLayout& l) {
    l.planes[0].row_bytes *= 2;
    l.channels[1].step = 3;
  });
  add("steps of 2 and 3", "YUY2", [](FrameLayout& l) {
    l.channels[2].step = 3;
    l.channels[2].offset = 2;
  });
  add("steps of 3 and 3", "RGB", [](FrameLayout& l) { l.channels[2].subsampling_x = 2; });
  add("steps of 2 and 4", "P010", [](FrameLayout& l) {
    l.planes[1].row_bytes *= 2;
    l.channels[2].step = 4;
  });
  on_device([&](Device& device) {
    for (const LayoutRefusal& refusal : refusals) {
      SCOPED_TRACE("refusal " + std::to_string(&refusal - refusals.data()));
      FrameLayout layout = gray_layout(33, 9);
      refusal.spoil(layout);
      CUDAVISION_EXPECT_ERROR(GaussBlur(device, layout, with_sigma(1)), invalid_argument,
                              refusal.words);
    }
  });
}

TEST_P(GaussBlurUse, RefusesParametersWithWordsAndKeepsTheLastValidSet) {
  using Parameters = gaussblur::Parameters;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto beyond = [](std::size_t channel, std::uint16_t value) {
    return changed([=](Parameters& p) {
      p.border = Border::constant;
      p.border_values[channel] = value;
    });
  };
  struct Refusal {
    const char* layout;
    const char* words;
    Parameters wrong;
  };
  const Refusal refusals[] = {
      {"GRAY8", "sigma along x is -0.100000; it must be between 0 and 127",
       changed([](Parameters& p) { p.sigma_x = -0.1; })},
      {"GRAY8", "sigma along y is", changed([](Parameters& p) { p.sigma_y = -1; })},
      {"GRAY8", "sigma along x is", changed([](Parameters& p) { p.sigma_x = 127.1; })},
      {"GRAY8", "sigma along y is", changed([=](Parameters& p) { p.sigma_y = infinity; })},
      {"GRAY8", "sigma along x is", changed([](Parameters& p) { p.sigma_x = std::nan(""); })},
      {"GRAY8", "size along x is 2; it must be an odd number between 1 and 1023, or 0",
       changed([](Parameters& p) { p.size_x = 2; })},
      {"GRAY8", "size along x is -1;", changed([](Parameters& p) { p.size_x = -1; })},
      {"GRAY8", "size along y is 1022;", changed([](Parameters& p) { p.size_y = 1022; })},
      {"GRAY8", "size along y is 1025;", changed([](Parameters& p) { p.size_y = 1025; })},
      {"RGB", "value of channel 2 is 256; samples of 8 bits are at most 255", beyond(2, 256)},
      {"P010", "value of channel 0 is 1024; samples of 10 bits are at most 1023", beyond(0, 1024)},
  };
  on_device([&](Device& device) {
    for (const Refusal& refusal : refusals) {
      SCOPED_TRACE(refusal.words);
      const BlurFrames frames(device, layout_named(refusal.layout, 67, 31), Content::natural);
      CUDAVISION_EXPECT_ERROR(GaussBlur(device, frames.layout, refusal.wrong), invalid_argument,
                              refusal.words);
      GaussBlur blur(device, frames.layout, with_sigma(0));
      blur.set_parameters(with_sigma(1.5));
      CUDAVISION_EXPECT_ERROR(blur.set_parameters(refusal.wrong), invalid_argument, refusal.words);
      EXPECT_FALSE(blur.identity());
      blur.run(frames.in(), frames.out());
      device.finish();
      EXPECT_EQ(frames.out_block.values(), frames.expected(with_sigma(1.5)))
          << "the last valid set is lost";
    }
  });
}

TEST_P(GaussBlurUse, LooksAtBorderValuesWhereTheyCountOnly) {
  on_device([](Device& device) {
    const BlurFrames frames(device, gray_layout(67, 31), Content::natural);
    // Of another border, or of a channel that there is not.
    for (const auto& parameters :
         {changed([](gaussblur::Parameters& p) { p.border_values[0] = 999; }),
          changed([](gaussblur::Parameters& p) {
            p.border = Border::constant;
            p.border_values = {255, 999, 999, 999};
          })}) {
      GaussBlur(device, frames.layout, parameters).run(frames.in(), frames.out());
      device.finish();
      EXPECT_EQ(frames.out_block.values(), frames.expected(parameters));
    }
  });
}

TEST_P(GaussBlurUse, RefusesFramesOfAnotherShape) {
  on_device([](Device& device) {
    const BlurFrames frames(device, layout_named("NV12", 34, 10), Content::natural);
    GaussBlur blur(device, frames.layout, with_sigma(2));
    const auto expect_refusal = [&](const std::function<void(Frame&)>& spoil) {
      Frame wrong = frames.out();
      spoil(wrong);
      CUDAVISION_EXPECT_ERROR(blur.run(frames.in(), wrong), invalid_argument,
                              "of the output frame");
      CUDAVISION_EXPECT_ERROR(blur.run(wrong, frames.out()), invalid_argument,
                              "of the input frame");
    };
    expect_refusal([](Frame& frame) { frame.planes[0].data = nullptr; });
    expect_refusal([](Frame& frame) { frame.planes[1].data = nullptr; });
    expect_refusal([](Frame& frame) { frame.planes[0].width += 1; });
    expect_refusal([](Frame& frame) { frame.planes[1].height -= 1; });
    device.finish();
    EXPECT_EQ(frames.out_block.values(),
              std::vector<std::uint8_t>(frames.placement.bytes, BlurFrames::out_poison))
        << "a refused run wrote something";
  });
}

TEST_P(GaussBlurUse, KnowsTheIdentity) {
  struct Claim {
    bool identity;
    const char* layout;
    int width, height;
    gaussblur::Parameters parameters;
  };
  const auto sized = [](int x, int y) {
    return changed([=](gaussblur::Parameters& p) {
      p.sigma_x = p.sigma_y = 0;
      p.size_x = x;
      p.size_y = y;
    });
  };
  const auto constant = [](double sigma) {
    return changed([=](gaussblur::Parameters& p) {
      p.sigma_x = p.sigma_y = sigma;
      p.border = Border::constant;
    });
  };
  gaussblur::Parameters sharpen_nothing = with_sigma(0);
  sharpen_nothing.sharpen = true;
  gaussblur::Parameters fields = with_sigma(2);
  fields.fields = true;
  const Claim claims[] = {
      {true, "GRAY8", 20, 10, with_sigma(0)},
      {true, "GRAY8", 20, 10, with_sigma(0.01)},
      {true, "GRAY8", 20, 10, sized(1, 1)},
      {true, "RGBA", 20, 10, sharpen_nothing},
      {true, "P010", 20, 10, with_sigma(0)},
      {true, "GRAY8", 1, 1, with_sigma(5)},
      {true, "GRAY8", 1, 2, fields},
      {true, "I420", 1, 1, with_sigma(5)},
      {true, "GRAY16", 20, 10, constant(0)},
      {false, "GRAY8", 1, 1, constant(5)},
      {false, "GRAY8", 2, 1, with_sigma(5)},
      {false, "GRAY8", 1, 2, with_sigma(5)},
      {false, "GRAY8", 1, 3, fields},
      {false, "GRAY8", 20, 10, sized(3, 1)},
      {false, "GRAY8", 20, 10, sized(1, 3)},
      {false, "NV12", 20, 10, with_sigma(0.3)},  // of its luma only
      {false, "RGBA", 20, 10, with_sigma(1)},
  };
  on_device([&](Device& device) {
    for (const Claim& claim : claims) {
      SCOPED_TRACE("claim " + std::to_string(&claim - claims));
      const BlurFrames frames(device, layout_named(claim.layout, claim.width, claim.height),
                              Content::random);
      EXPECT_EQ(GaussBlur(device, frames.layout, claim.parameters).identity(), claim.identity);
      // Where it was another set's before.
      GaussBlur blur(device, frames.layout, constant(claim.identity ? 3 : 0));
      EXPECT_EQ(blur.identity(), !claim.identity);
      blur.set_parameters(claim.parameters);
      EXPECT_EQ(blur.identity(), claim.identity);
      blur.run(frames.in(), frames.out());
      device.finish();
      EXPECT_EQ(frames.out_block.values(), frames.expected(claim.parameters));
    }
    // All but alpha is blurred, or nothing is.
    FrameLayout alpha_only = gray_layout(20, 10);
    alpha_only.channels[0].role = Role::alpha;
    EXPECT_FALSE(GaussBlur(device, alpha_only, with_sigma(1)).identity());
    EXPECT_TRUE(GaussBlur(device, alpha_only,
                          changed([](gaussblur::Parameters& p) { p.blur_alpha = false; }))
                    .identity());
  });
}

TEST_P(GaussBlurUse, ParametersChangeFromOneFrameToTheNext) {
  using Parameters = gaussblur::Parameters;
  // Each differs from the one before in something else; kernels get larger and smaller.
  const Parameters sets[] = {
      with_sigma(1.2),
      changed([](Parameters& p) { p.size_x = p.size_y = 1023; }),
      changed([](Parameters& p) { p.sharpen = true; }),
      changed([](Parameters& p) { p.border = Border::wrap; }),
      changed([](Parameters& p) { p.fields = true; }),
      changed([](Parameters& p) {
        p.border = Border::constant;
        p.border_values = {1, 2, 3, 4};
      }),
      changed([](Parameters& p) {
        p.border = Border::constant;
        p.border_values = {200, 100, 50, 25};
      }),
      changed([](Parameters& p) { p.blur_alpha = false; }),
      changed([](Parameters& p) { p.fine = true; }),
      with_sigma(0),
      changed([](Parameters& p) { p.sigma_x = 0; }),
      changed([](Parameters& p) { p.sigma_y = 0; }),
      with_sigma(127),
      with_sigma(1.2),
  };
  on_device([&](Device& device) {
    for (const char* name : {"RGBA", "YUY2", "P010", "I420"}) {
      SCOPED_TRACE(name);
      const FrameLayout layout = layout_named(name, 321, 45);
      std::vector<std::unique_ptr<BlurFrames>> frames;
      for (const Parameters& set : sets)
        frames.push_back(std::make_unique<BlurFrames>(device, layout, Content::natural,
                                                      static_cast<std::uint64_t>(&set - sets)));
      // Not finished in between: each frame keeps the parameters that held when it was enqueued.
      GaussBlur blur(device, layout, with_sigma(40));
      for (std::size_t i = 0; i < frames.size(); ++i) {
        blur.set_parameters(sets[i]);
        blur.run(frames[i]->in(), frames[i]->out());
      }
      blur.set_parameters(with_sigma(9));
      device.finish();
      for (std::size_t i = 0; i < frames.size(); ++i)
        EXPECT_EQ(frames[i]->out_block.values(), frames[i]->expected(sets[i])) << "set " << i;
    }
  });
}

TEST_P(GaussBlurUse, ASweptSigmaMovesThePictureInSmallSteps) {
  CUDAVISION_NEEDS_PIXELS(320 * 240);
  on_device([](Device& device) {
    const BlurFrames frames(device, gray_layout(320, 240), Content::natural);
    GaussBlur blur(device, frames.layout, with_sigma(0));
    std::vector<std::uint8_t> before;
    for (int frame = 0; frame <= 300; ++frame) {
      const double sigma = 60.0 * frame / 300;
      blur.set_parameters(with_sigma(sigma));
      blur.run(frames.in(), frames.out());
      device.finish();
      const auto now = frames.out_block.values();
      if (frame == 0) {
        EXPECT_TRUE(blur.identity());
      }
      if (sigma > 1) {
        long long sum = 0;
        for (std::size_t i = 0; i < now.size(); ++i)
          sum += std::abs(int{now[i]} - int{before[i]});
        ASSERT_LE(sum, static_cast<long long>(now.size())) << "before sigma " << sigma;
      }
      before = now;
    }
  });
}

}  // namespace
}  // namespace cudavision::test
