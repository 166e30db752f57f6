// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/sgm/temporal/sgm_sequence.h"

namespace cudavision::test {
namespace {

using sgm::Parameters;
using sgm::SgmStereo;

SgmSequence make_sequence(std::uint64_t seed, int number, int max_pixels) {
  constexpr SgmSequence (*makers[])(std::uint64_t, int, int) = {
      make_sgm_sequence, make_slanted_sgm_sequence, make_noisy_sgm_sequence};
  return makers[number % 3](seed, number, max_pixels);
}

CUDAVISION_NUMBERED_CASES(SgmSequenceCases, make_sequence);

/// Random sequences have small frames, because the definition is slow; this test has large frames.
TEST(SgmSequences, CudaEqualsCpuForLargeFrames) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(641 * 479);
  CudaTestDevice cuda;
  for (const char* layout : {"GRAY8", "P010", "RGBx"}) {
    SgmCase test = plain_sgm_case(layout_named(layout, layout[0] == 'P' ? 640 : 641, 478),
                                  few_disparities(), Content::natural, 9);
    test.parameters.temporal_alpha = 0.3;
    test.parameters.temporal_persistence = 2;
    test.parameters.confidence_threshold = 20;
    SgmSequence sequence;
    for (const std::uint64_t seed : {9, 9, 10, 10, 9, 9, 9}) {
      test.content_seed = seed;
      sequence.steps.push_back({test, input_block(test), false});
      // Some pixels differ in every frame.
      Random random(sequence.steps.size());
      for (std::uint8_t& byte : sequence.steps.back().input.left)
        byte = static_cast<std::uint8_t>(byte ^ (random.one_in(9) ? 6 : 0));
    }
    expect_equal_devices(*cuda, sequence);
  }
}

CUDAVISION_ON_BOTH_DEVICES(SgmOverTime);

/// If the filter is switched off and on between two frames, it forgets its history.
TEST_P(SgmOverTime, OffAndOnAgainForgets) {
  Parameters parameters = few_disparities(), off = parameters;
  parameters.temporal_persistence = 200;
  const SgmCase test = plain_sgm_case(gray_layout(96, 40), parameters, Content::natural, 1);
  SgmInput covered = input_block(test);
  std::fill_n(covered.right.begin() + 10 * 96, 20 * 96, std::uint8_t{7});
  for (const bool switches : {false, true}) {
    SgmStereo stereo = test.make(device, parameters);
    const SgmFrames before(device, test), after(device, test, covered);
    before.run(stereo);
    if (switches) {
      stereo.set_parameters(off);
      stereo.set_parameters(parameters);
    }
    after.run(stereo);
    device.finish();
    EXPECT_EQ(difference_from_definition(after) == "", switches);
  }
}

}  // namespace
}  // namespace cudavision::test
