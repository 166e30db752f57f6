// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a user of Integral and IntegralPicture relies on beside the entries: refusals with words,
// the element that is exact, boxes that are exact modulo 2^32, sums at their largest.

#include <functional>
#include <memory>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layout_refusals.h"
#include "tests/kernels/integral/integral_frames.h"

namespace cudavision::test {
namespace {

using namespace integral;

constexpr TableElement elements[] = {TableElement::uint32, TableElement::uint64,
                                     TableElement::float32, TableElement::float64};

class IntegralUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, IntegralUse, both_devices(), device_name);

TEST_P(IntegralUse, RefusesLayoutsWithWords) {
  on_device([](Device& device) {
    for (const LayoutRefusal& refusal : luminance_layout_refusals()) {
      SCOPED_TRACE(refusal.words);
      FrameLayout layout = gray_layout(33, 9);
      refusal.spoil(layout);
      CUDAVISION_EXPECT_ERROR(Integral(device, layout, {}), invalid_argument, refusal.words);
      CUDAVISION_EXPECT_ERROR(IntegralPicture(device, layout, TableKind::sum, false, 8),
                              invalid_argument, refusal.words);
    }
  });
}

TEST_P(IntegralUse, RefusesPicturesOfOtherDepths) {
  on_device([](Device& device) {
    for (const int bits : {-1, 0, 7, 9, 10, 15, 17, 32})
      CUDAVISION_EXPECT_ERROR(
          IntegralPicture(device, gray_layout(33, 9), TableKind::sum, false, bits),
          invalid_argument, std::to_string(bits) + " bits");
  });
}

TEST_P(IntegralUse, RefusesFramesOfAnotherShape) {
  on_device([](Device& device) {
    const FrameLayout layout = layout_named("NV12", 34, 10);
    const IntegralFrames frames(device, layout, {}, Content::natural);
    const DeviceBlock<std::uint8_t> out(device, std::vector<std::uint8_t>(35 * 11, 0xcd));
    Integral integral(device, layout, {});
    IntegralPicture picture(device, layout, TableKind::sum, false, 8);
    const auto expect_refusal = [&](const std::function<void(ConstFrame&)>& spoil) {
      ConstFrame wrong = frames.in();
      spoil(wrong);
      CUDAVISION_EXPECT_ERROR(integral.run(wrong, frames.table()), invalid_argument,
                              "of the input frame");
      CUDAVISION_EXPECT_ERROR(picture.run(wrong, {out.data(), 35, 11, 35}), invalid_argument,
                              "of the input frame");
    };
    expect_refusal([](ConstFrame& frame) { frame.planes[0].data = nullptr; });
    expect_refusal([](ConstFrame& frame) { frame.planes[1].data = nullptr; });
    expect_refusal([](ConstFrame& frame) { frame.planes[0].width += 1; });
    expect_refusal([](ConstFrame& frame) { frame.planes[1].height -= 1; });
    device.finish();
    EXPECT_EQ(frames.table_block.values(),
              std::vector<std::uint8_t>(frames.table_placement.bytes, IntegralFrames::out_poison))
        << "a refused run wrote something";
    EXPECT_EQ(out.values(), std::vector<std::uint8_t>(35 * 11, 0xcd));
  });
}

TEST_P(IntegralUse, RefusesTablesOfAnotherShape) {
  on_device([](Device& device) {
    for (const bool same_size : {false, true})
      for (const TableElement element : elements) {
        const integral::Parameters parameters{TableKind::sum, element, same_size};
        SCOPED_TRACE(describe(parameters));
        const int bytes = static_cast<int>(bytes_of(element));
        const IntegralFrames frames(device, gray_layout(34, 10), parameters, Content::natural);
        Integral integral(device, frames.layout, parameters);
        EXPECT_EQ(integral.width(), same_size ? 34 : 35);
        EXPECT_EQ(integral.height(), same_size ? 10 : 11);
        const auto expect_refusal = [&](const char* words,
                                        const std::function<void(View<std::uint8_t>&)>& spoil) {
          View<std::uint8_t> wrong = frames.table();
          spoil(wrong);
          CUDAVISION_EXPECT_ERROR(integral.run(frames.in(), wrong), invalid_argument, words);
        };
        const std::string rows = "must have " + std::to_string(integral.height()) + " rows of " +
                                 std::to_string(integral.width()) + " elements of " +
                                 std::to_string(bytes) + " bytes";
        using Table = View<std::uint8_t>;
        expect_refusal(rows.c_str(), [](Table& table) { table.data = nullptr; });
        expect_refusal(rows.c_str(), [](Table& table) { table.width -= 1; });
        expect_refusal(rows.c_str(), [=](Table& table) { table.width /= bytes; });
        expect_refusal(rows.c_str(), [](Table& table) { table.height -= 1; });
        expect_refusal(rows.c_str(), [](Table& table) { table.height += 1; });
        expect_refusal("multiples of", [](Table& table) { table.data += 1; });
        expect_refusal("multiples of", [=](Table& table) { table.data += bytes / 2; });
        expect_refusal("multiples of", [=](Table& table) { table.pitch += bytes - 1; });
        expect_refusal("multiples of", [=](Table& table) { table.pitch -= bytes / 2; });
        device.finish();
        EXPECT_EQ(
            frames.table_block.values(),
            std::vector<std::uint8_t>(frames.table_placement.bytes, IntegralFrames::out_poison))
            << "a refused run wrote something";
      }
  });
}

TEST_P(IntegralUse, RefusesPicturesOfAnotherShape) {
  on_device([](Device& device) {
    for (const int bits : {8, 16}) {
      const DeviceFrames frames(device, gray_layout(34, 10), Content::natural);
      const int row_bytes = 35 * bits / 8;
      const std::vector<std::uint8_t> poison(static_cast<std::size_t>(row_bytes) * 11, 0xcd);
      const DeviceBlock<std::uint8_t> out(device, poison);
      IntegralPicture picture(device, frames.layout, TableKind::sum, false, bits);
      EXPECT_EQ(picture.width(), 35);
      EXPECT_EQ(picture.height(), 11);
      const auto expect_refusal = [&](const View<std::uint8_t>& wrong) {
        CUDAVISION_EXPECT_ERROR(picture.run(frames.in(), wrong), invalid_argument,
                                "must have 11 rows of 35 samples");
      };
      expect_refusal({nullptr, row_bytes, 11, row_bytes});
      expect_refusal({out.data(), row_bytes - 1, 11, row_bytes});
      expect_refusal({out.data(), 34 * bits / 8, 10, row_bytes});
      expect_refusal({out.data(), row_bytes, 10, row_bytes});
      device.finish();
      EXPECT_EQ(out.values(), poison) << "a refused run wrote something";
    }
  });
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
      {"GRAY16", 2, 32769, sum, wide},  // 65538 levels of 2^16 − 1
      {"P010", 1920, 1080, sum, narrow},     {"P010", 3840, 2160, sum, wide},
      {"GRAY8", 369, 179, squared, narrow},  // 66051 squares of 255
      {"GRAY8", 196, 337, squared, wide},    // one more
      {"RGBx", 1920, 1080, squared, wide},   {"GRAY16", 1, 1, squared, narrow},
      {"GRAY16", 2, 1, squared, wide},       {"GRAY16", 65535, 65535, squared, wide},
      {"GRAY8", 1920, 1080, tilted, narrow}, {"GRAY8", 3840, 2160, tilted, narrow},
      {"GRAY8", 7680, 4320, tilted, wide},   {"GRAY16", 1920, 1080, tilted, wide},
  };
  for (const Claim& claim : claims)
    EXPECT_EQ(exact_element(layout_named(claim.layout, claim.width, claim.height), claim.kind),
              claim.element)
        << claim.layout << " " << claim.width << "×" << claim.height << ", "
        << describe(integral::Parameters{claim.kind});
}

/// A picture whose pixels all are white has tables that can be said in a word.
template <class Element>
void expect_white_table(Device& device, const FrameLayout& layout, TableKind kind,
                        TableElement element) {
  const integral::Parameters parameters{kind, element, false};
  SCOPED_TRACE(std::to_string(layout.width) + "×" + std::to_string(layout.height) + ", " +
               describe(parameters));
  const IntegralFrames frames(device, layout, parameters, Content::maximum);
  Integral(device, layout, parameters).run(frames.in(), frames.table());
  device.finish();
  const std::vector<std::uint8_t> bytes = frames.table_block.values();
  const auto* entries = reinterpret_cast<const Element*>(bytes.data());
  const std::uint64_t white = (std::uint64_t{1} << layout.bits) - 1;
  const std::uint64_t term = kind == TableKind::squared_sum ? white * white : white;
  for (std::uint64_t Y = 0; Y <= static_cast<std::uint64_t>(layout.height); ++Y)
    for (std::uint64_t X = 0; X <= static_cast<std::uint64_t>(layout.width); ++X)
      ASSERT_EQ(*entries++, static_cast<Element>(term * X * Y)) << "at " << X << ", " << Y;
}

TEST_P(IntegralUse, WhitePicturesHaveTheLargestSums) {
  CUDAVISION_NEEDS_PIXELS(7680 * 4320);
  on_device([](Device& device) {
    const FrameLayout bytes = gray_layout(7680, 4320), words = gray_layout(4001, 2003, 16);
    expect_white_table<std::uint32_t>(device, bytes, TableKind::sum, TableElement::uint32);
    expect_white_table<std::uint64_t>(device, bytes, TableKind::sum, TableElement::uint64);
    expect_white_table<std::uint64_t>(device, bytes, TableKind::sum,
                                      exact_element(bytes, TableKind::sum));
    expect_white_table<std::uint32_t>(device, words, TableKind::squared_sum, TableElement::uint32);
    expect_white_table<std::uint64_t>(device, words, TableKind::squared_sum, TableElement::uint64);
    expect_white_table<float>(device, words, TableKind::squared_sum, TableElement::float32);
    expect_white_table<double>(device, words, TableKind::squared_sum, TableElement::float64);
  });
}

TEST_P(IntegralUse, WhiteLinesHaveTheLargestSums) {
  CUDAVISION_NEEDS_PIXELS(65535);
  on_device([](Device& device) {
    for (const auto& [width, height] : {std::pair(65535, 1), {1, 65535}})
      for (const TableKind kind : {TableKind::sum, TableKind::squared_sum}) {
        const FrameLayout layout = gray_layout(width, height, 16);
        expect_white_table<std::uint32_t>(device, layout, kind, TableElement::uint32);
        expect_white_table<std::uint64_t>(device, layout, kind, TableElement::uint64);
        expect_white_table<float>(device, layout, kind, TableElement::float32);
        expect_white_table<double>(device, layout, kind, TableElement::float64);
      }
  });
}

/// The last entry of a table of that picture's squared sums.
template <class Element>
Element total(Device& device, const FrameLayout& layout, const ConstFrame& in,
              TableElement element) {
  const integral::Parameters parameters{TableKind::squared_sum, element, true};
  const DeviceBlock<Element> table(device,
                                   std::vector<Element>(static_cast<std::size_t>(layout.width) *
                                                        static_cast<std::size_t>(layout.height)));
  const int row_bytes = layout.width * static_cast<int>(sizeof(Element));
  Integral(device, layout, parameters)
      .run(in,
           {reinterpret_cast<std::uint8_t*>(table.data()), row_bytes, layout.height, row_bytes});
  device.finish();
  return table.values().back();
}

TEST_P(IntegralUse, RoundsOnceNextToATie) {
  CUDAVISION_NEEDS_PIXELS(2100 * 2010);
  on_device([](Device& device) {
    // Half of the way from one binary32 number to the next, and as little more as binary64 drops.
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
  });
}

TEST_P(IntegralUse, BoxesAreExactWhereSumsWrapAround) {
  CUDAVISION_NEEDS_PIXELS(1000 * 600);
  on_device([](Device& device) {
    for (const TableKind kind : {TableKind::sum, TableKind::squared_sum}) {
      const integral::Parameters parameters{kind, TableElement::uint32, false};
      const IntegralFrames frames(device, gray_layout(1000, 600, 16), parameters, Content::random);
      Integral(device, frames.layout, parameters).run(frames.in(), frames.table());
      device.finish();
      const std::vector<std::uint8_t> bytes = frames.table_block.values();
      const auto* table = reinterpret_cast<const std::uint32_t*>(bytes.data());
      const DefinedLuminance picture(frames.layout,
                                     frame_in(frames.layout, frames.placement, frames.host.data()));
      Random random(31);
      // A single square of 16 bits fits; so do 65537 levels.
      const int most = kind == TableKind::sum ? 256 : 1;
      for (int box = 0; box < 200; ++box) {
        const int width = random.between(1, most), height = random.between(1, most);
        const int left = random.between(0, 1000 - width), above = random.between(0, 600 - height);
        std::uint64_t expected = 0;
        for (int y = above; y < above + height; ++y)
          for (int x = left; x < left + width; ++x)
            expected +=
                std::uint64_t{picture.at(x, y)} * (kind == TableKind::sum ? 1 : picture.at(x, y));
        const auto entry = [&](int X, int Y) { return table[1001 * Y + X]; };
        ASSERT_EQ(entry(left + width, above + height) - entry(left, above + height) -
                      entry(left + width, above) + entry(left, above),
                  expected);
      }
    }
  });
}

TEST_P(IntegralUse, TablesFollowEachOther) {
  on_device([](Device& device) {
    for (const TableKind kind : {TableKind::sum, TableKind::squared_sum, TableKind::tilted_sum})
      for (const char* name : {"GRAY8", "RGBA", "YUY2", "P010"}) {
        const integral::Parameters parameters{kind, TableElement::uint64, false};
        SCOPED_TRACE(std::string(name) + ", " + describe(parameters));
        const FrameLayout layout = layout_named(name, 321, 145);
        std::vector<std::unique_ptr<IntegralFrames>> frames;
        for (int i = 0; i < 8; ++i)
          frames.push_back(std::make_unique<IntegralFrames>(
              device, layout, parameters, static_cast<Content>(i % content_count), 40 + i));
        // Not finished in between: each table is that of its own frame.
        Integral integral(device, layout, parameters);
        for (const auto& frame : frames)
          integral.run(frame->in(), frame->table());
        device.finish();
        for (const auto& frame : frames)
          EXPECT_TRUE(frame->table_block.values() == frame->expected());
      }
  });
}

}  // namespace
}  // namespace cudavision::test
