// SPDX-License-Identifier: LGPL-2.1-or-later
#include <memory>

#include "tests/kernels/contract/contract.h"
#include "tests/kernels/integral/integral_case.h"
#include "tests/kernels/integral/integral_definition.h"

namespace cudavision::test {
namespace {

using namespace integral;

struct IntegralContract : ContractTraits<IntegralCase> {
  static constexpr Size captured{901, 403};

  static Case dense(const char* layout, int width, int height, const Parameters& parameters,
                    int picture_bits = 0) {
    return plain_integral_case(layout_named(layout, width, height), parameters, Content::natural, 5,
                               picture_bits);
  }

  static std::vector<LayoutRefusal> layout_refusals() { return luminance_layout_refusals(); }

  static std::vector<std::function<void(Device&, const FrameLayout&)>> constructors() {
    return {[](Device& device, const FrameLayout& layout) { Integral(device, layout, {}); },
            [](Device& device, const FrameLayout& layout) {
              IntegralPicture(device, layout, TableKind::sum, false, 8);
            }};
  }

  static Case refused_case() { return dense("NV12", 34, 10, {}); }

  static std::vector<FramesRefusal<Case>> frames_refusals() {
    return wrong_frames<Case, ConstFrame>(&Case::Frames::in, "of the input frame");
  }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const TableKind kind : table_kinds) {
      for (const char* layout : {"YUY2", "P010", "RGB"})
        cases.push_back(dense(layout, width, height, {kind, TableElement::uint64, false}, 8));
      for (const char* layout : {"GRAY8", "GRAY16", "RGBx"})
        for (const TableElement element : table_elements)
          cases.push_back(dense(layout, width, height, {kind, element, false},
                                element == TableElement::uint64 ? 8 : 0));
    }
    return cases;
  }
};

CUDAVISION_CONTRACT(Integral, IntegralContract);

CUDAVISION_ON_BOTH_DEVICES(IntegralUse);

TEST_P(IntegralUse, RefusesPicturesOfOtherDepths) {
  for (const int bits : {-1, 0, 7, 9, 10, 15, 17, 32})
    CUDAVISION_EXPECT_ERROR(
        IntegralPicture(device, gray_layout(33, 9), TableKind::sum, false, bits), invalid_argument,
        std::to_string(bits) + " bits");
}

TEST_P(IntegralUse, RefusesTablesOfAnotherShape) {
  for (const bool same_size : {false, true})
    for (const TableElement element : table_elements) {
      const IntegralCase test =
          IntegralContract::dense("GRAY8", 34, 10, {TableKind::sum, element, same_size});
      Integral integral(device, test.layout, test.parameters);
      EXPECT_EQ(integral.width(), same_size ? 34 : 35);
      EXPECT_EQ(integral.height(), same_size ? 10 : 11);
      const int bytes = static_cast<int>(bytes_of(element));
      const std::string shape = "must have " + std::to_string(integral.height()) + " rows of " +
                                std::to_string(integral.width()) + " elements of " +
                                std::to_string(bytes) + " bytes";
      using Frames = IntegralFrames;
      const char* rows = shape.c_str();
      const char* place = "multiples of";
      expect_refusals(device, test,
                      {{rows, [](Frames& frames) { frames.out.planes[0].data = nullptr; }},
                       {rows, [](Frames& frames) { frames.out.planes[0].width -= 1; }},
                       {rows, [=](Frames& frames) { frames.out.planes[0].width /= bytes; }},
                       {rows, [](Frames& frames) { frames.out.planes[0].height -= 1; }},
                       {rows, [](Frames& frames) { frames.out.planes[0].height += 1; }},
                       {place, [](Frames& frames) { frames.out.planes[0].data += 1; }},
                       {place, [=](Frames& frames) { frames.out.planes[0].data += bytes / 2; }},
                       {place, [=](Frames& frames) { frames.out.planes[0].pitch += bytes - 1; }},
                       {place, [=](Frames& frames) { frames.out.planes[0].pitch -= bytes / 2; }}},
                      [&](const Frames& frames) { integral.run(frames.in, frames.out.planes[0]); });
    }
}

TEST_P(IntegralUse, RefusesFramesAndPicturesOfAnotherShape) {
  for (const int bits : {8, 16}) {
    const IntegralCase test = IntegralContract::dense("NV12", 34, 10, {}, bits);
    IntegralPicture picture(device, test.layout, TableKind::sum, false, bits);
    EXPECT_EQ(picture.width(), 35);
    EXPECT_EQ(picture.height(), 11);
    using Frames = IntegralFrames;
    auto refusals = IntegralContract::frames_refusals();
    const char* shape = "must have 11 rows of 35 samples";
    append(refusals, {{shape, [](Frames& frames) { frames.picture.data = nullptr; }},
                      {shape, [](Frames& frames) { frames.picture.width -= 1; }},
                      {shape, [=](Frames& frames) { frames.picture.width -= bits / 8; }},
                      {shape, [](Frames& frames) { frames.picture.height -= 1; }}});
    expect_refusals(device, test, refusals,
                    [&](const Frames& frames) { picture.run(frames.in, frames.picture); });
  }
}

TEST(IntegralElement, IsTheSmallestThatNoPictureOverflows) {
  struct Claim {
    const char* layout;
    int width, height;
    TableKind kind;
    TableElement element;
  };
  constexpr auto sum = TableKind::sum, squared = TableKind::squared_sum,
                 tilted = TableKind::tilted_sum;
  constexpr auto narrow = TableElement::uint32, wide = TableElement::uint64;
  constexpr Claim claims[] = {
      {"GRAY8", 1, 1, sum, narrow},          {"GRAY8", 3840, 2160, sum, narrow},
      {"GRAY8", 7680, 4320, sum, wide},      {"RGB", 3840, 2160, sum, narrow},
      {"NV12", 7680, 4320, sum, wide},       {"GRAY8", 65535, 257, sum, narrow},
      {"GRAY8", 257, 65535, sum, narrow},    {"GRAY8", 65535, 258, sum, wide},
      {"GRAY8", 65535, 65535, sum, wide},    {"GRAY16", 256, 256, sum, narrow},
      {"GRAY16", 2, 32769, sum, wide},  // 65538 · 65535 > 2^32
      {"P010", 1920, 1080, sum, narrow},     {"P010", 3840, 2160, sum, wide},
      {"GRAY8", 369, 179, squared, narrow},  // 66051 · 255² < 2^32
      {"GRAY8", 196, 337, squared, wide},    // 66052 · 255² > 2^32
      {"RGBx", 1920, 1080, squared, wide},   {"GRAY16", 1, 1, squared, narrow},
      {"GRAY16", 2, 1, squared, wide},       {"GRAY16", 65535, 65535, squared, wide},
      {"GRAY8", 1920, 1080, tilted, narrow}, {"GRAY8", 3840, 2160, tilted, narrow},
      {"GRAY8", 7680, 4320, tilted, wide},   {"GRAY16", 1920, 1080, tilted, wide},
  };
  for (const Claim& claim : claims)
    EXPECT_EQ(exact_element(layout_named(claim.layout, claim.width, claim.height), claim.kind),
              claim.element)
        << claim.layout << " " << claim.width << "×" << claim.height << ", "
        << describe(Parameters{claim.kind});
}

template <class Element>
Element total(Device& device, const FrameLayout& layout, const ConstFrame& in,
              TableElement element) {
  const Parameters parameters{TableKind::squared_sum, element, true};
  const DeviceBlock<Element> table(
      device, std::vector<Element>(static_cast<std::size_t>(layout.width) * layout.height));
  const int row_bytes = layout.width * static_cast<int>(sizeof(Element));
  Integral(device, layout, parameters)
      .run(in,
           {reinterpret_cast<std::uint8_t*>(table.data()), row_bytes, layout.height, row_bytes});
  device.finish();
  return table.values().back();
}

TEST_P(IntegralUse, RoundsOnceNextToATie) {
  CUDAVISION_NEEDS_PIXELS(2100 * 2010);
  // The sum is the midpoint of two binary32 numbers, plus 1. Rounding to binary64 drops the 1.
  constexpr std::uint64_t tie = (std::uint64_t{1} << 54) + (std::uint64_t{1} << 30);
  const FrameLayout layout = gray_layout(2100, 2010, 16);
  std::vector<std::uint16_t> levels;
  for (std::uint64_t rest = tie + 1; rest > 0;) {
    std::uint64_t level = 65535;
    while (level * level > rest)
      --level;
    levels.push_back(static_cast<std::uint16_t>(level));
    rest -= level * level;
  }
  levels.resize(std::size_t{2100} * 2010, 0);
  const DeviceBlock<std::uint16_t> block(device, levels);
  ConstFrame in;
  in.planes[0] = {reinterpret_cast<const std::uint8_t*>(block.data()), 4200, 2010, 4200};
  EXPECT_EQ(total<std::uint64_t>(device, layout, in, TableElement::uint64), tie + 1);
  EXPECT_EQ(total<float>(device, layout, in, TableElement::float32), 0x1p54f + 0x1p31f);
  EXPECT_EQ(total<double>(device, layout, in, TableElement::float64), 0x1p54 + 0x1p30);
}

/// Replays one graph on different frames, so a stale sum of a neighbouring tile is detected.
TEST(IntegralCuda, ReplaysOfChangingFramesAreTheirOwn) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(1920 * 1080);
  CudaTestDevice device;
  for (const char* name : {"GRAY8", "GRAY16", "RGBx"})
    for (const TableKind kind : table_kinds) {
      const FrameLayout layout = layout_named(name, 1920, 1080);
      IntegralCase test = plain_integral_case(layout, {kind, exact_element(layout, kind), false},
                                              Content::zeros, 5);
      SCOPED_TRACE(describe(test));
      const IntegralFrames shared(*device, test);
      std::vector<std::unique_ptr<IntegralFrames>> frames;
      for (const Content content : {Content::random, Content::maximum, Content::random}) {
        test.content = content;
        test.content_seed = frames.size();
        frames.push_back(std::make_unique<IntegralFrames>(*device, test));
      }
      auto operation = test.make(*device, test.parameters);
      device.capture_and_replay(
          [&] {
            for (const auto& frame : frames) {
              const View<const std::uint8_t>& to = shared.in.planes[0];
              device->copy(frame->in.planes[0],
                           {const_cast<std::uint8_t*>(to.data), to.width, to.height, to.pitch});
              shared.run(operation);
              device->copy(shared.out.planes[0], frame->out.planes[0]);
            }
          },
          20);
      const auto cpu = make_cpu_device();
      for (const auto& frame : frames)
        EXPECT_EQ(difference(test, IntegralRunner(*cpu, frame->test).run(frame->input(), 0xcd),
                             frame->output()),
                  "");
    }
}

}  // namespace
}  // namespace cudavision::test
