// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/nlmeans/nlmeans_case.h"

#include <algorithm>
#include <cstdio>

#include "tests/kernels/nlmeans/nlmeans_definition.h"

namespace cudavision::test {
namespace {

/// The largest number of squared differences that the definition may compute for one channel.
constexpr int max_differences = 1 << 23;

int random_side(Random& random, int maximum) {
  return (random.log_uniform(maximum + 1) - 1) | 1;
}

nlmeans::Parameters random_parameters(Random& random) {
  nlmeans::Parameters parameters;
  parameters.search = random.one_in(6)    ? 21
                      : random.one_in(12) ? 2 * random.between(25, 50) + 1
                                          : random_side(random, 15);
  parameters.patch = random.one_in(3)    ? 7
                     : random.one_in(12) ? 31
                                         : random_side(random, random.one_in(4) ? 31 : 7);
  // The strength decides how many patches are similar enough for a weight, from few to nearly all.
  parameters.strength = random.one_in(16) ? 0 : random.log_uniform(255 * 16) / 16.0;
  return parameters;
}

NlMeansCase make_case(std::uint64_t seed, int number, int max_pixels, int frames) {
  Random random = random_of_case(seed, number);
  nlmeans::Parameters p = random_parameters(random);
  p.frames = frames;
  p.search = std::min(p.search, max_search(max_pixels / frames));
  const int differences = frames * p.search * p.search * p.patch * p.patch;
  auto test = random_frame_case<NlMeansCase>(
      number, std::clamp(max_differences / differences, 1, max_pixels), random);
  test.parameters = p;
  return drawn(test, random);
}

NlMeansCase with_strengths(NlMeansCase test, Random& random) {
  nlmeans::Parameters& p = test.parameters;
  if (p.strength == 0 || random.one_in(2))
    p.strength = nlmeans::Parameters::automatic_strength;
  if (random.one_in(2))
    p.chroma_strength = random.one_in(4) ? 0 : random.log_uniform(255 * 16) / 16.0;
  for (std::uint32_t& variance : test.noise)
    variance = random.one_in(8) ? 0u : static_cast<std::uint32_t>(random.log_uniform(1 << 21));
  return test;
}

}  // namespace

int max_search(int max_pixels) {
  int search = 101;
  while (search > 1 && 4 * search * search > max_pixels)
    search -= 2;
  return search;
}

NlMeansCase make_nlmeans_case(std::uint64_t seed, int number, int max_pixels) {
  return make_case(seed, number, max_pixels, 1);
}

NlMeansCase make_nlmeans_frames_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(~seed, number);
  const int frames = random.between(2, 9);
  return with_strengths(make_case(seed, number, max_pixels, frames), random);
}

NlMeansCase make_strength_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed + 1, number);
  return with_strengths(make_nlmeans_case(seed, number, max_pixels), random);
}

std::vector<noise::State> NlMeansCase::states() const {
  std::vector<noise::State> states(noise.size());
  for (std::size_t c = 0; c < states.size(); ++c)
    states[c].used = noise::noise_of_variance(noise[c]);
  return states;
}

std::string describe(const NlMeansCase& test) {
  const nlmeans::Parameters& p = test.parameters;
  char text[180];
  std::snprintf(
      text, sizeof text,
      "search %d, patch %d, strength %.10g, of chroma %.10g, noise %u %u %u %u, frames %d",
      p.search, p.patch, p.strength, p.chroma_strength, test.noise[0], test.noise[1], test.noise[2],
      test.noise[3], p.frames);
  return describe(test, text);
}

int work_in_pixels(const NlMeansCase& test) {
  const int search = test.parameters.search;
  return test.parameters.frames *
         std::max(test.layout.width * test.layout.height, 4 * search * search);
}

std::vector<std::uint8_t> input_block(const NlMeansCase& test) {
  const FrameCase& frame = test;
  std::vector<std::uint8_t> block = input_block(frame);
  Random random(test.content_seed);
  for (int i = 1; i < test.parameters.frames; ++i) {
    FrameCase other = test;
    const bool alike = random.one_in(2);
    if (!alike)
      other.content_seed = random.next();
    std::vector<std::uint8_t> neighbour = input_block(other);
    const Frame samples = frame_in(test.layout, test.in, neighbour.data());
    for (int p = 0; alike && p < test.layout.plane_count; ++p)
      for (int y = 0; y < test.layout.planes[p].rows; ++y)
        for (int x = 0; x < test.layout.planes[p].row_bytes; ++x)
          samples.planes[p].row(y)[x] ^=
              static_cast<std::uint8_t>(random.one_in(4) ? random.next() & 7 : 0);
    block.insert(block.end(), neighbour.begin(), neighbour.end());
  }
  return block;
}

void NlMeansCase::define(const ConstFrame& from, const Frame& to) const {
  defined_denoising(layout, parameters, noise, from, neighbours(from), to);
}

std::vector<ConstFrame> NlMeansCase::neighbours(const ConstFrame& from) const {
  std::vector<ConstFrame> all(static_cast<std::size_t>(parameters.frames - 1), from);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (auto& plane : all[i].planes)
      if (plane.data)
        plane.data += (i + 1) * in.bytes;
  return all;
}

nlmeans::Parameters NlMeansCase::other_parameters() const {
  return {parameters.search == 3 ? 5 : 3, parameters.patch == 5 ? 9 : 5, 99.5, 33.5,
          parameters.frames == 1 ? 1 : 9};
}

}  // namespace cudavision::test
