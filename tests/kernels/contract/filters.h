// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Checks of identity(), which only filters of frames have.

#include <algorithm>
#include <vector>

#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/common/gtest_support.h"

namespace cudavision::test {

template <class Parameters>
struct IdentityClaim {
  bool identity;
  Parameters parameters;
};

/// Checks identity() after construction, and after a change from the parameters `opposite`.
template <class Case>
void expect_identity(Device& device, const Case& test, bool identity,
                     const typename Case::Parameters& opposite) {
  SCOPED_TRACE(describe(test));
  EXPECT_EQ(test.make(device, test.parameters).identity(), identity);
  auto filter = test.make(device, opposite);
  EXPECT_EQ(filter.identity(), !identity);
  filter.set_parameters(test.parameters);
  EXPECT_EQ(filter.identity(), identity);
  EXPECT_EQ(difference_after_run(device, test, filter), "");
}

/// Checks each claim. There must be claims with and without `identity`.
template <class Case>
void expect_identities(Device& device,
                       const std::vector<IdentityClaim<typename Case::Parameters>>& claims) {
  for (const char* name : {"GRAY8", "NV12", "RGBA", "P010", "GRAY8Roomy"})
    for (const auto& claim : claims) {
      const auto opposite = std::find_if(claims.begin(), claims.end(), [&](const auto& other) {
        return other.identity != claim.identity;
      });
      expect_identity(
          device,
          plain_case<Case>(layout_named(name, 20, 10), claim.parameters, Content::random, 5),
          claim.identity, opposite->parameters);
    }
}

}  // namespace cudavision::test
