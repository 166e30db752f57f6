// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/kernels/common/case_suites.h"

namespace cudavision::test {

/// Runs 60 random cases without copies_chroma. Planes that hold only chroma must not be written.
template <class MakeCase>
void expect_chroma_left(Device& device, const MakeCase& make_case) {
  for (int number = 0; number < 60 && !testing::Test::HasFailure(); ++number) {
    auto test = make_case(settings().seed, number, 1 << 14);
    test.parameters.copies_chroma = false;
    SCOPED_TRACE(describe(test));
    const auto input = input_block(test);
    EXPECT_EQ(difference(test, defined_output(test, input, poison),
                         Runner<decltype(test)>(device, test).run(input, poison)),
              "");
  }
}

}  // namespace cudavision::test
