// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/chroma/arithmetic.h"
#include "tests/kernels/chroma/chroma_case.h"
#include "tests/kernels/common/case_suites.h"

namespace cudavision::test {
namespace {

using namespace chroma;

CUDAVISION_NUMBERED_CASES(ChromaCases, make_chroma_case);

const Extreme<Parameters> extremes[] = {
    {"OnePixelI420", "I420", 1, 1, Content::random, {}},
    {"OnePixelYuy2", "YUY2", 1, 1, Content::random, {true}},
    {"OddNv12", "NV12", 1031, 37, Content::natural, {true}},
    {"White", "NV12", 64, 64, Content::maximum, {true}},
    {"Black", "P010", 64, 64, Content::zeros, {}},
    {"WidestRow", "NV12", 65535, 1, Content::random, {}},
    {"HighestColumn", "I420", 1, 65535, Content::random, {true}},
    {"FullHd", "NV12", 1920, 1080, Content::natural, {true}},
};

CUDAVISION_TABLE_CASES(ChromaExtremes, extremes, dense_and_ragged<ChromaCase>);

TEST(ChromaArithmetic, BytesNeedNoDivision) {
  for (const bool limited : {false, true}) {
    const chroma::Range range(8, limited);
    for (std::uint32_t before = 0; before < 256; ++before)
      for (std::uint32_t after = 0; after < 256; ++after) {
        const int number = static_cast<int>(before + after) % 4;
        ASSERT_EQ(growth_of_byte(before << (8 * number), after << (8 * number), number, range),
                  growth(static_cast<int>(before), static_cast<int>(after), range))
            << before << " to " << after;
      }
  }
}

TEST(ChromaScale, IsNeededForChromaOnly) {
  for (const char* name : {"NV12", "I420", "YUY2", "P010"})
    EXPECT_TRUE(ChromaScale::is_needed(layout_named(name, 9, 7))) << name;
  for (const char* name : {"GRAY8", "GRAY16", "RGB", "RGBA", "GBR"})
    EXPECT_FALSE(ChromaScale::is_needed(layout_named(name, 9, 7))) << name;
}

}  // namespace
}  // namespace cudavision::test
