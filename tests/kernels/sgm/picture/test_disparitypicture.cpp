// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares DisparityPicture with the definition for sequences of maps, and tests its refusals.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "cuda/sgm/picture/disparitypicture.h"
#include "tests/kernels/common/allocations/no_allocations.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/defined_levels.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

using Look = PictureParameters;
using Kind = Look::Kind;
using Quantity = Look::Quantity;
using Range = Look::Range;

constexpr std::uint8_t poison = 0xcd;
constexpr const char* colour_layouts[] = {"RGB",  "BGR",  "RGBx", "BGRx", "xRGB",
                                          "xBGR", "RGBA", "BGRA", "ARGB", "ABGR"};

std::vector<std::uint16_t> random_numbers(const Parameters& parameters, Quantity quantity,
                                          int count, Random& random) {
  const DisparityScale scale = disparity_scale(parameters);
  const bool confidence = quantity == Quantity::confidence;
  const int first = confidence ? 0 : scale.per_pixel * parameters.minimum;
  const int last = confidence ? 255 : first + scale.per_pixel * (parameters.disparities - 1);
  const int a = random.between(first, last), b = random.between(first, last);
  const int known_of = random.one_in(6) ? 0 : random.one_in(4) ? 1 : 7;
  std::vector<std::uint16_t> numbers;
  for (int i = 0; i < count; ++i) {
    const bool unknown = known_of == 0 || (known_of == 7 && random.one_in(8));
    numbers.push_back(
        unknown ? confidence ? std::uint16_t{0} : scale.invalid
                : static_cast<std::uint16_t>(random.between(std::min(a, b), std::max(a, b))));
  }
  return numbers;
}

/// Draws maps to an image at a random device address, and computes the defined image.
class Screen {
 public:
  Screen(Device& device, int width, int height, const Parameters& parameters, const Look& look,
         Random& random)
      : device_(device),
        parameters_(parameters),
        look_(look),
        layout_(look.kind == Kind::color
                    ? layout_named(colour_layouts[random.between(0, 9)], width, height)
                    : gray_layout(width, height, look.kind == Kind::depth ? 16 : 8)),
        values_layout_(gray_layout(width, height, look.quantity == Quantity::confidence ? 8 : 16)),
        placement_(random_placement(layout_, random)),
        values_placement_(random_placement(values_layout_, random)),
        picture_(device, layout_, parameters, look.kind, look.quantity) {
    picture_.set_parameters(parameters, look);
    for (auto& color : colors_)
      for (std::uint8_t& part : color)
        part = static_cast<std::uint8_t>(random.next());
    picture_.set_colors(colors_);
  }

  DisparityPicture& operation() { return picture_; }

  std::vector<std::uint8_t> shown(const std::vector<std::uint16_t>& numbers, double seconds = 0) {
    std::vector<std::uint8_t> block(values_placement_.bytes, 0x11);
    const auto rows = frame_in(values_layout_, values_placement_, block.data()).planes[0];
    if (values_layout_.bits == 8)
      put_rows(std::vector<std::uint8_t>(numbers.begin(), numbers.end()), rows);
    else
      put_rows(numbers, rows);
    const DeviceBlock<std::uint8_t> values(device_, block);
    const DeviceBlock<std::uint8_t> out(device_,
                                        std::vector<std::uint8_t>(placement_.bytes, poison));
    picture_.run(frame_in(values_layout_, values_placement_, values.data()).planes[0],
                 frame_in(layout_, placement_, out.data()), seconds);
    device_.finish();
    EXPECT_EQ(values.values(), block) << "the operation wrote to the map";
    return out.values();
  }

  std::vector<std::uint8_t> expected(const std::vector<std::uint16_t>& numbers,
                                     const std::vector<int>& levels) const {
    std::vector<std::uint8_t> block(placement_.bytes, poison);
    const auto rows = frame_in(layout_, placement_, block.data()).planes[0];
    for (int y = 0; y < layout_.height; ++y)
      for (int x = 0; x < layout_.width; ++x) {
        const auto i = static_cast<std::size_t>(y * layout_.width + x);
        draw(rows.row(y), x, numbers[i], levels[i]);
      }
    return block;
  }

 private:
  void draw(std::uint8_t* row, int x, std::uint16_t number, int level) const {
    if (look_.kind == Kind::gray) {
      row[x] = static_cast<std::uint8_t>(level);
    } else if (look_.kind == Kind::depth) {
      const auto depth = static_cast<std::uint16_t>(defined_depth(parameters_, look_, number));
      std::memcpy(row + 2 * x, &depth, 2);
    } else {
      const int bytes = layout_.channels[0].step;
      std::memset(row + bytes * x, 255, static_cast<std::size_t>(bytes));
      for (std::size_t part = 0; part < 3; ++part)
        row[bytes * x + channel_of(layout_, rgb_roles[part]).offset] =
            level == 0 ? 0 : colors_[level][part];
    }
  }

  Device& device_;
  Parameters parameters_;
  Look look_;
  FrameLayout layout_, values_layout_;
  Placement placement_, values_placement_;
  ColorTable colors_{};
  DisparityPicture picture_;
};

Look random_look(Kind kind, Quantity quantity, const Parameters& parameters, Random& random) {
  Look look;
  look.kind = kind;
  look.quantity = quantity;
  // With a focal length of 1e300, depths exceed 16 bits.
  look.focal_length = random.one_in(16) ? 1e300 : random.between(1, 5000) / 7.0;
  look.baseline = random.between(1, 5000) / 3.0;
  look.unit = random.one_in(2) ? 1 : random.between(1, 100) / 10.0;
  look.range = random.one_in(2) ? Range::automatic : random.one_in(3) ? Range::full : Range::fixed;
  const int maximum = quantity == Quantity::disparity ? 16 * (parameters.disparities + 100)
                      : quantity == Quantity::depth   ? 16 * 65535
                                                      : 16 * 255;
  look.minimum = random.between(-maximum / 4, maximum) / 16.0;
  look.maximum = look.minimum + random.between(1, maximum) / 16.0;
  return look;
}

CUDAVISION_ON_BOTH_DEVICES(DisparityPictures);

TEST_P(DisparityPictures, AreTheDefinition) {
  constexpr Quantity quantities[] = {Quantity::disparity, Quantity::depth, Quantity::confidence};
  for_each_case_number([&](int number) {
    Random random = random_of_case(settings().seed, number);
    const auto [width, height] =
        random_picture_size(random, std::min(settings().max_pixels, 20000));
    const Parameters parameters = random_search(random);
    const Quantity quantity = quantities[number % 3];
    const Kind kind = quantity == Quantity::disparity && random.one_in(3) ? Kind::depth
                      : random.one_in(3)                                  ? Kind::color
                                                                          : Kind::gray;
    Look look = random_look(kind, quantity, parameters, random);
    SCOPED_TRACE("quantity " + std::to_string(number % 3) + ", kind " +
                 std::to_string(static_cast<int>(kind)) + ", " + describe(parameters));
    Screen screen(device, width, height, parameters, look, random);
    DefinedLevels definition(parameters, look);
    for (int frame = 0; frame < 6; ++frame) {
      if (random.one_in(5)) {
        screen.operation().restart();
        definition.restart();
      }
      if (random.one_in(5)) {
        const Look other = random_look(kind, quantity, parameters, random);
        look.range = other.range, look.minimum = other.minimum, look.maximum = other.maximum;
        screen.operation().set_parameters(parameters, look);
        definition.set(look);
      }
      const auto numbers = random_numbers(parameters, quantity, width * height, random);
      const double seconds = random.one_in(4) ? 0 : random.between(1, 3000) / 1000.0;
      ASSERT_TRUE(screen.shown(numbers, seconds) ==
                  screen.expected(numbers, definition.levels(numbers, seconds)))
          << "frame " << frame << ", range " << static_cast<int>(look.range);
    }
  });
}

/// Parameters of maps whose values are sixteenths of pixels, for 128 disparities from 0.
const Parameters& plain() {
  static const Parameters parameters;
  return parameters;
}

Look look_of(Quantity quantity, Range range, double minimum = 0, double maximum = 1) {
  Look look;
  look.quantity = quantity;
  look.range = range;
  look.focal_length = 1000;
  look.baseline = 100;
  look.minimum = minimum;
  look.maximum = maximum;
  return look;
}

// In libSGM compatibility without subpixel, map values are whole pixels instead of sixteenths.
TEST_P(DisparityPictures, AutomaticRangesBeginAnewWithOtherNumbers) {
  Random random(3);
  Parameters sixteenths = few_disparities(), pixels = few_disparities();
  sixteenths.compatibility = pixels.compatibility = Config::Compatibility::libsgm;
  pixels.subpixel = false;
  const Look look = look_of(Quantity::disparity, Range::automatic);
  Screen screen(device, 40, 30, sixteenths, look, random);
  screen.shown(std::vector<std::uint16_t>(40 * 30, 400));
  screen.operation().set_parameters(pixels, look);
  std::vector<std::uint16_t> numbers;
  for (int i = 0; i < 40 * 30; ++i)
    numbers.push_back(static_cast<std::uint16_t>(random.between(3, 11)));
  EXPECT_TRUE(screen.shown(numbers, 0.01) ==
              screen.expected(numbers, DefinedLevels(pixels, look).levels(numbers, 0.01)));
}

TEST_P(DisparityPictures, RefusesLayoutsWithWords) {
  FrameLayout no_blue = layout_named("RGBx", 33, 9), cut = no_blue;
  no_blue.channel_count = 2;
  cut.planes[0].row_bytes -= 1;
  const struct {
    FrameLayout layout;
    Kind kind;
    const char* words;
  } refusals[] = {
      {gray_layout(33, 9, 16), Kind::gray, "one channel of 8 bits"},
      {gray_layout(33, 9), Kind::depth, "one channel of 16 bits"},
      {gray_layout(33, 9, 12, 4), Kind::depth, "one channel of 16 bits"},
      {gray_layout(33, 9), Kind::color, "packed red, green and blue"},
      {layout_named("GBR", 33, 9), Kind::color, "packed red, green and blue"},
      {gray_layout(0, 9), Kind::gray, "width and height"},
      {no_blue, Kind::color, "red, green and blue must all have"},
      {cut, Kind::color, "33 pixels of 4 bytes"},
  };
  for (const auto& [layout, kind, words] : refusals)
    CUDAVISION_EXPECT_ERROR(DisparityPicture(device, layout, few_disparities(), kind),
                            invalid_argument, words);
  Parameters wrong = few_disparities();
  wrong.disparities = 33;
  CUDAVISION_EXPECT_ERROR(DisparityPicture(device, gray_layout(33, 9), wrong, Kind::gray),
                          invalid_argument, "disparities");
  CUDAVISION_EXPECT_ERROR(
      DisparityPicture(device, gray_layout(8, 2, 16), plain(), Kind::depth, Quantity::confidence),
      invalid_argument, "confidence has no depth; use Quantity::disparity");
}

TEST_P(DisparityPictures, RefusesParametersAndKeepsTheLastValidSet) {
  struct Refusal {
    const char* words;
    std::function<void(Look&)> spoil;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto range = [](double minimum, double maximum) {
    return [=](Look& look) {
      look.range = Range::fixed, look.minimum = minimum, look.maximum = maximum;
    };
  };
  const Refusal refusals[] = {
      {"fixed at construction", [](Look& look) { look.kind = Kind::color; }},
      {"fixed at construction", [](Look& look) { look.quantity = Quantity::confidence; }},
      {"focal_length", [](Look& look) { look.focal_length = -1; }},
      {"focal_length", [](Look& look) { look.focal_length = std::nan(""); }},
      {"baseline", [=](Look& look) { look.baseline = infinity; }},
      {"unit", [](Look& look) { look.unit = 0; }},
      {"maximum must be larger than minimum", range(1, 1)},
      {"maximum must be larger than minimum", range(std::nan(""), 1)},
  };
  const Look look = look_of(Quantity::depth, Range::full);
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.words);
    Random random(5);
    Screen screen(device, 41, 7, few_disparities(), look, random);
    Look wrong = look;
    refusal.spoil(wrong);
    CUDAVISION_EXPECT_ERROR(screen.operation().set_parameters(few_disparities(), wrong),
                            invalid_argument, refusal.words);
    const auto numbers = random_numbers(few_disparities(), look.quantity, 41 * 7, random);
    EXPECT_EQ(screen.shown(numbers),
              screen.expected(numbers, DefinedLevels(few_disparities(), look).levels(numbers, 0)));
  }
}

TEST_P(DisparityPictures, RefusesFramesWithWords) {
  const DeviceBlock<std::uint8_t> memory(device, std::vector<std::uint8_t>(100));
  Frame frame;
  frame.planes[0] = {memory.data(), 8, 2, 8};
  const View<const std::uint8_t> map{memory.data() + 50, 16, 2, 16};
  DisparityPicture picture(device, gray_layout(8, 2), plain(), Kind::gray);
  CUDAVISION_EXPECT_ERROR(picture.run({map.data, 15, 2, 16}, frame), invalid_argument,
                          "2 rows of 16 bytes");
  CUDAVISION_EXPECT_ERROR(picture.run(map, Frame()), invalid_argument, "of the output frame");
  DisparityPicture other(device, gray_layout(8, 2), plain(), Kind::gray, Quantity::confidence);
  CUDAVISION_EXPECT_ERROR(other.run(map, frame), invalid_argument, "confidences must be 2 rows");
}

TEST_P(DisparityPictures, AllocateNothingAfterConstruction) {
  WatchedDevice device(this->device);
  const DeviceBlock<std::uint16_t> map(this->device, std::vector<std::uint16_t>(80 * 30, 77));
  const DeviceBlock<std::uint8_t> out(this->device, std::vector<std::uint8_t>(4 * 80 * 30));
  for (const auto& [kind, name] :
       {std::pair{Kind::gray, "GRAY8"}, {Kind::color, "RGBA"}, {Kind::depth, "GRAY16"}}) {
    SCOPED_TRACE(name);
    const FrameLayout layout = layout_named(name, 80, 30);
    DisparityPicture picture(device, layout, few_disparities(), kind);
    expect_no_allocations(device, 30, [&](int i) {
      Look look;
      look.kind = kind;
      look.range = static_cast<Range>(i % 3);
      look.focal_length = look.baseline = 100 + i;
      picture.set_parameters(few_disparities(), look);
      ColorTable table{};
      table[7] = {1, 2, static_cast<std::uint8_t>(i)};
      picture.set_colors(table);
      picture.run({reinterpret_cast<const std::uint8_t*>(map.data()), 160, 30, 160},
                  frame_in(layout, dense_placement(layout), out.data()));
    });
  }
}

}  // namespace
}  // namespace cudavision::test
