// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares every number that each stage of Semi-Global Matching computes by itself: on the CPU
// device with the definition, and on the CUDA device with the CPU device.

#include <tbb/task_arena.h>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/sgm/sgm_case.h"
#include "tests/kernels/sgm/sgm_definition.h"
#include "tests/kernels/sgm/sgm_stage_case.h"
#include "tests/kernels/sgm/speckle_maps.h"

namespace cudavision::test {
namespace {

using namespace sgm;

constexpr std::uint8_t poison = 0xcd, other_poison = 0x32;

/// Tests of a share of the random cases.
class SgmStageCases : public CaseShares {
 protected:
  static void for_each_case(const std::function<void(const SgmStageCase&)>& check) {
    for_each_case_number([&](int number) {
      const SgmStageCase test = make_sgm_stage_case(settings().seed, number, settings().max_pixels);
      SCOPED_TRACE(describe(test));
      check(test);
    });
  }
};
class SgmStagesOverTime : public SgmStageCases {};
class SlantedSgmStages : public SgmStageCases {};
class NoiseSgmStages : public SgmStageCases {};
INSTANTIATE_TEST_SUITE_P(Shares, SgmStageCases, CaseShares::all());
INSTANTIATE_TEST_SUITE_P(Shares, SgmStagesOverTime, CaseShares::all());
INSTANTIATE_TEST_SUITE_P(Shares, SlantedSgmStages, CaseShares::all());
INSTANTIATE_TEST_SUITE_P(Shares, NoiseSgmStages, CaseShares::all());

TEST_P(SgmStageCases, CpuEqualsDefinition) {
  for_each_case([](const SgmStageCase& test) {
    const auto device = make_cpu_device();
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, defined_stages(test, filling), run_stages(*device, test, filling)),
                "");
  });
}

TEST_P(SgmStageCases, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for_each_case([&](const SgmStageCase& test) {
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, run_stages(*cpu, test, filling), run_stages(*cuda, test, filling)),
                "");
  });
}

TEST_P(SgmStagesOverTime, CpuEqualsDefinition) {
  for_each_case([](const SgmStageCase& test) {
    const auto device = make_cpu_device();
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, defined_stages_over_time(test, filling),
                           run_stages_over_time(*device, test, filling)),
                "");
  });
}

TEST_P(SgmStagesOverTime, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for_each_case([&](const SgmStageCase& test) {
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, run_stages_over_time(*cpu, test, filling),
                           run_stages_over_time(*cuda, test, filling)),
                "");
  });
}

TEST_P(SlantedSgmStages, CpuEqualsDefinition) {
  for_each_case([](const SgmStageCase& test) {
    const auto device = make_cpu_device();
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, defined_slanted_stages(test, filling),
                           run_slanted_stages(*device, test, filling)),
                "");
  });
}

TEST_P(SlantedSgmStages, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for_each_case([&](const SgmStageCase& test) {
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, run_slanted_stages(*cpu, test, filling),
                           run_slanted_stages(*cuda, test, filling)),
                "");
  });
}

TEST_P(NoiseSgmStages, CpuEqualsDefinition) {
  for_each_case([](const SgmStageCase& test) {
    const auto device = make_cpu_device();
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, defined_noise_stages(test, filling),
                           run_noise_stages(*device, test, filling)),
                "");
  });
}

TEST_P(NoiseSgmStages, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for_each_case([&](const SgmStageCase& test) {
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, run_noise_stages(*cpu, test, filling),
                           run_noise_stages(*cuda, test, filling)),
                "");
  });
}

TEST_P(NoiseSgmStages, CudaInBandsEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for_each_case([&](const SgmStageCase& test) {
    const auto expected = run_noise_stages(*cpu, test, poison);
    const int height = test.config.height;
    for (const int bands : {2, 3, height}) {
      const int band_rows = (height + bands - 1) / bands;
      ASSERT_EQ(
          difference(test, expected, run_noise_stages_in_bands(*cuda, test, band_rows, poison)), "")
          << "in bands of " << band_rows << " rows";
    }
  });
}

/// The last band often has fewer rows than the others, and a band of one row has no other rows for
/// its sweeps to swap.
TEST_P(SgmStageCases, CudaInBandsEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  if constexpr (built_with_cuda()) {
    CudaTestDevice cuda;
    const auto cpu = make_cpu_device();
    for_each_case([&](const SgmStageCase& test) {
      const auto expected = run_matching(*cpu, *make_stages_cpu(*cpu, test.config), test, poison);
      const int height = test.config.height;
      for (const int bands : {2, 3, height}) {
        const int band_rows = (height + bands - 1) / bands;
        const auto stages = make_stages_in_bands_cuda(*cuda, test.config, band_rows);
        for (int repetition = 0; repetition < 2; ++repetition)
          ASSERT_EQ(difference(test, expected, run_matching(*cuda, *stages, test, poison)), "")
              << "in bands of " << band_rows << " rows, repetition " << repetition;
      }
    });
  }
}

/// A picture of random levels below `contrast`, and the CPU's stages for it.
struct RandomPicture {
  RandomPicture(Random& random, int width, int height, int disparities, int contrast) {
    config.width = width;
    config.height = height;
    config.bits = 8;
    config.disparities = disparities;
    for (std::int64_t i = 0; i < config.pixels(); ++i) {
      levels.push_back(static_cast<std::uint16_t>(random.between(0, contrast - 1)));
      bytes.push_back(static_cast<std::uint8_t>(levels.back()));
    }
    plane.rows = {bytes.data(), width, height, width};
    plane.width = width;
    stages = make_stages_cpu(*device, config);
  }

  std::unique_ptr<Device> device = make_cpu_device();
  StageConfig config;
  Luminances levels;
  std::vector<std::uint8_t> bytes;
  SamplePlane plane;
  std::unique_ptr<Stages> stages;
};

/// The CPU splits a map into as many bands as there are threads. Regions touch the seams between
/// bands, cross them several times, or cross all of them.
TEST(SgmStages, SpecklesInAnyNumberOfBandsAreTheDefinitions) {
  const auto device = make_cpu_device();
  Random random(4);
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 40}, {40, 1}, {7, 40}, {8, 23}, {9, 24}, {67, 31}, {300, 20}}) {
    StageConfig config;
    config.width = width;
    config.height = height;
    for (const auto& [name, map] : speckle_maps(random, width, height)) {
      for (const int size :
           {1, 2, 9, height - 1, height, width * height / 2, width * height - 1, width * height}) {
        if (size < 1)
          continue;
        const Map expected = defined_without_speckles(config, map, size, 5);
        for (const int bands : {1, 2, 3, 7, 64})
          tbb::task_arena(bands).execute([&] {
            const auto stages = make_stages_cpu(*device, config);
            // The second time, the scratch memory holds what the first time left there.
            for (int repetition = 0; repetition < 2; ++repetition) {
              Map ours = map;
              stages->run(RemoveSpeckles{size, 5, ours.data()});
              ASSERT_EQ(ours, expected) << name << ", " << width << "×" << height << ", regions of "
                                        << size << ", " << bands << " bands";
            }
          });
        if (HasFatalFailure())
          return;
      }
    }
  }
}

/// The random cases have few pictures of few levels, in which slopes and curvatures are small.
TEST(SgmStages, CensusOfFewAndManyLevelsIsTheDefinitions) {
  Random random(1);
  for (const int contrast : {2, 8, 40, 256})
    for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {40, 30}}) {
      RandomPicture picture(random, width, height, 64, contrast);
      std::vector<std::uint32_t> features(picture.levels.size());
      picture.stages->census(picture.plane, features.data());
      const auto defined = defined_census(picture.config, picture.levels);
      ASSERT_EQ(std::vector<std::uint64_t>(features.begin(), features.end()), defined)
          << width << "×" << height << " with " << contrast << " levels";
    }
}

TEST(SgmStages, MediansOfNearAndFarNumbersAreTheDefinitions) {
  Random random(2);
  for (int i = 0; i < 40; ++i) {
    const int disparities = 32 * random.between(1, 32), largest = 16 * (disparities - 1) + 8;
    const int range = random.one_in(2) ? largest : random.between(0, 40);
    const int base = random.between(0, largest - range);
    RandomPicture picture(random, 37, 20, disparities, random.one_in(2) ? 256 : 40);
    Map map(picture.levels.size()), refined(map.size());
    for (std::uint16_t& number : map)
      number =
          random.one_in(4) ? unknown : static_cast<std::uint16_t>(base + random.between(0, range));
    picture.stages->run(Refine{picture.plane, map.data(), refined.data()});
    ASSERT_EQ(refined, defined_refinement(picture.config, picture.levels, map))
        << disparities << " disparities, numbers from " << base << " to " << base + range;
  }
}

/// Every number, last number, age and outcome.
TEST(SgmStages, FilterOverTimeIsTheDefinitions) {
  constexpr int numbers = 36;
  const auto number_of = [](int i) {
    return i == numbers - 1 ? unknown : static_cast<std::uint16_t>(i * i * 14);
  };
  for (const int weight : {1, 77, 128, 255, 256})
    for (const int max_step : {0, 13, 14, 16384})
      for (const int persistence : {0, 1, 2, 255}) {
        Random random(3);
        RandomPicture picture(random, 6 * numbers, numbers, 1024, 256);
        Map map, measured, last;
        std::vector<std::uint8_t> ages;
        for (int y = 0; y < numbers; ++y)
          for (int x = 0; x < 6 * numbers; ++x) {
            map.push_back(number_of(y));
            measured.push_back(x % 2 == 0 ? map.back() : unknown);
            last.push_back(number_of(x / 6));
            constexpr std::uint8_t all_ages[] = {0, 1, 254};
            ages.push_back(last.back() == unknown ? 0 : all_ages[x / 2 % 3]);
          }
        DefinedHistory defined{last, {ages.begin(), ages.end()}};
        defined.is_new_scene = false;
        const TemporalFilter filter{weight, max_step, persistence};
        const Map expected = defined_over_time(map, measured, filter, defined);
        const std::uint32_t area_change = 0;
        picture.stages->run(FilterOverTime{
            map.data(), measured.data(), filter, {last.data(), ages.data(), &area_change}});
        ASSERT_EQ(last, expected) << weight << "/256 within " << max_step << " for " << persistence;
        ASSERT_EQ(std::vector<int>(ages.begin(), ages.end()), defined.ages);
      }
}

TEST(SgmPenalties, AreTheFormula) {
  Random random(9);
  for (int i = 0; i < 3000; ++i) {
    const sgm::Parameters parameters = random_sgm_parameters(random);
    const sgm::Penalties ours = sgm::penalties_for(parameters);
    const sgm::Penalties defined = defined_penalties(parameters);
    ASSERT_EQ(ours.p1, defined.p1) << describe(parameters);
    ASSERT_EQ(ours.p2, defined.p2) << describe(parameters);
  }
}

}  // namespace
}  // namespace cudavision::test
