// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests the contract of all operations for SmoothedClahe. Each run begins a new average, so that
// its result does not depend on those before it and is that of Clahe.

#include <cmath>

#include "tests/kernels/clahe/clahe_definition.h"
#include "tests/kernels/clahe/smoothedclahe_sequence.h"
#include "tests/kernels/contract/contract.h"

namespace cudavision::test {
namespace {

using namespace clahe;

constexpr auto luminance = Parameters::Channels::luminance, each = Parameters::Channels::each;

constexpr histogramaverage::Parameters smoothing{2000, 40000};

class RestartedClahe {
 public:
  RestartedClahe(Device& device, const FrameLayout& layout, const Parameters& parameters)
      : equalize_(device, layout, Tiles(), parameters) {}

  void set_parameters(const Parameters& parameters) { equalize_.set_parameters(parameters); }
  void run(const ConstFrame& in, const Frame& out) {
    equalize_.restart();
    equalize_.run(in, out, smoothing);
  }

 private:
  SmoothedClahe equalize_;
};

struct SmoothedClaheCase : FilterCase<SmoothedClaheCase, RestartedClahe, Parameters> {
  void define(const ConstFrame& from, const Frame& to) const {
    defined_adaptive_equalization(layout, Tiles(), parameters, from, to);
  }
  Parameters other_parameters() const {
    ClaheCase test = plain_clahe_case(layout, Tiles(), 2, content, content_seed);
    test.parameters = parameters;
    return test.other_parameters();
  }
};

std::string describe(const SmoothedClaheCase& test) {
  return describe(test, "clip limit " + std::to_string(test.parameters.clip_limit) + ", blend " +
                            std::to_string(test.parameters.blend));
}

struct SmoothedClaheContract : ContractTraits<SmoothedClaheCase> {
  static Case dense(const char* layout, int width, int height, Parameters parameters) {
    const FrameLayout shape = layout_named(layout, width, height);
    if (parameters.high == 255)
      parameters.high = (1 << shape.bits) - 1;
    return plain_case<Case>(shape, parameters, Content::natural, 5);
  }
  static Case dense(const char* layout, int width, int height) {
    return dense(layout, width, height, Parameters());
  }

  static std::vector<LayoutRefusal> layout_refusals() { return luminance_layout_refusals(); }

  static std::vector<std::function<void(Device&, const FrameLayout&)>> constructors() {
    return {[](Device& device, const FrameLayout& layout) {
      SmoothedClahe(device, layout, Tiles(), Parameters());
    }};
  }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    const Case gray = dense("GRAY8", 67, 31, {{luminance, 0, 255, 200}, 3});
    const Case rgb = dense("RGB", 67, 31, {{each, 0, 255, 200}, 3});
    return {
        {"the clip limit is not a number", gray, {{luminance, 0, 255, 256}, std::nan("")}},
        {"range", gray, {{luminance, 0, 256, 256}, 2}},
        {"a blend of 257", gray, {{luminance, 0, 255, 257}, 2}},
        {"luma", gray, {{each, 0, 255, 256}, 2}},
        {"range", rgb, {{each, 0, 254, 256}, 2}},
    };
  }

  static Case refused_case() { return dense("NV12", 34, 10); }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBx"})
      cases.push_back(dense(layout, width, height));
    for (const char* layout : {"RGB", "RGBx", "GBR"})
      cases.push_back(dense(layout, width, height, {{each, 0, 255, 256}, 2}));
    return cases;
  }

  static std::pair<Case, Case> neighbours() {
    return {dense("RGBx", 333, 77, {{each, 0, 255, 200}, 2}),
            dense("P010", 97, 55, {{luminance, 64, 940, 256}, 4})};
  }
  static std::pair<Case, Case> streams() {
    return {dense("GRAY8", 1920, 1080), dense("RGB", 1280, 720)};
  }

  static std::vector<Case> changing() {
    return {dense("GRAY8", 640, 48), dense("RGBA", 321, 45), dense("GRAY16", 160, 60)};
  }

  static std::vector<Parameters> sets(const Case& test) {
    const int white = test.parameters.high;
    if (is_rgb(test.layout))
      return {test.parameters,
              {{each, 0, 255, 256}, 2},
              {{luminance, 0, 255, 3}, 0},
              {{each, 0, 255, 128}, 40}};
    return {test.parameters,
            {{luminance, 16, white - 20, 100}, 0},
            {{luminance, 0, white, 0}, 40},
            {{luminance, 0, 1, 256}, 1e300}};
  }

  static std::vector<std::function<void(Parameters&)>> members() {
    return {[](Parameters& p) { p.channels = each; }, [](Parameters& p) { p.clip_limit = 3; },
            [](Parameters& p) { p.blend = 255; }};
  }
};

CUDAVISION_CONTRACT(SmoothedClahe, SmoothedClaheContract);

class SmoothedClaheUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, SmoothedClaheUse, both_devices(), device_name);

TEST_P(SmoothedClaheUse, RefusesGridsWithWords) {
  on_device([](Device& device) {
    for (const Tiles& tiles : {Tiles{0, 8}, {8, 0}, {-1, 8}, {65, 8}, {8, 65}})
      CUDAVISION_EXPECT_ERROR(SmoothedClahe(device, gray_layout(33, 9), tiles, Parameters()),
                              invalid_argument, "each dimension must be 1 to 64");
  });
}

TEST_P(SmoothedClaheUse, RefusesWrongSmoothingAndGoesOnAsBefore) {
  on_device([](Device& device) {
    const ClaheCase test =
        plain_clahe_case(layout_named("NV12", 34, 10), Tiles(), 2, Content::natural, 1);
    SmoothedClahe equalize(device, test.layout, test.tiles, test.parameters);
    const ClaheCase::Frames frames(device, test);
    const auto untouched = frames.output();
    CUDAVISION_EXPECT_ERROR(equalize.run(frames.in, frames.out, {-1, 0}), invalid_argument,
                            "weight");
    CUDAVISION_EXPECT_ERROR(equalize.run(frames.in, frames.out, {0, 65537}), invalid_argument,
                            "threshold");
    device.finish();
    EXPECT_EQ(difference(test, untouched, frames.output()), "") << "a refused run wrote";
    equalize.run(frames.in, frames.out, smoothing);
    device.finish();
    EXPECT_EQ(difference_from_definition(frames), "") << "the first frame";
  });
}

}  // namespace
}  // namespace cudavision::test
