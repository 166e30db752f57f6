// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests the contract of all operations for SmoothedEqualize. Each run begins a new average, so that
// its result does not depend on those before it and is that of HistogramEqualize.

#include "tests/kernels/contract/contract.h"
#include "tests/kernels/histequalize/histequalize_definition.h"
#include "tests/kernels/histequalize/smoothed_sequence.h"

namespace cudavision::test {
namespace {

using namespace histequalize;

using Channels = Parameters::Channels;

constexpr auto luminance = Channels::luminance, each = Channels::each;

constexpr histogramaverage::Parameters smoothing{2000, 40000};

class RestartedEqualize {
 public:
  RestartedEqualize(Device& device, const FrameLayout& layout, const Parameters& parameters)
      : equalize_(device, layout, parameters) {}

  void set_parameters(const Parameters& parameters) { equalize_.set_parameters(parameters); }
  void run(const ConstFrame& in, const Frame& out) {
    equalize_.restart();
    equalize_.run(in, out, smoothing);
  }

 private:
  SmoothedEqualize equalize_;
};

struct SmoothedCase : FilterCase<SmoothedCase, RestartedEqualize, Parameters> {
  void define(const ConstFrame& from, const Frame& to) const {
    defined_equalization(layout, parameters, from, to);
  }
  Parameters other_parameters() const {
    HistEqualizeCase test = plain_histequalize_case(layout, content, content_seed);
    test.parameters = parameters;
    return test.other_parameters();
  }
};

std::string describe(const SmoothedCase& test) {
  return describe(test, "blend " + std::to_string(test.parameters.blend));
}

struct SmoothedContract : ContractTraits<SmoothedCase> {
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
      SmoothedEqualize(device, layout, Parameters());
    }};
  }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    const Case gray = dense("GRAY8", 67, 31, {luminance, 0, 255, 200});
    const Case rgb = dense("RGB", 67, 31, {each, 0, 255, 200});
    return {
        {"range", gray, {luminance, 0, 256, 256}},
        {"a blend of 257", gray, {luminance, 0, 255, 257}},
        {"luma", gray, {each, 0, 255, 256}},
        {"range", rgb, {each, 0, 254, 256}},
    };
  }

  static Case refused_case() { return dense("NV12", 34, 10); }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBx"})
      cases.push_back(dense(layout, width, height));
    for (const char* layout : {"RGB", "RGBx", "GBR"})
      cases.push_back(dense(layout, width, height, {each, 0, 255, 256}));
    return cases;
  }

  static std::pair<Case, Case> neighbours() {
    return {dense("RGBx", 333, 77, {each, 0, 255, 200}),
            dense("P010", 97, 55, {luminance, 64, 940, 256})};
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
      return {test.parameters, {each, 0, 255, 256}, {luminance, 0, 255, 3}, {each, 0, 255, 128}};
    return {test.parameters, {luminance, 16, white - 20, 100}, {luminance, 0, white, 0}};
  }

  static std::vector<std::function<void(Parameters&)>> members() {
    return {[](Parameters& p) { p.channels = each; }, [](Parameters& p) { p.blend = 255; }};
  }
};

CUDAVISION_CONTRACT(Smoothed, SmoothedContract);

class SmoothedUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, SmoothedUse, both_devices(), device_name);

TEST_P(SmoothedUse, RefusesWrongHistogramsAndSmoothingAndWritesNothing) {
  on_device([](Device& device) {
    const HistEqualizeCase test =
        plain_histequalize_case(layout_named("NV12", 34, 10), Content::natural, 1);
    SmoothedEqualize equalize(device, test.layout, test.parameters);
    const auto refuse = [&](const char* words, histogramaverage::Parameters with,
                            const std::function<void(HistEqualizeFrames&)>& spoil) {
      HistEqualizeFrames frames(device, test);
      const auto untouched = frames.output();
      spoil(frames);
      CUDAVISION_EXPECT_ERROR(equalize.run(frames.in, frames.out, with, frames.histogram),
                              invalid_argument, words);
      device.finish();
      EXPECT_EQ(difference(test, untouched, frames.output()), "") << "a refused run wrote";
    };
    refuse("histogram", smoothing, [](HistEqualizeFrames& f) { f.histogram.width = 255; });
    refuse("histogram", smoothing, [](HistEqualizeFrames& f) { f.histogram.height = 2; });
    refuse("weight", {-1, 0}, [](HistEqualizeFrames&) {});
    refuse("threshold", {0, 65537}, [](HistEqualizeFrames&) {});
  });
}

}  // namespace
}  // namespace cudavision::test
