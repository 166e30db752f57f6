// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What filters of frames promise beyond the contract of all operations.

#include <algorithm>
#include <vector>

#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/common/gtest_support.h"

namespace cudavision::test {

/// Whether a filter with these parameters changes nothing.
template <class Parameters>
struct IdentityClaim {
  bool identity;
  Parameters parameters;
};

/// There must be claims of both kinds.
template <class Case>
void expect_identities(Device& device,
                       const std::vector<IdentityClaim<typename Case::Parameters>>& claims) {
  for (const char* name : {"GRAY8", "NV12", "RGBA", "P010", "GRAY8Roomy"})
    for (const auto& claim : claims) {
      const Case test =
          plain_case<Case>(layout_named(name, 20, 10), claim.parameters, Content::random, 5);
      SCOPED_TRACE(describe(test));
      EXPECT_EQ(test.make(device, claim.parameters).identity(), claim.identity);
      // The same must hold after parameters of the opposite kind.
      const auto opposite = std::find_if(claims.begin(), claims.end(), [&](const auto& other) {
        return other.identity != claim.identity;
      });
      auto filter = test.make(device, opposite->parameters);
      EXPECT_EQ(filter.identity(), opposite->identity);
      filter.set_parameters(claim.parameters);
      EXPECT_EQ(filter.identity(), claim.identity);
      const typename Case::Frames frames(device, test);
      frames.run(filter);
      device.finish();
      EXPECT_EQ(difference_from_definition(frames), "");
    }
}

/// Channels give the same results whether they lie interleaved or in planes of their own.
template <class Case>
void expect_same_in_every_layout(Device& device, const typename Case::Parameters& parameters) {
  const auto case_of = [&](const char* layout) {
    return plain_case<Case>(layout_named(layout, 90, 40), parameters, Content::natural, 5);
  };
  const Case nv12 = case_of("NV12"), i420 = case_of("I420");
  /// Converts the NV12 frame in `block` to I420 in `around`, which keeps its bytes around the
  /// planes.
  const auto separated = [&](std::vector<std::uint8_t> block, std::vector<std::uint8_t> around) {
    const Frame pairs = frame_in(nv12.layout, nv12.in, block.data());
    const Frame planes = frame_in(i420.layout, i420.in, around.data());
    for (int y = 0; y < 40; ++y)
      std::copy_n(pairs.planes[0].row(y), 90, planes.planes[0].row(y));
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 45; ++x)
        for (int c = 0; c < 2; ++c)
          planes.planes[static_cast<std::size_t>(1 + c)].row(y)[x] =
              pairs.planes[1].row(y)[2 * x + c];
    return around;
  };
  const auto input = input_block(nv12);
  const auto interleaved = Runner<Case>(device, nv12).run(input, 0xcd);
  const auto planar = Runner<Case>(device, i420).run(separated(input, input_block(i420)), 0xcd);
  EXPECT_EQ(difference(i420, separated(interleaved, planar), planar), "");
}

}  // namespace cudavision::test
