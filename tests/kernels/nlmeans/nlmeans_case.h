// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/nlmeans/nlmeans.h"
#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/nlmeans/nlmeans_definition.h"

namespace cudavision::test {

class NlMeansFrames;

/// One denoising of a frame. The input block contains the frame, then its neighbouring frames.
struct NlMeansCase : FilterCase<NlMeansCase, nlmeans::NlMeans, nlmeans::Parameters> {
  using Frames = NlMeansFrames;

  ChannelVariances noise{};

  std::vector<noise::State> states() const;
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const;
  void enqueue(nlmeans::NlMeans& operation, const ConstFrame& from, const Frame& to) const {
    operation.run(from, neighbours(from), to);
  }
  std::vector<ConstFrame> neighbours(const ConstFrame& from) const;
};

/// Each neighbouring frame shows the frame's content with some noise, or different content.
std::vector<std::uint8_t> input_block(const NlMeansCase& test);

class NlMeansFrames : public CaseFrames<NlMeansCase> {
 public:
  NlMeansFrames(Device& device, const NlMeansCase& one, const std::vector<std::uint8_t>& input,
                std::uint8_t poison = out_poison)
      : CaseFrames(device, one, input, poison), noise_(device, one.states()) {}
  NlMeansFrames(Device& device, const NlMeansCase& one)
      : NlMeansFrames(device, one, input_block(one)) {}

  void run(nlmeans::NlMeans& operation) const {
    operation.run(in, test.neighbours(in), out, nullptr, noise());
  }
  const noise::State* noise() const { return noise_.data(); }

 private:
  DeviceBlock<noise::State> noise_;
};

using NlMeansRunner = Runner<NlMeansCase>;

/// Returns the largest odd search up to 101 whose square is at most max_pixels / 4, but at least 1.
/// Larger searches are slow, because a GPU processes whole tiles for each offset.
int max_search(int max_pixels);

/// Draws a frame of at most max_pixels pixels, fewer for large searches and patches.
NlMeansCase make_nlmeans_case(std::uint64_t seed, int number, int max_pixels);

NlMeansCase make_strength_case(std::uint64_t seed, int number, int max_pixels);

NlMeansCase make_nlmeans_frames_case(std::uint64_t seed, int number, int max_pixels);

inline nlmeans::Parameters with_frames(nlmeans::Parameters parameters, int frames) {
  parameters.frames = frames;
  return parameters;
}

constexpr auto plain_nlmeans_case = plain_case<NlMeansCase>;

std::string describe(const NlMeansCase& test);

int work_in_pixels(const NlMeansCase& test);

}  // namespace cudavision::test
