// SPDX-License-Identifier: LGPL-2.1-or-later
#include <tbb/task_arena.h>

#include <cmath>

#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"
#include "tests/kernels/localstatistics/localstatistics_definition.h"

namespace cudavision::test {
namespace {

using namespace localstatistics;

using Output = Parameters::Output;

CUDAVISION_RANDOM_CASES(LocalStatisticsCases, make_localstatistics_case);
CUDAVISION_RANDOM_CASES(LimitedLocalStatisticsCases, make_limited_localstatistics_case);

DefinedLuminance picture_of(const LocalStatisticsCase& test,
                            const std::vector<std::uint8_t>& input) {
  return {test.layout, frame_in(test.layout, test.in, input.data())};
}

constexpr auto mean = Output::mean, deviation = Output::stddev, bradley = Output::bradley,
               sauvola = Output::sauvola;

const Extreme<Parameters> extremes[] = {
    {"OnePixel", "GRAY8", 1, 1, Content::random, statistics(mean, 7)},
    {"OnePixelDeviation", "GRAY8", 1, 1, Content::random, statistics(deviation, 0)},
    {"OnePixelBradley", "RGB", 1, 1, Content::random, statistics(bradley, 65535)},
    {"OnePixelSauvola", "P010", 1, 1, Content::random, statistics(sauvola, 1)},
    {"OneRow", "GRAY8", 65535, 1, Content::natural, statistics(mean, 20)},
    {"OneRowDeviation", "GRAY16", 65535, 1, Content::random, statistics(deviation, 65535)},
    {"OneColumn", "GRAY8", 1, 65535, Content::natural, statistics(mean, 20)},
    {"OneColumnDeviation", "GRAY16", 1, 65535, Content::random, statistics(deviation, 65535)},
    {"NoRadius", "GRAY8", 640, 480, Content::random, statistics(mean, 0)},
    {"WholePicture", "GRAY8", 640, 480, Content::natural, statistics(mean, 640)},
    {"WholePictureDeviation", "GRAY16", 640, 480, Content::two_valued, statistics(deviation, 640)},
    {"Maximum", "GRAY8", 640, 480, Content::maximum, statistics(mean, 50)},
    {"Maximum16", "GRAY16", 640, 480, Content::maximum, statistics(mean, 500)},
    {"MaximumDeviation16", "GRAY16", 640, 480, Content::maximum, statistics(deviation, 500)},
    // Windows of up to 65533 16-bit samples are narrow: NarrowWindow's 32 bits suffice.
    {"SumsOf32Bits", "GRAY16", 923, 71, Content::maximum, statistics(mean, 65535)},
    {"SumsOf32BitsDeviation", "GRAY16", 923, 71, Content::two_valued, statistics(deviation, 65535)},
    {"SumsOf33Bits", "GRAY16", 302, 217, Content::maximum, statistics(mean, 65535)},
    {"SumsOf33BitsDeviation", "GRAY16", 302, 217, Content::two_valued,
     statistics(deviation, 65535)},
    {"SumsOf34Bits", "GRAY16", 400, 401, Content::maximum, statistics(mean, 65535)},
    {"SumsOf34BitsDeviation", "GRAY16", 400, 401, Content::gradient, statistics(deviation, 65535)},
    {"SumsOf34BitsBradley", "GRAY16", 400, 401, Content::gradient, statistics(bradley, 65535)},
    // The kernels prefetch rows, but these frames have only one row.
    {"OneRowNoRadius", "GRAY8", 4101, 1, Content::random, statistics(mean, 0)},
    {"OneRowNoRadius16", "GRAY16", 2053, 1, Content::random, statistics(mean, 0)},
    // For 8-bit means, one warp slides windows of radius up to 15 over strips of 480 pixels. The
    // other cases use windows_kernel, with radii around 15 and 63.
    {"WithinAWarp", "GRAY8", 961, 103, Content::natural, statistics(mean, 15)},
    {"WithinAWarpBradley", "GRAY8", 479, 67, Content::natural, statistics(bradley, 14)},
    {"WithinABlock", "GRAY8", 481, 103, Content::maximum, statistics(bradley, 16)},
    {"WithinABlockBradley", "GRAY8", 4096, 31, Content::two_valued, statistics(bradley, 63)},
    {"BlocksSideBySide", "GRAY8", 8111, 29, Content::natural, statistics(bradley, 63)},
    {"LargestOfABlock", "GRAY8", 701, 203, Content::two_valued, statistics(bradley, 63)},
    {"BeyondABlock", "GRAY8", 1537, 403, Content::maximum, statistics(bradley, 64)},
    {"BeyondAWarp", "GRAY8", 1537, 403, Content::maximum, statistics(mean, 16)},
    // From a radius of 129 on, sums of columns need more than 16 bits.
    {"ShortColumns", "GRAY8", 1537, 403, Content::maximum, statistics(bradley, 128)},
    {"LongColumns", "GRAY8", 1537, 403, Content::maximum, statistics(bradley, 129)},
    // Up to a radius of 31, the kernels sum columns; for larger radii, another kernel sums them.
    {"OwnColumns", "GRAY8", 1537, 403, Content::natural, statistics(mean, 31)},
    {"OwnColumnsDeviation16", "GRAY16", 777, 301, Content::random, statistics(deviation, 31)},
    {"OthersColumns", "GRAY8", 1537, 403, Content::natural, statistics(mean, 32)},
    {"OthersColumnsDeviation16", "GRAY16", 777, 301, Content::random, statistics(deviation, 32)},
    {"OthersColumnsSauvola", "GRAY8", 4099, 67, Content::natural, statistics(sauvola, 40)},
    // Several blocks, each with a range of rows, sum the columns.
    {"ColumnsOfBlocks", "GRAY8", 200, 1500, Content::random, statistics(mean, 300)},
    {"ColumnsOfBlocksDeviation", "GRAY8", 131, 1100, Content::random, statistics(deviation, 100)},
    {"ColumnsOfBlocksDeviation16", "GRAY16", 77, 1100, Content::random, statistics(deviation, 90)},
    // Bradley's comparison of bytes in 32 bits requires windows of less than 2^23 pixels.
    {"LargeBradley", "GRAY8", 2900, 2900, Content::maximum, statistics(bradley, 2000)},
    // The same kernels in limited range, with windows below and far above the black level.
    {"LimitedWithinAWarp", "GRAY8", 479, 67, Content::natural,
     in_limited_range(statistics(bradley, 14))},
    {"LimitedWithinABlock", "GRAY8", 4096, 31, Content::two_valued,
     in_limited_range(statistics(bradley, 63))},
    {"LimitedBeyondABlock", "GRAY8", 1537, 403, Content::natural,
     in_limited_range(statistics(bradley, 64))},
    {"LimitedLargeBradley", "GRAY8", 2900, 2900, Content::maximum,
     in_limited_range(statistics(bradley, 2000))},
    {"LimitedSumsOf34BitsBradley", "GRAY16", 400, 401, Content::gradient,
     in_limited_range(statistics(bradley, 65535))},
    {"LimitedZerosBradley", "GRAY8", 640, 480, Content::zeros,
     in_limited_range(statistics(bradley, 7))},
    {"LimitedSauvola16", "GRAY16", 640, 480, Content::maximum,
     in_limited_range(statistics(sauvola, 100))},
    {"LimitedSumsOf34BitsSauvola", "GRAY16", 400, 401, Content::gradient,
     in_limited_range(statistics(sauvola, 65535))},
    // Columns that enter and columns that leave a block's windows are adjacent, or separated.
    {"Halves", "GRAY8", 9001, 21, Content::natural, statistics(mean, 1023)},
    {"Gap", "GRAY8", 9001, 21, Content::natural, statistics(mean, 1100)},
    {"GapDeviation16", "GRAY16", 5003, 37, Content::random, statistics(deviation, 1500)},
    {"GapSauvola", "GRAY8", 9001, 121, Content::natural, statistics(sauvola, 2500)},
    // From a radius of 129 on, sums of squares need more than 32 bits.
    {"NarrowSquares", "GRAY8", 300, 300, Content::two_valued, statistics(deviation, 128)},
    {"WideSquares", "GRAY8", 300, 300, Content::two_valued, statistics(deviation, 129)},
    {"Zeros", "GRAY8", 640, 480, Content::zeros, statistics(bradley, 7)},
    {"ZerosSauvola", "GRAY8", 640, 480, Content::zeros, statistics(sauvola, 7)},
    {"FlatDeviation", "GRAY16", 640, 480, Content::flat, statistics(deviation, 30)},
    {"SparkDeviation", "GRAY16", 640, 480, Content::spark, statistics(deviation, 3)},
    {"NarrowDeviation", "GRAY8", 640, 480, Content::narrow, statistics(deviation, 2)},
    {"FullHd", "GRAY8", 1920, 1080, Content::natural, statistics(mean, 7)},
    {"Uhd8kMaximum", "GRAY8", 7680, 4320, Content::maximum, statistics(mean, 5000)},
    {"Uhd4kDeviation16", "GRAY16", 3840, 2160, Content::two_valued, statistics(deviation, 5000)},
};

std::vector<LocalStatisticsCase> dense(const Extreme<Parameters>& extreme) {
  return {plain_localstatistics_case(layout_named(extreme.layout, extreme.width, extreme.height),
                                     extreme.parameters, extreme.content, 77)};
}

CUDAVISION_TABLE_CASES(LocalStatisticsExtremes, extremes, dense);

/// The CPU splits frames into one band per thread. Windows cross none, one or all of the borders.
TEST(LocalStatisticsBands, OfAnyNumberGiveTheDefinition) {
  struct Picture {
    const char* layout;
    int width, height;
  };
  const auto device = make_cpu_device();
  std::uint64_t seed = 0;
  for (const auto& [layout, width, height] : {Picture{"GRAY8", 37, 29},
                                              {"GRAY16", 37, 29},
                                              {"P010", 9, 64},
                                              {"GRAY8", 1, 40},
                                              {"GRAY16", 1, 40},
                                              {"GRAY8", 130, 1},
                                              {"GRAY16", 350, 200}})
    for (const Output output : {mean, deviation, bradley, sauvola})
      for (const int radius : {0, 1, 5, 28, 130, 65535}) {
        const auto test =
            plain_localstatistics_case(layout_named(layout, width, height),
                                       statistics(output, radius), Content::random, ++seed);
        CUDAVISION_NEEDS_PIXELS(work_in_pixels(test));
        SCOPED_TRACE(describe(test));
        const auto input = input_block(test);
        const auto expected = defined_output(test, input, poison);
        for (const int bands : {1, 2, 3, 7, 64})
          tbb::task_arena(bands).execute([&] {
            ASSERT_EQ(
                difference(test, expected, LocalStatisticsRunner(*device, test).run(input, poison)),
                "")
                << bands << " bands";
          });
        if (HasFailure())
          return;
      }
}

/// Parameters whose threshold equals a pixel's level, or differs from it as little as possible.
class LocalStatisticsEdges : public EitherDevice {
 protected:
  /// Tests the parameters that edges(window, level, low) returns for some pixels, in both ranges.
  template <class Edges>
  void on_edges(Output output, const Edges& edges) {
    CUDAVISION_NEEDS_PIXELS(401 * 307);
    for (const auto& [layout, radius] :
         {std::pair("GRAY8", 3), {"GRAY8", 20}, {"GRAY16", 1}, {"GRAY16", 20}, {"GRAY16", 500}}) {
      LocalStatisticsCase test = plain_localstatistics_case(
          layout_named(layout, 401, 307), statistics(output, radius), Content::random, 9);
      const auto input = input_block(test);
      const DefinedLuminance picture = picture_of(test, input);
      Random random(10);
      for (int pixel = 0; pixel < 12; ++pixel) {
        const int x = random.between(0, 400), y = random.between(0, 306);
        const DefinedWindow window = defined_window(picture, radius, x, y);
        const bool limited = pixel % 2 == 1;
        const int low = limited ? 16 << (test.layout.bits - 8) : 0;
        for (const Parameters& parameters : edges(window, picture.at(x, y), low)) {
          test.parameters = parameters;
          test.parameters.output = output;
          test.parameters.radius = radius;
          test.parameters.limited_range = limited;
          SCOPED_TRACE(describe(test));
          ASSERT_EQ(difference(test, defined_output(test, input, poison),
                               LocalStatisticsRunner(device, test).run(input, poison)),
                    "");
        }
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, LocalStatisticsEdges, both_devices(), device_name);

TEST_P(LocalStatisticsEdges, OfBradley) {
  on_edges(Output::bradley, [](const DefinedWindow& window, std::uint64_t level, int low) {
    // The threshold equals level p if (p − lo)·N·2^16 = (S − lo·N)·share. Tests ratios around
    // 1 − share / 2^16.
    const auto area = static_cast<double>(window.area);
    const double share = (static_cast<double>(level) - low) * area * 65536 /
                         (static_cast<double>(window.sum) - low * area);
    std::vector<Parameters> sets;
    for (const double step : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
      const double ratio = (65536 - std::floor(share) + step) / 65536;
      if (ratio >= 0 && ratio <= 1) {
        sets.emplace_back();
        sets.back().ratio = ratio;
      }
    }
    return sets;
  });
}

TEST_P(LocalStatisticsEdges, OfSauvola) {
  on_edges(Output::sauvola, [](const DefinedWindow& window, std::uint64_t level, int low) {
    const auto area = static_cast<double>(window.area);
    const double average = static_cast<double>(window.sum) / area;
    const double sigma = std::sqrt(
        std::max(0.0, static_cast<double>(window.squared_sum) / area - average * average));
    // Solves T = p − lo for k, with a range for which k is not negative.
    const double ratio = (static_cast<double>(level) - low) / (average - low);
    const double range = ratio < 1 ? 2 * sigma : sigma / 4;
    const double k = (ratio - 1) / (sigma / range - 1);
    std::vector<Parameters> sets;
    double next = k;
    for (int i = 0; i < 4; ++i)
      next = std::nextafter(next, 0.0);
    for (int i = 0; i < 9 && next > 0 && next <= 1; ++i, next = std::nextafter(next, 2.0)) {
      sets.emplace_back();
      sets.back().k = next;
      sets.back().range = range;
    }
    return sets;
  });
}

}  // namespace
}  // namespace cudavision::test
