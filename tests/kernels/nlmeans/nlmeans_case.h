// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "cuda/nlmeans/nlmeans.h"
#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/nlmeans/nlmeans_definition.h"

namespace cudavision::test {

class NlMeansFrames;

/// One denoising of a frame.
struct NlMeansCase : FilterCase<NlMeansCase, nlmeans::NlMeans, nlmeans::Parameters> {
  using Frames = NlMeansFrames;

  ChannelVariances noise{};

  std::vector<noise::State> states() const;
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const;
};

/// The frames of a case, and the noise of their channels.
class NlMeansFrames : public CaseFrames<NlMeansCase> {
 public:
  template <class... Arguments>
  explicit NlMeansFrames(Device& device, const NlMeansCase& one, const Arguments&... arguments)
      : CaseFrames(device, one, arguments...), noise_(device, one.states()) {}

  void run(nlmeans::NlMeans& operation) const { operation.run(in, out, nullptr, noise()); }
  const noise::State* noise() const { return noise_.data(); }

 private:
  DeviceBlock<noise::State> noise_;
};

using NlMeansRunner = Runner<NlMeansCase>;

/// Returns the largest search that the tests use if frames have at most max_pixels pixels. The
/// square of the search must be at most a quarter of max_pixels, because a GPU processes whole
/// tiles for each offset of a search, however small the frame is. The result never exceeds the
/// largest search that nlmeans::NlMeans supports.
int max_search(int max_pixels);

/// Draws a frame size of at most max_pixels pixels, and of fewer if search and patch are large,
/// because the definition is slow.
NlMeansCase make_nlmeans_case(std::uint64_t seed, int number, int max_pixels);

/// Draws another case, in which strengths follow from noise or chroma has its own.
NlMeansCase make_strength_case(std::uint64_t seed, int number, int max_pixels);

constexpr auto plain_nlmeans_case = plain_case<NlMeansCase>;

std::string describe(const NlMeansCase& test);

/// Accounts for the search as well as for the frame; see case_suites.h.
int work_in_pixels(const NlMeansCase& test);

}  // namespace cudavision::test
