// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "cuda/nlmeans/nlmeans.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

/// One denoising of a frame.
struct NlMeansCase : FilterCase<NlMeansCase, nlmeans::NlMeans, nlmeans::Parameters> {
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const;
};

using NlMeansRunner = Runner<NlMeansCase>;

/// The largest search that tests try where frames have max_pixels at most: up to what
/// nlmeans::NlMeans takes, and so that its square is a quarter of that. A GPU looks at whole tiles
/// for each place of a search, however small the frame is.
int most_search(int max_pixels);

/// Frame sizes are drawn so that width times height stays within max_pixels, and within less where
/// search and patch are large: the definition is slow.
NlMeansCase make_nlmeans_case(std::uint64_t seed, int number, int max_pixels);

constexpr auto plain_nlmeans_case = plain_case<NlMeansCase>;

std::string describe(const NlMeansCase& test);

/// Pixels of a frame that is as much work as the case is.
int work_in_pixels(const NlMeansCase& test);

}  // namespace cudavision::test
