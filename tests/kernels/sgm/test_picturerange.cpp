// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares the ranges of DisparityPicture on both devices with the definition, over sequences of
// maps: full, fixed and automatic ranges of disparities, depths and confidence, in levels and in
// colours.

#include <algorithm>
#include <cmath>
#include <optional>

#include "cuda/sgm/picture/disparitypicture.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

using Kind = PictureParameters::Kind;
using Quantity = PictureParameters::Quantity;
using Range = PictureParameters::Range;
using Look = PictureParameters;

constexpr std::uint8_t poison = 0xcd;

/* The definition, by the text of disparitypicture.h */

/// The ends of a range; low < high.
struct Ends {
  std::int64_t low, high;

  int level(std::int64_t value, bool reversed) const {
    const std::int64_t clamped = std::clamp(value, low, high);
    const std::int64_t n = reversed ? high - clamped : clamped - low;
    return static_cast<int>(1 + (254 * n + (high - low) / 2) / (high - low));
  }
};

class DefinedLevels {
 public:
  DefinedLevels(const Parameters& parameters, const Look& look)
      : parameters_(parameters), look_(look), scale_(disparity_scale(parameters).per_pixel) {}

  void set(const Look& look) { look_ = look; }
  void restart() { smooth_.reset(); }

  /// Returns the levels of a frame, `seconds` after the last one.
  std::vector<int> levels(const std::vector<std::uint16_t>& numbers, double seconds) {
    const Ends ends = ends_for(numbers, seconds);
    std::vector<int> levels;
    for (const std::uint16_t number : numbers)
      levels.push_back(known(number) ? ends.level(value_of(number), is(Quantity::depth)) : 0);
    return levels;
  }

 private:
  bool is(Quantity quantity) const { return look_.quantity == quantity; }

  bool known(std::uint16_t number) const {
    return is(Quantity::confidence) ? number != 0
           : is(Quantity::depth)    ? defined_depth(parameters_, look_, number) != 0
                                    : number != disparity_scale(parameters_).invalid;
  }

  int value_of(std::uint16_t number) const {
    return is(Quantity::confidence) ? number
           : is(Quantity::depth)    ? defined_depth(parameters_, look_, number)
                                    : static_cast<std::int16_t>(number);
  }

  /// Returns the numbers that an automatic range counts.
  Ends numbers_counted() const {
    if (is(Quantity::confidence))
      return {1, 255};
    const int first = scale_ * parameters_.minimum;
    const int last = scale_ * (parameters_.minimum + parameters_.disparities - 1);
    return is(Quantity::depth) ? Ends{std::max(1, first), std::max(1, last)} : Ends{first, last};
  }

  Ends ends_for(const std::vector<std::uint16_t>& numbers, double seconds) {
    switch (look_.range) {
      case Range::full:
        return is(Quantity::depth) ? Ends{1, 65535} : numbers_counted();
      case Range::fixed: {
        const int factor = is(Quantity::disparity) ? scale_ : 1;
        const std::int64_t low = std::llround(factor * look_.minimum);
        return {low, std::max<std::int64_t>(low + 1, std::llround(factor * look_.maximum))};
      }
      case Range::automatic:
        break;
    }
    return automatic_ends(numbers, seconds);
  }

  Ends automatic_ends(const std::vector<std::uint16_t>& numbers, double seconds) {
    const Ends counted = numbers_counted();
    std::int64_t width = 1;  // of a bin
    while ((counted.high - counted.low) / width + 1 > 1024)
      width *= 2;
    std::vector<std::int64_t> bins;
    for (const std::uint16_t number : numbers) {
      const int v = is(Quantity::confidence) ? number : static_cast<std::int16_t>(number);
      const bool valid = is(Quantity::confidence) || number != disparity_scale(parameters_).invalid;
      if (valid && v >= counted.low && v <= counted.high)
        bins.push_back((v - counted.low) / width);
    }
    std::sort(bins.begin(), bins.end());
    if (!bins.empty()) {
      const auto percentile = [&](std::size_t p) {
        return bins[(p * bins.size() + 99) / 100 - 1];  // as many or more lie up to here
      };
      const std::int64_t low = counted.low + percentile(2) * width;
      const std::int64_t high =
          std::min(counted.high, counted.low + (percentile(98) + 1) * width - 1);
      move_to({65536 * low, 65536 * high}, seconds);
    }
    Ends ends = counted;
    if (smooth_)
      ends = {floored(smooth_->low + 32768), floored(smooth_->high + 32768)};
    ends.high = std::max(ends.high, ends.low + (is(Quantity::confidence) ? 1 : scale_));
    if (!is(Quantity::depth))
      return ends;
    const auto depth = [&](std::int64_t v) {
      return defined_depth(parameters_, look_, static_cast<std::uint16_t>(v));
    };
    const std::int64_t low = depth(ends.high);
    return {low, std::max<std::int64_t>(low + 1, depth(ends.low))};
  }

  static std::int64_t floored(std::int64_t number) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(number) / 65536));
  }

  void move_to(const Ends& target, double seconds) {
    const auto weight = static_cast<std::int64_t>(std::rint(65536 * (1 - std::exp(-seconds))));
    const auto moved = [&](std::int64_t from, std::int64_t to) {
      return from + floored((to - from) * weight);
    };
    smooth_ =
        smooth_ ? Ends{moved(smooth_->low, target.low), moved(smooth_->high, target.high)} : target;
  }

  Parameters parameters_;
  Look look_;
  int scale_;
  std::optional<Ends> smooth_;  ///< times 65536
};

/* Sequences */

struct Shape {
  int width, height;
};

/// A map, or confidence, of which a frame shows a part of the numbers.
std::vector<std::uint16_t> random_numbers(const Parameters& parameters, Quantity quantity,
                                          const Shape& shape, Random& random) {
  const DisparityScale scale = disparity_scale(parameters);
  const bool confidence = quantity == Quantity::confidence;
  const int first = confidence ? 0 : scale.per_pixel * parameters.minimum;
  const int last = confidence ? 255 : first + scale.per_pixel * (parameters.disparities - 1);
  const int a = random.between(first, last), b = random.between(first, last);
  const int known_of = random.one_in(6) ? 0 : random.one_in(4) ? 1 : 7;
  std::vector<std::uint16_t> numbers;
  for (int i = 0; i < shape.width * shape.height; ++i) {
    const bool unknown = known_of == 0 || (known_of == 7 && random.one_in(8));
    numbers.push_back(
        unknown ? confidence ? std::uint16_t{0} : scale.invalid
                : static_cast<std::uint16_t>(random.between(std::min(a, b), std::max(a, b))));
  }
  return numbers;
}

/// A picture on a device, and what it shows.
class Screen {
 public:
  Screen(Device& device, const Shape& shape, const Parameters& parameters, const Look& look,
         Random& random)
      : device_(device),
        shape_(shape),
        look_(look),
        layout_(look.kind == Kind::color ? layout_named("BGRx", shape.width, shape.height)
                                         : gray_layout(shape.width, shape.height)),
        values_layout_(
            gray_layout(shape.width, shape.height, look.quantity == Quantity::confidence ? 8 : 16)),
        placement_(random_placement(layout_, random)),
        values_placement_(random_placement(values_layout_, random)),
        picture_(device, layout_, parameters, look.kind, look.quantity) {
    picture_.set_parameters(parameters, look);
    for (std::size_t level = 0; level < colors_.size(); ++level)
      colors_[level] = {static_cast<std::uint8_t>(level), static_cast<std::uint8_t>(255 - level),
                        static_cast<std::uint8_t>(level * 7)};
    picture_.set_colors(colors_);
  }

  DisparityPicture& operation() { return picture_; }

  std::vector<std::uint8_t> shown(const std::vector<std::uint16_t>& numbers, double seconds) {
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
    return out.values();
  }

  std::vector<std::uint8_t> expected(const std::vector<int>& levels) const {
    std::vector<std::uint8_t> block(placement_.bytes, poison);
    const auto rows = frame_in(layout_, placement_, block.data()).planes[0];
    for (int y = 0; y < shape_.height; ++y)
      for (int x = 0; x < shape_.width; ++x) {
        const int level = levels[static_cast<std::size_t>(y * shape_.width + x)];
        if (look_.kind == Kind::gray) {
          rows.row(y)[x] = static_cast<std::uint8_t>(level);
          continue;
        }
        const auto& color = colors_[static_cast<std::size_t>(level)];
        for (std::size_t part = 0; part < 3; ++part)
          rows.row(y)[4 * x + 2 - static_cast<int>(part)] = level == 0 ? 0 : color[part];
        rows.row(y)[4 * x + 3] = 255;
      }
    return block;
  }

 private:
  Device& device_;
  Shape shape_;
  Look look_;
  FrameLayout layout_, values_layout_;
  Placement placement_, values_placement_;
  ColorTable colors_{};
  DisparityPicture picture_;
};

Look random_look(Quantity quantity, const Parameters& parameters, Random& random) {
  Look look;
  look.kind = random.one_in(3) ? Kind::color : Kind::gray;
  look.quantity = quantity;
  look.focal_length = random.between(1, 5000) / 7.0;
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

constexpr Quantity quantities[] = {Quantity::disparity, Quantity::depth, Quantity::confidence};

class PictureRanges : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, PictureRanges, both_devices(), device_name);

TEST_P(PictureRanges, AreTheDefinition) {
  on_device([](Device& device) {
    for_each_case_number([&](int number) {
      Random random = random_of_case(settings().seed, number);
      const auto [width, height] =
          random_picture_size(random, std::min(settings().max_pixels, 20000));
      const Parameters parameters = random_search(random);
      Look look = random_look(quantities[number % 3], parameters, random);
      SCOPED_TRACE("quantity " + std::to_string(number % 3) + ", " + describe(parameters));
      Screen screen(device, {width, height}, parameters, look, random);
      DefinedLevels definition(parameters, look);
      for (int frame = 0; frame < 6; ++frame) {
        if (random.one_in(5)) {
          screen.operation().restart();
          definition.restart();
        }
        if (random.one_in(5)) {
          const Look other = random_look(look.quantity, parameters, random);
          look.range = other.range, look.minimum = other.minimum, look.maximum = other.maximum;
          screen.operation().set_parameters(parameters, look);
          definition.set(look);
        }
        const auto numbers = random_numbers(parameters, look.quantity, {width, height}, random);
        const double seconds = random.one_in(4) ? 0 : random.between(1, 3000) / 1000.0;
        ASSERT_TRUE(screen.shown(numbers, seconds) ==
                    screen.expected(definition.levels(numbers, seconds)))
            << "frame " << frame << ", range " << static_cast<int>(look.range);
      }
    });
  });
}

/// Searches 128 disparities from 0; a number is 16 times the disparity.
const Parameters& plain() {
  static const Parameters parameters;
  return parameters;
}

Look look_of(Quantity quantity, Range range) {
  Look look;
  look.quantity = quantity;
  look.range = range;
  look.focal_length = 1000;
  look.baseline = 100;
  return look;
}

/// Returns the levels of a row of numbers in the first picture of a kind.
std::vector<std::uint8_t> first_row(Device& device, const Look& look,
                                    const std::vector<std::uint16_t>& numbers) {
  const int width = static_cast<int>(numbers.size());
  DisparityPicture picture(device, gray_layout(width, 1), plain(), look.kind, look.quantity);
  picture.set_parameters(plain(), look);
  std::vector<std::uint8_t> bytes(numbers.begin(), numbers.end());
  if (look.quantity != Quantity::confidence) {
    bytes.resize(2 * numbers.size());
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
  }
  const DeviceBlock<std::uint8_t> values(device, bytes);
  const DeviceBlock<std::uint8_t> out(device, std::vector<std::uint8_t>(numbers.size()));
  Frame frame;
  frame.planes[0] = {out.data(), width, 1, width};
  const int row_bytes = static_cast<int>(bytes.size());
  picture.run({values.data(), row_bytes, 1, row_bytes}, frame);
  device.finish();
  return out.values();
}

TEST_P(PictureRanges, KnownOnes) {
  on_device([](Device& device) {
    using Levels = std::vector<std::uint8_t>;
    Look fixed = look_of(Quantity::disparity, Range::fixed);
    fixed.minimum = 10, fixed.maximum = 20;
    EXPECT_EQ(first_row(device, fixed, {0, 160, 240, 320, 500, 65520}),
              Levels({1, 1, 128, 255, 255, 0}));
    // 50 pixels of disparity are 2 m, and 100 are 1 m: near is bright.
    Look depth = look_of(Quantity::depth, Range::fixed);
    depth.minimum = 1000, depth.maximum = 2000;
    EXPECT_EQ(first_row(device, depth, {16 * 50, 16 * 100, 16 * 127, 16, 0, 65520}),
              Levels({1, 255, 255, 1, 0, 0}));
    EXPECT_EQ(first_row(device, look_of(Quantity::confidence, Range::full), {0, 1, 77, 255}),
              Levels({0, 1, 77, 255}));
    // The 2nd percentile of 50 numbers is the first one, and the 98th is the 49th.
    std::vector<std::uint16_t> numbers(50, 400);
    numbers[7] = 320, numbers[20] = 480, numbers[21] = 1600;
    const Levels levels =
        first_row(device, look_of(Quantity::disparity, Range::automatic), numbers);
    EXPECT_EQ(levels[7], 1);
    EXPECT_EQ(levels[20], 253);  // a bin has two numbers, so the range ends at 481
    EXPECT_EQ(levels[21], 255);
  });
}

// The range of a new scene comes in the course of seconds, and at once after restart().
TEST_P(PictureRanges, AutomaticOnesMoveSlowly) {
  on_device([](Device& device) {
    Random random(9);
    const Look look = look_of(Quantity::disparity, Range::automatic);
    const Shape shape{64, 2};
    Screen screen(device, shape, plain(), look, random);
    const auto scene = [&](int near) {
      std::vector<std::uint16_t> numbers;
      for (int i = 0; i < shape.width * shape.height; ++i)
        numbers.push_back(static_cast<std::uint16_t>(near - 2 * i));
      return numbers;
    };
    const auto number_of_clipped = [&](int near, double seconds) {
      const auto block = screen.shown(scene(near), seconds);
      return std::count(block.begin(), block.end(), 255);
    };
    EXPECT_LT(number_of_clipped(400, 0), 8);
    EXPECT_GT(number_of_clipped(1200, 0.04), 100);
    EXPECT_LT(number_of_clipped(1200, 8), 8);
    EXPECT_GT(number_of_clipped(2000, 0.04), 100);
    screen.operation().restart();
    EXPECT_LT(number_of_clipped(2000, 0.04), 8);
  });
}

// Without subpixel, numbers of a compatible map are pixels instead of sixteenths.
TEST_P(PictureRanges, AutomaticOnesBeginAnewWithOtherNumbers) {
  on_device([](Device& device) {
    Random random(3);
    Parameters sixteenths = few_disparities(), pixels = few_disparities();
    sixteenths.compatibility = pixels.compatibility = Config::Compatibility::libsgm;
    pixels.subpixel = false;
    const Look look = look_of(Quantity::disparity, Range::automatic);
    const Shape shape{40, 30};
    Screen screen(device, shape, sixteenths, look, random);
    screen.shown(std::vector<std::uint16_t>(40 * 30, 400), 0);
    screen.operation().set_parameters(pixels, look);
    std::vector<std::uint16_t> numbers;
    for (int i = 0; i < 40 * 30; ++i)
      numbers.push_back(static_cast<std::uint16_t>(random.between(3, 11)));
    DefinedLevels definition(pixels, look);
    EXPECT_TRUE(screen.shown(numbers, 0.01) == screen.expected(definition.levels(numbers, 0.01)));
  });
}

TEST_P(PictureRanges, RefuseWithWords) {
  on_device([](Device& device) {
    const FrameLayout layout = gray_layout(8, 2);
    CUDAVISION_EXPECT_ERROR(
        DisparityPicture(device, gray_layout(8, 2, 16), plain(), Kind::depth, Quantity::confidence),
        invalid_argument, "depth does not follow from confidence");
    DisparityPicture picture(device, layout, plain(), Kind::gray, Quantity::confidence);
    Look look = look_of(Quantity::disparity, Range::full);
    CUDAVISION_EXPECT_ERROR(picture.set_parameters(plain(), look), invalid_argument,
                            "another kind");
    look = look_of(Quantity::confidence, Range::fixed);
    for (const auto& [minimum, maximum] : {std::pair{1.0, 1.0}, {2.0, 1.0}, {std::nan(""), 1.0}}) {
      look.minimum = minimum, look.maximum = maximum;
      CUDAVISION_EXPECT_ERROR(picture.set_parameters(plain(), look), invalid_argument,
                              "the second number must be the larger one");
    }
    const DeviceBlock<std::uint8_t> memory(device, std::vector<std::uint8_t>(100));
    Frame frame;
    frame.planes[0] = {memory.data(), 8, 2, 8};
    CUDAVISION_EXPECT_ERROR(picture.run({memory.data() + 50, 16, 2, 16}, frame), invalid_argument,
                            "confidence must be 2 rows of 8 bytes");
  });
}

}  // namespace
}  // namespace cudavision::test
