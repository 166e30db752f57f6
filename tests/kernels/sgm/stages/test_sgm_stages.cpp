// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the outputs of each stage with the definition or the CPU: for random cases, for widths
// near the kernels' tile widths, for all alignments, and for maps that are rare in random cases.
#include <tbb/task_arena.h>

#include <limits>

#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/sgm/sgm_case.h"
#include "tests/kernels/sgm/sgm_definition.h"
#include "tests/kernels/sgm/speckle_maps.h"
#include "tests/kernels/sgm/stages/sgm_stage_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

void expect_definition(const SgmStageCase& test) {
  SCOPED_TRACE(describe(test));
  const auto device = make_cpu_device();
  for (const SgmStageGroup& group : sgm_stage_groups)
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, group.defined(test, filling), group.run(*device, test, filling)),
                "");
}

void expect_equal_devices(Device& cuda, const SgmStageCase& test) {
  SCOPED_TRACE(describe(test));
  const auto cpu = make_cpu_device();
  for (const SgmStageGroup& group : sgm_stage_groups)
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, group.run(*cpu, test, filling), group.run(cuda, test, filling)),
                "");
}

CUDAVISION_NUMBERED_CASES(SgmStageCases, make_sgm_stage_case);

/// Bands have half or a third of the rows, or one row, rounded up to multiples of 4 for 8-bit sums.
TEST_P(SgmStageCases, CudaInBandsEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  if constexpr (built_with_cuda()) {
    CudaTestDevice cuda;
    const auto cpu = make_cpu_device();
    for_each_case(make_sgm_stage_case, [&](const SgmStageCase& test) {
      SCOPED_TRACE(describe(test));
      const auto expected = run_matching(*cpu, *make_stages_cpu(*cpu, test.config), test, poison);
      const auto under_noise = run_noise_stages(*cpu, test, poison);
      const int height = test.config.height;
      for (const int bands : {2, 3, height}) {
        const int band_rows = (height + bands - 1) / bands;
        SCOPED_TRACE("in bands of " + std::to_string(band_rows) + " rows");
        const auto stages = make_stages_in_bands_cuda(*cuda, test.config, band_rows);
        for (int repetition = 0; repetition < 2; ++repetition)
          ASSERT_EQ(difference(test, expected, run_matching(*cuda, *stages, test, poison)), "")
              << "repetition " << repetition;
        ASSERT_EQ(difference(test, under_noise,
                             run_noise_stages_in_bands(*cuda, test, band_rows, poison)),
                  "");
      }
    });
  }
}

TEST(SgmTiles, CudaEqualsCpuAtAnyWidthAndAlignment) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  Random random(11);
  for (const int width : {1,  2,   3,   4,   7,   8,   9,   30,   31,   32,   33,   63,  64,
                          65, 120, 127, 128, 129, 136, 260, 2040, 2047, 2048, 2049, 2056})
    for (const int height : {1, 2, 8, 17, 33, 70}) {
      if (width * height > (settings().small ? 600 : 2056 * 17))
        continue;
      Parameters parameters = few_disparities();
      parameters.disparities = 32 * random.between(1, 6);
      parameters.minimum = random.one_in(2) ? 0 : random.between(-40, 40);
      SgmStageCase test = sgm_stage_case_of(gray_layout(width, height, random.one_in(3) ? 10 : 8),
                                            parameters, random);
      test.noise_penalties = penalties_for(parameters);
      test.map_offset = random.one_in(2) ? 0 : random.between(1, 7);
      expect_equal_devices(*cuda, test);
      if (HasFatalFailure())
        return;
    }
}

/// If an image has few rows, each block selects the winners of only a part of a row.
TEST(SgmTiles, WinnersOfPartsOfRowsEqualThoseOfTheCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for (const int width : {385, 400, 641, 1030, 2049, 2600})
    for (const int disparities : {64, 128, 224, 256})
      for (const int paths : {4, 8})
        for (const int minimum : {-150, 0, 33}) {
          Parameters parameters;
          parameters.disparities = disparities;
          parameters.minimum = minimum;
          parameters.paths = paths;
          const SgmCase test =
              plain_sgm_case(gray_layout(width, 3), parameters, Content::natural, 5);
          const SgmInput input = input_block(test);
          EXPECT_EQ(difference(test, SgmRunner(*cpu, test).run(input, 0),
                               SgmRunner(*cuda, test).run(input, 0)),
                    "")
              << describe(test);
        }
}

StageConfig config_of(int width, int height, int disparities) {
  StageConfig config;
  config.width = width;
  config.height = height;
  config.disparities = disparities;
  return config;
}

CUDAVISION_ON_BOTH_DEVICES(SgmStages);

/// Regions touch or cross the borders of bands (CPU) and tiles (CUDA).
TEST_P(SgmStages, SpecklesAreTheDefinitions) {
  CUDAVISION_NEEDS_PIXELS(1 << 15);
  Random random(4);
  const bool cpu = device.kind() == DeviceKind::cpu;
  for (const auto& [width, height] : {std::pair{1, 1},
                                      {1, 40},
                                      {40, 1},
                                      {7, 40},
                                      {9, 24},
                                      {31, 33},
                                      {32, 32},
                                      {65, 97},
                                      {300, 20}}) {
    const StageConfig config = config_of(width, height, 64);
    for (const auto& [name, map] : speckle_maps(random, width, height))
      for (const int size : {1, 2, 9, 32, 1023, 1024, 1025, height - 1, height, width * height / 2,
                             width * height - 1, width * height, std::numeric_limits<int>::max()}) {
        if (size < 1)
          continue;
        const Map expected = defined_without_speckles(config, map, size, 5);
        for (const int bands : cpu ? std::vector{1, 2, 3, 7, 64} : std::vector{1})
          tbb::task_arena(bands).execute([&] {
            const auto stages = make_stages(device, config);
            // In the second run, the scratch memory holds data of the first run.
            for (int repetition = 0; repetition < 2; ++repetition) {
              const DeviceBlock<std::uint16_t> ours(device, map);
              stages->run(RemoveSpeckles{size, 5, ours.data()});
              ASSERT_EQ(ours.values(), expected)
                  << name << ", " << width << "×" << height << ", regions of " << size << ", "
                  << bands << " bands";
            }
          });
        if (HasFatalFailure())
          return;
      }
  }
}

void expect_refinement(Device& device, Random& random, int width, int height,
                       const std::string& what, const std::function<int(std::size_t i)>& number) {
  const StageConfig config = config_of(width, height, 1024);
  const int brightest = random.one_in(2) ? 255 : 39;
  std::vector<std::uint8_t> levels;
  Map numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(config.pixels()); ++i) {
    levels.push_back(static_cast<std::uint8_t>(random.between(0, brightest)));
    numbers.push_back(random.one_in(5)
                          ? unknown
                          : static_cast<std::uint16_t>(std::clamp(number(i), 0, 16 * 1023)));
  }
  const DeviceBlock<std::uint8_t> block(device, levels);
  const DeviceBlock<std::uint16_t> map(device, numbers), refined(device, numbers);
  make_stages(device, config)
      ->run(
          Refine{{{block.data(), width, height, width}, width, 8, 0}, map.data(), refined.data()});
  ASSERT_EQ(refined.values(), defined_refinement(config, {levels.begin(), levels.end()}, numbers))
      << what << ", " << width << "×" << height;
}

/// Few, many, close or distant disparities make Refine's bisections begin with every step size.
TEST_P(SgmStages, MediansOfAnyNumbersAreTheDefinitions) {
  CUDAVISION_NEEDS_PIXELS(1 << 15);
  Random random(13);
  for (const int distinct : {1, 2, 3, 64, 65, 511, 512, 1023, 1024, 1025, 2000, 16000})
    for (const auto& [width, height] : {std::pair{40, 40}, {70, 45}})
      expect_refinement(device, random, width, height, std::to_string(distinct) + " numbers",
                        [&](std::size_t i) {
                          return distinct == 16000 ? random.between(0, distinct)
                                                   : 7 + 8 * (static_cast<int>(i) * 7 % distinct);
                        });
  for (const int base : {0, 3, 15, 16, 17, 8000, 16335, 16350, 16351, 16352, 16368})
    for (const int step : {1, 14, 15, 16, 17, 31, 32, 33, 127, 128, 300})
      for (const int far : {0, 1, 4})
        expect_refinement(device, random, 70, 37,
                          std::to_string(base) + " ± " + std::to_string(step) + ", " +
                              std::to_string(far) + " of 8 elsewhere",
                          [&](std::size_t) {
                            return random.between(0, 7) < far ? random.between(0, 16368)
                                                              : base + step * random.between(-1, 1);
                          });
}

}  // namespace
}  // namespace cudavision::test
