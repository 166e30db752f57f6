// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/nlmeans/nlmeans_case.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/hash.h"
#include "tests/kernels/nlmeans/nlmeans_definition.h"

namespace cudavision::test {
namespace {

/// Squared differences that the definition of one channel may take.
constexpr int max_differences = 1 << 23;

/// Odd, 1 to most, which is one less than a power of two.
int random_side(Random& random, int most) {
  return (random.log_uniform(most + 1) - 1) | 1;
}

/// Searches and patches of every size, most of them small; those that are usual more often.
nlmeans::Parameters random_parameters(Random& random) {
  nlmeans::Parameters parameters;
  parameters.search = random.one_in(6)    ? 21
                      : random.one_in(12) ? 2 * random.between(25, 50) + 1
                                          : random_side(random, 15);
  parameters.patch = random.one_in(3)    ? 7
                     : random.one_in(12) ? 31
                                         : random_side(random, random.one_in(4) ? 31 : 7);
  // What content has to be alike for depends on it: from hardly anything to nearly everything.
  parameters.strength = random.one_in(16) ? 0 : random.log_uniform(255 * 16) / 16.0;
  return parameters;
}

/// Unlike any that a case asks for.
nlmeans::Parameters other_parameters(const nlmeans::Parameters& parameters) {
  return {parameters.search == 3 ? 5 : 3, parameters.patch == 5 ? 9 : 5, 99.5};
}

std::string describe(const nlmeans::Parameters& p) {
  char text[80];
  std::snprintf(text, sizeof text, "search %d, patch %d, strength %.10g", p.search, p.patch,
                p.strength);
  return text;
}

}  // namespace

int most_search(int max_pixels) {
  int search = 101;
  while (search > 1 && 4 * search * search > max_pixels)
    search -= 2;
  return search;
}

NlMeansCase make_nlmeans_case(std::uint64_t seed, int number, int max_pixels) {
  Random random(mixed_seed(seed, static_cast<std::uint64_t>(number)));
  const auto& kinds = layout_kinds();
  const LayoutKind& kind = kinds[static_cast<std::size_t>(number) % kinds.size()];

  NlMeansCase test;
  test.title = kind.name + ", case " + std::to_string(number);
  test.parameters = random_parameters(random);
  test.parameters.search = std::min(test.parameters.search, most_search(max_pixels));
  const int patches = test.parameters.search * test.parameters.search;
  const int differences = patches * test.parameters.patch * test.parameters.patch;
  const auto [width, height] =
      random_picture_size(random, std::clamp(max_differences / differences, 1, max_pixels));
  test.layout = kind.make(width, height);
  test.in = random_placement(test.layout, random);
  test.out = random_placement(test.layout, random);
  test.content = static_cast<Content>(random.between(0, content_count - 1));
  test.content_seed = random.next();
  test.dirty = random.one_in(2);
  test.parameters_later = random.one_in(3);
  return test;
}

NlMeansCase plain_nlmeans_case(const FrameLayout& layout, const nlmeans::Parameters& parameters,
                               Content content, std::uint64_t seed) {
  NlMeansCase test;
  test.title = "plain case";
  test.layout = layout;
  test.in = test.out = dense_placement(layout);
  test.content = content;
  test.content_seed = seed;
  test.parameters = parameters;
  return test;
}

std::string describe(const NlMeansCase& test) {
  return test.title + ": " + std::to_string(test.layout.width) + "×" +
         std::to_string(test.layout.height) + ", " + std::to_string(test.layout.bits) +
         " bits, content " + name(test.content) + (test.dirty ? " (dirty words), " : ", ") +
         describe(test.parameters) + (test.parameters_later ? " (set later)" : "") +
         "\n  in: " + describe(test.layout, test.in) +
         "\n  out: " + describe(test.layout, test.out);
}

std::vector<std::uint8_t> input_block(const NlMeansCase& test) {
  // Chroma and alpha show something like everything else, so that there is something to denoise.
  FrameLayout as_luma = test.layout;
  for (Channel& channel : as_luma.channels)
    channel.role = Role::luma;
  std::vector<std::uint8_t> block(test.in.bytes, 0x5a);
  paint(as_luma, frame_in(test.layout, test.in, block.data()), test.content, test.content_seed,
        test.dirty);
  return block;
}

std::vector<std::uint8_t> defined_block(const NlMeansCase& test,
                                        const std::vector<std::uint8_t>& input,
                                        std::uint8_t poison) {
  std::vector<std::uint8_t> block(test.out.bytes, poison);
  const ConstFrame in = frame_in(test.layout, test.in, input.data());
  defined_denoising(test.layout, test.parameters, in,
                    frame_in(test.layout, test.out, block.data()));
  return block;
}

NlMeansRunner::NlMeansRunner(Device& device, const NlMeansCase& test)
    : device_(device),
      test_(test),
      denoising_(device, test.layout,
                 test.parameters_later ? other_parameters(test.parameters) : test.parameters) {
  if (test.parameters_later)
    denoising_.set_parameters(test.parameters);
}

std::vector<std::uint8_t> NlMeansRunner::run(const std::vector<std::uint8_t>& input,
                                             std::uint8_t poison) {
  const DeviceBlock<std::uint8_t> in(device_, input);
  const DeviceBlock<std::uint8_t> out(device_, std::vector<std::uint8_t>(test_.out.bytes, poison));
  denoising_.run(frame_in(test_.layout, test_.in, static_cast<const std::uint8_t*>(in.data())),
                 frame_in(test_.layout, test_.out, out.data()));
  device_.finish();
  if (in.values() != input)
    throw std::runtime_error("the input was written to");
  return out.values();
}

std::string difference(const NlMeansCase& test, const std::vector<std::uint8_t>& expected,
                       const std::vector<std::uint8_t>& actual) {
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin());
  if (e == expected.end())
    return {};
  return describe_byte(test.layout, test.out, static_cast<std::size_t>(e - expected.begin())) +
         " must be " + std::to_string(*e) + " and is " + std::to_string(*a);
}

std::string hash(const NlMeansCase& test, const std::vector<std::uint8_t>& block) {
  Hash hash;
  add_rows(hash, test.layout, test.out, block);
  return hash.text();
}

}  // namespace cudavision::test
