// SPDX-License-Identifier: LGPL-2.1-or-later
#include <limits>

#include "tests/kernels/histequalize/equalize_contract.h"

namespace cudavision::test {
namespace {

using namespace histequalize;

HistEqualizeCase make_case(const FrameLayout& layout, Content content) {
  return plain_histequalize_case(layout, content, 5);
}

template <bool kSmoothed>
struct HistEqualizeContract : EqualizeContract<HistEqualizeCase, make_case, kSmoothed> {
  using Base = EqualizeContract<HistEqualizeCase, make_case, kSmoothed>;
  using Frames = HistEqualizeFrames;

  static std::vector<std::function<void(Device&, const FrameLayout&)>> constructors() {
    return {[](Device& device, const FrameLayout& layout) { Histogram(device, layout); },
            [](Device& device, const FrameLayout& layout) {
              HistogramEqualize(device, layout, Parameters());
            }};
  }

  static std::vector<FramesRefusal<HistEqualizeCase>> frames_refusals() {
    auto refusals = Base::frames_refusals();
    append(refusals, {{"histogram", [](Frames& frames) { frames.histogram.width = 255; }},
                      {"histogram", [](Frames& frames) { frames.histogram.width = 1024; }},
                      {"histogram", [](Frames& frames) { frames.histogram.height = 2; }}});
    return refusals;
  }
};

CUDAVISION_CONTRACT(HistEqualize, HistEqualizeContract<false>);
CUDAVISION_CONTRACT(Smoothed, HistEqualizeContract<true>);

CUDAVISION_ON_BOTH_DEVICES(HistEqualizeUse);

/// In the contract suite, HistogramEqualize throws first, so Histogram::run() is tested here.
TEST_P(HistEqualizeUse, TheCountRefusesFramesAndBinsOfAnotherShape) {
  using Frames = HistEqualizeFrames;
  auto refusals = wrong_frames<HistEqualizeCase, ConstFrame>(&Frames::in, "of the input frame");
  append(refusals, {{"histogram", [](Frames& frames) { frames.bins.data = nullptr; }},
                    {"histogram", [](Frames& frames) { frames.bins.width = 255; }},
                    {"histogram", [](Frames& frames) { frames.bins.width = 1024; }},
                    {"histogram", [](Frames& frames) { frames.bins.height = 2; }}});
  const HistEqualizeCase test = HistEqualizeContract<false>::refused_case();
  Histogram count(device, test.layout);
  expect_refusals(device, test, refusals,
                  [&](const Frames& frames) { count.run(frames.in, frames.bins); });
}

TEST_P(HistEqualizeUse, CountsTheLargestPictureThere) {
  // 65535×65535 is more than 2^31 pixels. With a pitch of 0, all rows share the memory of one row.
  constexpr int side = 65535;
  CUDAVISION_NEEDS_PIXELS(std::numeric_limits<int>::max());
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
}

/// The copy of the rows below the channel must not overwrite equalised rows, in any of many runs.
TEST_P(HistEqualizeUse, LeftoverRowsOfAPlaneAreCopiedBesideTheOthers) {
  const HistEqualizeCase test = HistEqualizeContract<false>::dense("GRAY8Roomy", 640, 512);
  const HistEqualizeFrames frames(device, test);
  auto operation = test.make(device, test.parameters);
  const auto expected = defined_output(test, frames.input(), HistEqualizeFrames::out_poison);
  for (int i = 0; i < (settings().small ? 50 : 1000); ++i) {
    frames.run(operation);
    device.finish();
    ASSERT_EQ(difference(test, expected, frames.output()), "") << "run " << i;
  }
}

}  // namespace
}  // namespace cudavision::test
