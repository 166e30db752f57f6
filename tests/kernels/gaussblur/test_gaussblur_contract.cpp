// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmath>
#include <limits>

#include "tests/kernels/contract/contract.h"
#include "tests/kernels/contract/filters.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"

namespace cudavision::test {
namespace {

using namespace gaussblur;

struct GaussBlurContract : ContractTraits<GaussBlurCase> {
  static constexpr int replays = 3;

  static std::vector<LayoutRefusal> layout_refusals() {
    std::vector<LayoutRefusal> refusals = common_layout_refusals();
    add_refusal(refusals, "RGB", "different heights",
                [](FrameLayout& l) { l.channels[1].height -= 1; });
    add_refusal(refusals, "NV12", "different heights",
                [](FrameLayout& l) { l.channels[2].height -= 1; });
    add_refusal(refusals, "YUY2", "different heights",
                [](FrameLayout& l) { l.channels[2].subsampling_y = 2; });
    add_refusal(refusals, "GRAY8", "more than 8 bytes", [](FrameLayout& l) {
      l.channels[0].step = 9;
      l.planes[0].row_bytes *= 9;
    });
    add_refusal(refusals, "GRAY16", "more than 8 bytes", [](FrameLayout& l) {
      l.channels[0].step = 5;
      l.planes[0].row_bytes *= 5;
    });
    add_refusal(refusals, "RGBMixed", "steps of 2 and 3", [](FrameLayout& l) {
      l.planes[0].row_bytes *= 2;
      l.channels[1].step = 3;
    });
    add_refusal(refusals, "YUY2", "steps of 2 and 3", [](FrameLayout& l) {
      l.channels[2].step = 3;
      l.channels[2].offset = 2;
    });
    add_refusal(refusals, "RGB", "steps of 3 and 3",
                [](FrameLayout& l) { l.channels[2].subsampling_x = 2; });
    add_refusal(refusals, "P010", "steps of 2 and 4", [](FrameLayout& l) {
      l.planes[1].row_bytes *= 2;
      l.channels[2].step = 4;
    });
    return refusals;
  }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
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
        {"GRAY8", "sigma along x is -0.1; it must be 0 to 127",
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
        {"P010", "value of channel 0 is 1024; samples of 10 bits are at most 1023",
         beyond(0, 1024)},
    };
    std::vector<ParametersRefusal<Case>> all;
    for (const Refusal& refusal : refusals)
      all.push_back({refusal.words, dense(refusal.layout, 67, 31, with_sigma(1.5)), refusal.wrong});
    return all;
  }

  static Case refused_case() { return dense("NV12", 34, 10, with_sigma(2)); }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBx", "RGBA"})
      for (const double sigma : {0.8, 3.0, 30.0})
        cases.push_back(dense(layout, width, height, with_sigma(sigma)));
    cases.push_back(dense("GRAY8", width / 8 * 8, height, with_sigma(0.5)));  // the direct kernel
    const auto add = [&](const char* layout, const std::function<void(Parameters&)>& change) {
      cases.push_back(dense(layout, width, height, changed(change)));
    };
    add("GRAY8", [](Parameters& p) { p.fine = true; });
    add("NV12", [](Parameters& p) { p.sharpen = true; });
    add("RGBA", [](Parameters& p) { p.fields = true; });
    return cases;
  }

  static std::vector<Case> changing() {
    std::vector<Case> cases;
    for (const char* layout : {"RGBA", "YUY2", "P010", "I420"})
      cases.push_back(dense(layout, 321, 45, with_sigma(40)));
    cases.push_back(dense("GRAY8", 320, 45, with_sigma(40)));  // layout of the direct kernel
    return cases;
  }

  /// Kernels grow and shrink repeatedly; other parameters change, too.
  static std::vector<Parameters> sets(const Case&) {
    return {
        with_sigma(1.2),
        with_sigma(0.5),
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
  }
};

CUDAVISION_CONTRACT(GaussBlur, GaussBlurContract);

CUDAVISION_ON_BOTH_DEVICES(GaussBlurUse);

TEST_P(GaussBlurUse, KnowsTheIdentity) {
  struct Claim {
    bool identity;
    const char* layout;
    int width, height;
    Parameters parameters;
  };
  const auto constant = [](double sigma) {
    return changed([=](Parameters& p) {
      p.sigma_x = p.sigma_y = sigma;
      p.border = Border::constant;
    });
  };
  Parameters sharpen_nothing = with_sigma(0);
  sharpen_nothing.sharpen = true;
  Parameters fields = with_sigma(2);
  fields.fields = true;
  const Claim claims[] = {
      {true, "GRAY8", 20, 10, with_sigma(0)},
      {true, "GRAY8", 20, 10, with_sigma(0.01)},
      {true, "GRAY8", 20, 10, with_size(1, 1)},
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
      {false, "GRAY8", 20, 10, with_size(3, 1)},
      {false, "GRAY8", 20, 10, with_size(1, 3)},
      {false, "NV12", 20, 10, with_sigma(0.3)},  // blurs luma only
      {false, "RGBA", 20, 10, with_sigma(1)},
  };
  for (const Claim& claim : claims) {
    SCOPED_TRACE("claim " + std::to_string(&claim - claims));
    expect_identity(device,
                    plain_gaussblur_case(layout_named(claim.layout, claim.width, claim.height),
                                         claim.parameters, Content::random, 5),
                    claim.identity, constant(claim.identity ? 3 : 0));
  }
  // If alpha is the only channel and is not blurred, the blur is the identity.
  FrameLayout alpha_only = gray_layout(20, 10);
  alpha_only.channels[0].role = Role::alpha;
  EXPECT_FALSE(GaussBlur(device, alpha_only, with_sigma(1)).identity());
  EXPECT_TRUE(GaussBlur(device, alpha_only, changed([](Parameters& p) { p.blur_alpha = false; }))
                  .identity());
}

TEST_P(GaussBlurUse, UnusedRowsAreCopiedOnce) {
  // The copy of the rows below the channel must not overwrite blurred rows, in any of many runs.
  const GaussBlurCase test = GaussBlurContract::dense("GRAY8Roomy", 640, 512, with_sigma(2));
  const auto input = input_block(test);
  const auto expected = defined_output(test, input, 0xcd);
  GaussBlurRunner runner(device, test);
  for (int i = 0; i < (settings().small ? 20 : 200); ++i)
    ASSERT_EQ(difference(test, expected, runner.run(input, 0xcd)), "") << "run " << i;
}

}  // namespace
}  // namespace cudavision::test
