// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tests the contract of all operations for Histogram and HistogramEqualize, and their additional
// promises.

#include <limits>

#include "tests/kernels/contract/contract.h"
#include "tests/kernels/histequalize/histequalize_case.h"

namespace cudavision::test {
namespace {

using namespace histequalize;

using Channels = Parameters::Channels;

constexpr auto luminance = Channels::luminance, each = Channels::each;

struct HistEqualizeContract : ContractTraits<HistEqualizeCase> {
  static Case dense(const char* layout, int width, int height, Content content = Content::natural) {
    return plain_histequalize_case(layout_named(layout, width, height), content, 5);
  }

  static Case dense(const char* layout, int width, int height, const Parameters& parameters) {
    Case test = dense(layout, width, height);
    test.parameters = parameters;
    return test;
  }

  static std::vector<LayoutRefusal> layout_refusals() { return luminance_layout_refusals(); }

  static std::vector<std::function<void(Device&, const FrameLayout&)>> constructors() {
    return {[](Device& device, const FrameLayout& layout) { Histogram(device, layout); },
            [](Device& device, const FrameLayout& layout) {
              HistogramEqualize(device, layout, Parameters());
            }};
  }

  static std::vector<ParametersRefusal<Case>> parameters_refusals() {
    const Case gray = dense("GRAY8", 67, 31, {luminance, 0, 255, 200});
    const Case rgb = dense("RGB", 67, 31, {luminance, 0, 255, 200});
    return {
        {"range", gray, {luminance, -1, 255, 256}},
        {"range", gray, {luminance, 0, 256, 256}},
        {"range", gray, {luminance, 9, 9, 256}},
        {"range", gray, {luminance, 10, 9, 256}},
        {"a blend of -1", gray, {luminance, 0, 255, -1}},
        {"a blend of 257", gray, {luminance, 0, 255, 257}},
        {"luma", gray, {each, 0, 255, 256}},
        {"range", rgb, {luminance, 16, 235, 256}},
        {"range", rgb, {each, 0, 254, 256}},
        {"blend", rgb, {each, 0, 255, 300}},
    };
  }

  static Case refused_case() { return dense("NV12", 34, 10); }

  static std::vector<FramesRefusal<Case>> frames_refusals() {
    auto refusals = ContractTraits::frames_refusals();
    append(refusals, {{"histogram", [](Case::Frames& frames) { frames.histogram.width = 255; }},
                      {"histogram", [](Case::Frames& frames) { frames.histogram.width = 1024; }},
                      {"histogram", [](Case::Frames& frames) { frames.histogram.height = 2; }}});
    return refusals;
  }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "GRAY16", "NV12", "YUY2", "P010", "RGB", "RGBx"})
      cases.push_back(dense(layout, width, height));
    cases.push_back(dense("RGBx", width, height, {each, 0, 255, 256}));
    return cases;
  }

  static std::pair<Case, Case> neighbours() {
    Case deep = dense("P010", 97, 55, Content::random);
    deep.parameters = {luminance, 64, 940, 256};
    return {dense("RGBx", 333, 77), deep};
  }
  static std::pair<Case, Case> streams() {
    return {dense("GRAY8", 1920, 1080), dense("GRAY8", 1920, 1080, Content::two_valued)};
  }

  static std::vector<Case> changing() {
    return {dense("GRAY8", 640, 48), dense("RGBA", 321, 45), dense("GRAY16", 160, 60)};
  }

  static std::vector<Parameters> sets(const Case& test) {
    const int white = test.parameters.high;
    if (is_rgb(test.layout))
      return {test.parameters,
              {each, 0, 255, 256},
              {luminance, 0, 255, 3},
              {each, 0, 255, 128},
              {luminance, 0, 255, 0}};
    return {test.parameters,
            {luminance, 16, white - 20, 100},
            {luminance, 0, white, 0},
            {luminance, white / 2, white, 256},
            {luminance, 0, 1, 256}};
  }

  static std::vector<std::function<void(Parameters&)>> members() {
    return {[](Parameters& p) { p.channels = each; }, [](Parameters& p) { p.low = 1; },
            [](Parameters& p) { p.high = 254; }, [](Parameters& p) { p.blend = 255; }};
  }
};

CUDAVISION_CONTRACT(HistEqualize, HistEqualizeContract);

class HistEqualizeUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, HistEqualizeUse, both_devices(), device_name);

/// The contract suite never tests the histogram's own refusals, because the equalisation runs first
/// and throws.
TEST_P(HistEqualizeUse, TheCountRefusesFramesAndBinsOfAnotherShape) {
  on_device([](Device& device) {
    using Frames = HistEqualizeFrames;
    auto refusals = wrong_frames<HistEqualizeCase, ConstFrame>(&Frames::in, "of the input frame");
    append(refusals, {{"histogram", [](Frames& frames) { frames.bins.data = nullptr; }},
                      {"histogram", [](Frames& frames) { frames.bins.width = 255; }},
                      {"histogram", [](Frames& frames) { frames.bins.width = 1024; }},
                      {"histogram", [](Frames& frames) { frames.bins.height = 2; }}});
    const HistEqualizeCase test = HistEqualizeContract::refused_case();
    Histogram count(device, test.layout);
    for (const auto& refusal : refusals) {
      Frames frames(device, test);
      const auto untouched = frames.output();
      refusal.spoil(frames);
      CUDAVISION_EXPECT_ERROR(count.run(frames.in, frames.bins), invalid_argument, refusal.words);
      device.finish();
      EXPECT_EQ(difference(test, untouched, frames.output()), "") << "a refused run wrote output";
    }
  });
}

TEST_P(HistEqualizeUse, CountsTheLargestPictureThere) {
  // 65535×65535 is more than 2^31 pixels. With a pitch of 0, all rows share the memory of one.
  constexpr int side = 65535;
  CUDAVISION_NEEDS_PIXELS(std::numeric_limits<int>::max());
  on_device([](Device& device) {
    FrameLayout layout = gray_layout(side, side);
    std::vector<std::uint8_t> row(side, 200);
    row[7] = 3;
    const DeviceBlock<std::uint8_t> block(device, row);
    const DeviceBlock<std::uint32_t> bins(device, std::vector<std::uint32_t>(256, 1));
    ConstFrame frame;
    frame.planes[0] = {block.data(), side, side, 0};
    Histogram(device, layout).run(frame, {bins.data(), 256, 1, 1024});
    device.finish();
    std::vector<std::uint32_t> expected(256, 0);
    expected[3] = side;
    expected[200] = static_cast<std::uint32_t>(side) * (side - 1);
    EXPECT_EQ(bins.values(), expected);
  });
}

/// The plane has more rows than the picture. The band that copies the extra rows must not touch the
/// rows that other bands write.
TEST_P(HistEqualizeUse, LeftoverRowsOfAPlaneAreCopiedBesideTheOthers) {
  on_device([](Device& device) {
    const HistEqualizeCase test = HistEqualizeContract::dense("GRAY8Roomy", 640, 512);
    const HistEqualizeFrames frames(device, test);
    auto operation = test.make(device, test.parameters);
    const auto expected = defined_output(test, frames.input(), HistEqualizeFrames::out_poison);
    for (int i = 0; i < (settings().small ? 50 : 1000); ++i) {
      frames.run(operation);
      device.finish();
      ASSERT_EQ(difference(test, expected, frames.output()), "") << "run " << i;
    }
  });
}

}  // namespace
}  // namespace cudavision::test
