// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "cuda/guided/guided.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

struct GuidedCase : FilterCase<GuidedCase, guided::Guided, guided::Parameters> {
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const;
};

using GuidedRunner = Runner<GuidedCase>;

GuidedCase make_guided_case(std::uint64_t seed, int number, int max_pixels);

constexpr auto plain_guided_case = plain_case<GuidedCase>;

std::string describe(const GuidedCase& test);

}  // namespace cudavision::test
