// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares reduce_to_8_bits() with the definition, and tests which planes it refuses.
#include <algorithm>
#include <cstring>

#include "cuda/pixels/luminance.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {
namespace {

constexpr std::uint8_t poison = 0xcd;

struct ReductionCase {
  ReductionCase(int w, int h, int bits_asked, int shift_asked, Random& random)
      : width(w),
        height(h),
        bits(bits_asked),
        shift(shift_asked),
        in_layout(gray_layout(w, h, bits, shift)),
        out_layout(gray_layout(w, h)),
        in(random_placement(in_layout, random)),
        out(random_placement(out_layout, random)),
        input(in.bytes) {
    for (std::uint8_t& byte : input)
      byte = static_cast<std::uint8_t>(random.next());
  }

  std::vector<std::uint8_t> expected() const {
    std::vector<std::uint8_t> block(out.bytes, poison);
    const auto from = frame_in(in_layout, in, input.data()).planes[0];
    const auto to = frame_in(out_layout, out, block.data()).planes[0];
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        std::uint16_t word = from.row(y)[x];
        if (bits > 8)
          std::memcpy(&word, from.row(y) + 2 * x, 2);
        const int value = std::min(word >> shift, (1 << bits) - 1);
        to.row(y)[x] = static_cast<std::uint8_t>(value / (1 << (bits - 8)));
      }
    return block;
  }

  std::vector<std::uint8_t> computed(Device& device) const {
    const DeviceBlock<std::uint8_t> from(device, input);
    const DeviceBlock<std::uint8_t> to(device, std::vector<std::uint8_t>(out.bytes, poison));
    const std::uint8_t* const begin = from.data();
    reduce_to_8_bits(device, {frame_in(in_layout, in, begin).planes[0], width, bits, shift},
                     frame_in(out_layout, out, to.data()).planes[0]);
    device.finish();
    EXPECT_EQ(from.values(), input) << "the operation wrote to its input";
    return to.values();
  }

  int width, height, bits, shift;
  FrameLayout in_layout, out_layout;
  Placement in, out;
  std::vector<std::uint8_t> input;
};

CUDAVISION_ON_BOTH_DEVICES(EightBitPlanes);

TEST_P(EightBitPlanes, AreTheDefinition) {
  Random random(settings().seed);
  for (int i = 0; i < settings().cases && !HasFailure(); ++i) {
    const auto [width, height] =
        random_picture_size(random, std::min(settings().max_pixels, 20000));
    const int bits = 8 + i % 9;
    const int shift = bits == 8 ? 0 : random.between(0, 16 - bits);
    const ReductionCase test(width, height, bits, shift, random);
    SCOPED_TRACE("case " + std::to_string(i) + ", " + std::to_string(width) + "×" +
                 std::to_string(height) + " of " + std::to_string(bits) + " bits << " +
                 std::to_string(shift));
    EXPECT_TRUE(test.computed(device) == test.expected());
  }
}

TEST_P(EightBitPlanes, RefuseWithWords) {
  const DeviceBlock<std::uint8_t> memory(device, std::vector<std::uint8_t>(1000));
  const SamplePlane good = {{memory.data(), 20, 7, 20}, 10, 10, 6};
  const View<std::uint8_t> out = {memory.data() + 500, 10, 7, 10};
  const auto expect_refusal = [&](const SamplePlane& in, const View<std::uint8_t>& to,
                                  const char* words) {
    CUDAVISION_EXPECT_ERROR(reduce_to_8_bits(device, in, to), invalid_argument, words);
  };
  SamplePlane wrong = good;
  wrong.bits = 17;
  expect_refusal(wrong, out, "8 to 16");
  wrong = good;
  wrong.shift = 7;
  expect_refusal(wrong, out, "whole samples");
  wrong = good;
  wrong.rows.width = 19;
  expect_refusal(wrong, out, "whole samples");
  wrong = good;
  wrong.rows.data = nullptr;
  expect_refusal(wrong, out, "whole samples");
  expect_refusal(good, {}, "7 rows of 10 bytes");
  expect_refusal(good, {memory.data() + 500, 11, 7, 11}, "7 rows of 10 bytes");
  expect_refusal(good, {memory.data() + 500, 10, 6, 10}, "7 rows of 10 bytes");
  reduce_to_8_bits(device, good, out);
}

}  // namespace
}  // namespace cudavision::test
