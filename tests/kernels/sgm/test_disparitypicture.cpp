// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares DisparityPicture on both devices with the definition, for every number that a map may
// hold and for planes at any address. Also tests which layouts and parameters it refuses.

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "cuda/sgm/picture/disparitypicture.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

using Kind = sgm::PictureParameters::Kind;

constexpr std::uint8_t poison = 0xcd;
constexpr const char* colour_layouts[] = {"RGB",  "BGR",  "RGBx", "BGRx", "xRGB",
                                          "xBGR", "RGBA", "BGRA", "ARGB", "ABGR"};

ColorTable random_table(std::uint64_t seed) {
  Random random(seed);
  ColorTable table;
  for (auto& color : table)
    for (std::uint8_t& part : color)
      part = static_cast<std::uint8_t>(random.next());
  return table;
}

/// Draws random numbers from those that a map may hold.
std::vector<std::uint16_t> numbers_of(const sgm::Parameters& parameters, int count,
                                      Random& random) {
  const DisparityScale scale = disparity_scale(parameters);
  const int span = scale.per_pixel * (parameters.disparities - 1) + 1;
  std::vector<std::uint16_t> numbers;
  for (int i = 0; i < count; ++i)
    numbers.push_back(i % 11 == 0
                          ? scale.invalid
                          : static_cast<std::uint16_t>(scale.per_pixel * parameters.minimum +
                                                       random.between(0, span - 1)));
  return numbers;
}

/// A map and its picture, both at random addresses.
struct PictureCase {
  PictureCase(Kind kind_asked, const FrameLayout& layout_asked, const sgm::Parameters& sgm,
              Random& random)
      : kind(kind_asked),
        layout(layout_asked),
        parameters(sgm),
        map_layout(gray_layout(layout.width, layout.height, 16)),
        map_placement(random_placement(map_layout, random)),
        placement(random_placement(layout, random)),
        numbers(numbers_of(sgm, layout.width * layout.height, random)),
        table(random_table(random.next())) {
    look.kind = kind;
    look.focal_length = random.between(1, 5000) / 7.0;
    look.baseline = random.between(1, 5000) / 3.0;
    look.unit = random.one_in(2) ? 1 : random.between(1, 100) / 10.0;
  }

  std::vector<std::uint8_t> map_block() const {
    std::vector<std::uint8_t> block(map_placement.bytes, 0x11);
    put_rows(numbers, frame_in(map_layout, map_placement, block.data()).planes[0]);
    return block;
  }

  std::vector<std::uint8_t> expected() const {
    std::vector<std::uint8_t> block(placement.bytes, poison);
    const Frame frame = frame_in(layout, placement, block.data());
    for (int y = 0; y < layout.height; ++y)
      for (int x = 0; x < layout.width; ++x)
        draw(frame.planes[0].row(y), x, numbers[static_cast<std::size_t>(y * layout.width + x)]);
    return block;
  }

  std::vector<std::uint8_t> drawn(Device& device) const {
    const DeviceBlock<std::uint8_t> map(device, map_block());
    const DeviceBlock<std::uint8_t> out(device, std::vector<std::uint8_t>(placement.bytes, poison));
    DisparityPicture picture(device, layout, parameters, kind);
    picture.set_parameters(parameters, look);
    picture.set_colors(table);
    picture.run(frame_in(map_layout, map_placement, map.data()).planes[0],
                frame_in(layout, placement, out.data()));
    device.finish();
    EXPECT_EQ(map.values(), map_block()) << "the operation wrote to the map";
    return out.values();
  }

  Kind kind;
  FrameLayout layout;
  sgm::Parameters parameters;
  FrameLayout map_layout;
  Placement map_placement, placement;
  std::vector<std::uint16_t> numbers;
  ColorTable table;
  sgm::PictureParameters look;

 private:
  void draw(std::uint8_t* row, int x, std::uint16_t number) const {
    const int gray = defined_gray(parameters, number);
    if (kind == Kind::gray) {
      row[x] = static_cast<std::uint8_t>(gray);
    } else if (kind == Kind::depth) {
      const auto depth = static_cast<std::uint16_t>(defined_depth(parameters, look, number));
      std::memcpy(row + 2 * x, &depth, 2);
    } else {
      const int bytes = layout.channels[0].step;
      std::memset(row + bytes * x, 255, static_cast<std::size_t>(bytes));
      for (int part = 0; part < 3; ++part) {
        const int offset = channel_of(layout, rgb_roles[part]).offset;
        row[bytes * x + offset] =
            gray == 0 ? 0 : table[static_cast<std::size_t>(gray)][static_cast<std::size_t>(part)];
      }
    }
  }
};

class DisparityPictures : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, DisparityPictures, both_devices(), device_name);

TEST_P(DisparityPictures, AreTheDefinition) {
  on_device([](Device& device) {
    Random random(settings().seed);
    for (int i = 0; i < settings().cases && !HasFailure(); ++i) {
      const auto [width, height] =
          random_picture_size(random, std::min(settings().max_pixels, 20000));
      const sgm::Parameters parameters = random_search(random);
      for (const auto& [kind, layout] :
           {std::pair{Kind::gray, gray_layout(width, height, 8)},
            {Kind::depth, gray_layout(width, height, 16)},
            {Kind::color, layout_named(colour_layouts[i % 10], width, height)}}) {
        const PictureCase test(kind, layout, parameters, random);
        SCOPED_TRACE("case " + std::to_string(i) + ", kind " +
                     std::to_string(static_cast<int>(kind)) + ", " + describe(parameters));
        EXPECT_TRUE(test.drawn(device) == test.expected());
      }
    }
  });
}

TEST_P(DisparityPictures, EveryNumberHasItsPicture) {
  on_device([](Device& device) {
    Random random(4);
    for_every_number({32, 64, 1024}, [&](const auto& parameters, const auto& numbers) {
      SCOPED_TRACE(describe(parameters));
      for (const Kind kind : {Kind::gray, Kind::depth}) {
        const int count = static_cast<int>(numbers.size());
        PictureCase test(kind, gray_layout(count, 1, kind == Kind::gray ? 8 : 16), parameters,
                         random);
        // With these values, some depths do not fit 16 bits and some are 0.
        test.look.focal_length = 700.25, test.look.baseline = 120.5, test.look.unit = 0.1;
        test.numbers = numbers;
        EXPECT_TRUE(test.drawn(device) == test.expected());
      }
    });
  });
}

TEST(DisparityNumbers, KnownOnes) {
  sgm::Parameters parameters;
  parameters.disparities = 64;
  EXPECT_EQ(defined_gray(parameters, 0), 1);
  EXPECT_EQ(defined_gray(parameters, 63 * 16), 255);
  EXPECT_EQ(defined_gray(parameters, 65520), 0);
  sgm::PictureParameters look;
  look.focal_length = 1000;
  look.baseline = 100;
  EXPECT_EQ(defined_depth(parameters, look, 16 * 50), 2000);
  EXPECT_EQ(defined_depth(parameters, look, 16), 65535);
  EXPECT_EQ(defined_depth(parameters, look, 0), 0);
  EXPECT_EQ(defined_depth(parameters, look, 65520), 0);
}

TEST_P(DisparityPictures, HugeProductsAreTheLargestDepth) {
  on_device([](Device& device) {
    const sgm::Parameters parameters = few_disparities();
    Random random(6);
    PictureCase test(Kind::depth, gray_layout(40, 3, 16), parameters, random);
    test.look.focal_length = test.look.baseline = 1e200;
    const auto block = test.drawn(device);
    const auto rows = frame_in(test.layout, test.placement, block.data()).planes[0];
    for (int x = 0; x < 40; ++x) {
      std::uint16_t depth;
      std::memcpy(&depth, rows.row(0) + 2 * x, 2);
      const auto number = static_cast<std::int16_t>(test.numbers[static_cast<std::size_t>(x)]);
      EXPECT_EQ(depth, number > 0 ? 65535 : 0);
    }
  });
}

TEST_P(DisparityPictures, RefusesWithWords) {
  on_device([](Device& device) {
    const sgm::Parameters sgm = few_disparities();
    const auto expect_refusal = [&](const FrameLayout& layout, Kind kind, const char* words) {
      CUDAVISION_EXPECT_ERROR(DisparityPicture(device, layout, sgm, kind), invalid_argument, words);
    };
    expect_refusal(gray_layout(33, 9, 16), Kind::gray, "one channel of 8 bits");
    expect_refusal(layout_named("RGB", 33, 9), Kind::gray, "one channel of 8 bits");
    expect_refusal(layout_named("NV12", 34, 10), Kind::gray, "one channel of 8 bits");
    expect_refusal(gray_layout(33, 9), Kind::depth, "one channel of 16 bits");
    expect_refusal(gray_layout(33, 9, 12, 4), Kind::depth, "one channel of 16 bits");
    expect_refusal(gray_layout(33, 9), Kind::color, "packed red, green and blue");
    expect_refusal(layout_named("GBR", 33, 9), Kind::color, "packed red, green and blue");
    expect_refusal(layout_named("RGBMixed", 33, 9), Kind::color, "packed red, green and blue");
    expect_refusal(gray_layout(0, 9), Kind::gray, "width and height");
    FrameLayout no_blue = layout_named("RGBx", 33, 9);
    no_blue.channel_count = 2;
    expect_refusal(no_blue, Kind::color, "must have red, green and blue");
    FrameLayout cut = layout_named("RGBx", 33, 9);
    cut.planes[0].row_bytes -= 1;
    expect_refusal(cut, Kind::color, "whole pixels");
    sgm::Parameters wrong = sgm;
    wrong.disparities = 33;
    CUDAVISION_EXPECT_ERROR(DisparityPicture(device, gray_layout(33, 9), wrong, Kind::gray),
                            invalid_argument, "disparities");
  });
}

TEST_P(DisparityPictures, RefusesParametersAndKeepsTheLastValidSet) {
  using Look = sgm::PictureParameters;
  struct Refusal {
    const char* words;
    std::function<void(Look&)> spoil;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const Refusal refusals[] = {
      {"another kind", [](Look& look) { look.kind = Kind::gray; }},
      {"focal_length", [](Look& look) { look.focal_length = -1; }},
      {"focal_length", [=](Look& look) { look.focal_length = nan; }},
      {"baseline", [](Look& look) { look.baseline = -1; }},
      {"baseline", [=](Look& look) { look.baseline = infinity; }},
      {"unit", [](Look& look) { look.unit = 0; }},
      {"unit", [](Look& look) { look.unit = -1; }},
      {"unit", [=](Look& look) { look.unit = nan; }},
  };
  on_device([&](Device& device) {
    Random random(5);
    const PictureCase test(Kind::depth, gray_layout(41, 7, 16), few_disparities(), random);
    const DeviceBlock<std::uint8_t> map(device, test.map_block());
    const auto rows = frame_in(test.map_layout, test.map_placement, map.data()).planes[0];
    for (const Refusal& refusal : refusals) {
      SCOPED_TRACE(refusal.words);
      const DeviceBlock<std::uint8_t> out(device,
                                          std::vector<std::uint8_t>(test.placement.bytes, poison));
      const Frame frame = frame_in(test.layout, test.placement, out.data());
      DisparityPicture picture(device, test.layout, test.parameters, Kind::depth);
      picture.set_parameters(test.parameters, test.look);
      Look wrong = test.look;
      refusal.spoil(wrong);
      CUDAVISION_EXPECT_ERROR(picture.set_parameters(test.parameters, wrong), invalid_argument,
                              refusal.words);
      View<const std::uint8_t> narrow = rows;
      narrow.width -= 1;
      CUDAVISION_EXPECT_ERROR(picture.run(narrow, frame), invalid_argument, "7 rows of 82 bytes");
      CUDAVISION_EXPECT_ERROR(picture.run(rows, Frame()), invalid_argument, "of the output frame");
      picture.run(rows, frame);
      device.finish();
      EXPECT_EQ(out.values(), test.expected());
    }
  });
}

}  // namespace
}  // namespace cudavision::test
