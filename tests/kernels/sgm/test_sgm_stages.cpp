// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares every number that each stage of Semi-Global Matching computes by itself: on the CPU
// device with the definition, and on the CUDA device with the CPU device.

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/sgm_case.h"
#include "tests/kernels/sgm/sgm_stage_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

constexpr std::uint8_t poison = 0xcd, other_poison = 0x32;

void for_each_case(const std::function<void(const SgmStageCase&)>& check) {
  for_each_case_number([&](int number) {
    const SgmStageCase test = make_sgm_stage_case(settings().seed, number, settings().max_pixels);
    SCOPED_TRACE(describe(test));
    check(test);
  });
}

TEST(SgmStages, CpuEqualsDefinition) {
  for_each_case([](const SgmStageCase& test) {
    const auto device = make_cpu_device();
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, defined_stages(test, filling), run_stages(*device, test, filling)),
                "");
  });
}

TEST(SgmStages, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice cuda;
  const auto cpu = make_cpu_device();
  for_each_case([&](const SgmStageCase& test) {
    for (const std::uint8_t filling : {poison, other_poison})
      ASSERT_EQ(difference(test, run_stages(*cpu, test, filling), run_stages(*cuda, test, filling)),
                "");
  });
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
