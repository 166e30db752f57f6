// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/common/layouts.h"

namespace cudavision::test {

/// The random cases of one layout. Case n has layout n modulo the number of layouts.
class LayoutCases : public testing::TestWithParam<int> {
 protected:
  template <class Make, class Check>
  void for_each_case(const Make& make, const Check& check) const {
    if (numbers().empty())
      GTEST_SKIP() << "CUDAVISION_TEST_CASE=" << settings().only_case << " has another layout";
    for (const int number : numbers()) {
      SCOPED_TRACE(repeat_with(number));
      check(make(settings().seed, number, settings().max_pixels));
      if (HasFailure())
        return;
    }
  }

 private:
  static std::vector<int> numbers() {
    const int kinds = static_cast<int>(layout_kinds().size());
    if (settings().only_case >= 0)
      return settings().only_case % kinds == GetParam() ? std::vector{settings().only_case}
                                                        : std::vector<int>{};
    std::vector<int> numbers{GetParam()};  // at least one, even if `cases` is smaller
    for (int number = GetParam() + kinds; number < settings().cases; number += kinds)
      numbers.push_back(number);
    return numbers;
  }
};

inline auto every_layout() {
  return testing::Range(0, static_cast<int>(layout_kinds().size()));
}

inline std::string layout_name(const testing::TestParamInfo<int>& info) {
  return layout_kinds()[info.param].name;
}

}  // namespace cudavision::test
