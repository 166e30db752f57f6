// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sgm/backend.h"
#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

CUDAVISION_ON_BOTH_DEVICES(SgmMasks);

struct Mask {
  int width, height, pitch;
  std::vector<bool> marked;
  std::vector<std::uint32_t> words;

  Mask(Random& random, int columns, int rows)
      : width(columns),
        height(rows),
        pitch((columns + 31) / 32 + random.between(0, 3)),
        marked(static_cast<std::size_t>(columns) * rows),
        words(static_cast<std::size_t>(pitch) * rows) {
    const int kind = random.between(0, 4);
    const int left = random.between(0, columns), top = random.between(0, rows);
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        const bool is_marked = kind == 1   ? true
                               : kind == 2 ? random.one_in(16)
                               : kind >= 3 ? x < left / 2 || y >= top
                                           : false;
        if (!is_marked)
          continue;
        marked[static_cast<std::size_t>(y) * columns + x] = true;
        words[static_cast<std::size_t>(y) * pitch + x / 32] |= 1u << x % 32;
      }
  }

  View<const std::uint32_t> on(const DeviceBlock<std::uint32_t>& block) const {
    return {block.data(), (width + 31) / 32, height, 4 * std::ptrdiff_t{pitch}};
  }
};

/// Runs random cases, each with masks for both images, with one mask, and without masks.
TEST_P(SgmMasks, AreTheDefinitions) {
  for_each_case_number([&](int number) {
    const auto make = number % 2 == 0 ? make_sgm_case : make_slanted_sgm_case;
    const SgmCase test = make(settings().seed + 99, number, std::min(settings().max_pixels, 3000));
    SCOPED_TRACE(describe(test));
    Random random(mixed_seed(settings().seed, static_cast<std::uint64_t>(number)));
    const Mask left(random, test.layout.width, test.layout.height);
    const Mask right(random, test.layout.width, test.layout.height);
    const DeviceBlock<std::uint32_t> left_words(device, left.words);
    const DeviceBlock<std::uint32_t> right_words(device, right.words);
    const SgmInput input = input_block(test);
    SgmStereo stereo = test.make(device, test.parameters);
    for (const auto& [has_left, has_right] : {std::pair{true, true}, std::pair{true, false},
                                              std::pair{false, true}, std::pair{false, false}}) {
      stereo.set_masks(has_left ? left.on(left_words) : View<const std::uint32_t>{},
                       has_right ? right.on(right_words) : View<const std::uint32_t>{});
      const SgmFrames frames(device, test, input);
      frames.run(stereo);
      device.finish();
      DefinedHistory history;
      const DefinedMasks masks{has_left ? &left.marked : nullptr,
                               has_right ? &right.marked : nullptr};
      ASSERT_EQ(difference(test, defined_output(test, input, SgmFrames::out_poison, history, masks),
                           frames.output()),
                "")
          << has_left << has_right;
    }
  });
}

TEST_P(SgmMasks, OfAnotherSizeAreRefused) {
  const FrameLayout layout = gray_layout(65, 20, 8);
  SgmStereo stereo(device, layout, layout, few_disparities());
  const DeviceBlock<std::uint32_t> words(device, std::vector<std::uint32_t>(3 * 20));
  const View<const std::uint32_t> good{words.data(), 3, 20, 12};
  stereo.set_masks(good, good);
  View<const std::uint32_t> narrow = good, low = good;
  narrow.width = 2;
  low.height = 19;
  CUDAVISION_EXPECT_ERROR(stereo.set_masks(narrow, good), invalid_argument, "20 rows of 3 words");
  CUDAVISION_EXPECT_ERROR(stereo.set_masks(good, low), invalid_argument, "20 rows of 3 words");
}

}  // namespace
}  // namespace cudavision::test
