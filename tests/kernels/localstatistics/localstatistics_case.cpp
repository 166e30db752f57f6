// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/localstatistics/localstatistics_case.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/hash.h"
#include "tests/kernels/localstatistics/localstatistics_definition.h"

namespace cudavision::test {
namespace {

using Output = localstatistics::Parameters::Output;

bool is_threshold(const localstatistics::Parameters& parameters) {
  return parameters.output == Output::bradley || parameters.output == Output::sauvola;
}

/// From the pixel alone to more than any picture has.
int random_radius(Random& random) {
  constexpr int ends[] = {0, 1, 65534, 65535};
  return random.one_in(6)   ? ends[random.between(0, 3)]
         : random.one_in(4) ? random.log_uniform(65535)
                            : random.log_uniform(300);
}

/// 0 to 1, ends included, in steps of 2^-17: half of them lie between two multiples of 2^-16.
double random_share(Random& random) {
  constexpr int ends[] = {0, 1, 131071, 131072};
  return (random.one_in(4) ? ends[random.between(0, 3)] : random.between(0, 131072)) / 131072.0;
}

localstatistics::Parameters random_parameters(const FrameLayout& layout, Random& random) {
  localstatistics::Parameters parameters;
  parameters.output = static_cast<Output>(random.between(0, 3));
  parameters.radius = random_radius(random);
  parameters.ratio = random_share(random);
  parameters.k = random_share(random);
  // Deviations reach half of the range of the levels.
  parameters.range = random.one_in(3) ? 0 : random.between(1, 1 << (layout.bits + 3)) / 16.0;
  return parameters;
}

/// Unlike those that the case asks for, in everything that may change.
localstatistics::Parameters other_parameters(const localstatistics::Parameters& parameters) {
  localstatistics::Parameters other = parameters;
  if (is_threshold(parameters))
    other.output = parameters.output == Output::bradley ? Output::sauvola : Output::bradley;
  other.radius = parameters.radius == 3 ? 400 : 3;
  other.ratio = 1 - parameters.ratio;
  other.k = 1 - parameters.k;
  other.range = parameters.range + 1;
  return other;
}

std::string describe(const localstatistics::Parameters& parameters) {
  constexpr const char* names[] = {"mean", "deviation", "bradley", "sauvola"};
  char text[128];
  std::snprintf(text, sizeof text, "%s, radius %d, ratio %.17g, k %.17g, range %.17g",
                names[static_cast<int>(parameters.output)], parameters.radius, parameters.ratio,
                parameters.k, parameters.range);
  return text;
}

template <class Byte>
View<Byte> out_in(const LocalStatisticsCase& test, Byte* block) {
  return frame_in(out_layout(test), test.out, block).planes[0];
}

}  // namespace

LocalStatisticsCase make_localstatistics_case(std::uint64_t seed, int number, int max_pixels) {
  Random random(mixed_seed(seed, static_cast<std::uint64_t>(number)));
  const auto& kinds = layout_kinds();
  const LayoutKind& kind = kinds[static_cast<std::size_t>(number) % kinds.size()];

  LocalStatisticsCase test;
  test.title = kind.name + ", case " + std::to_string(number);
  const auto [width, height] = random_picture_size(random, max_pixels);
  test.layout = kind.make(width, height);
  test.parameters = random_parameters(test.layout, random);
  const bool may_be_bytes = test.layout.bits == 8 || is_threshold(test.parameters);
  test.output_bits = may_be_bytes && random.one_in(2) ? 8 : 16;
  test.in = random_placement(test.layout, random);
  test.out = random_placement(out_layout(test), random);
  test.content = static_cast<Content>(random.between(0, content_count - 1));
  test.content_seed = random.next();
  test.dirty = random.one_in(2);
  test.parameters_later = random.one_in(3);
  return test;
}

LocalStatisticsCase plain_localstatistics_case(const FrameLayout& layout,
                                               const localstatistics::Parameters& parameters,
                                               Content content, std::uint64_t seed) {
  LocalStatisticsCase test;
  test.title = "plain case";
  test.layout = layout;
  test.output_bits = layout.bits == 8 ? 8 : 16;
  test.in = dense_placement(layout);
  test.out = dense_placement(out_layout(test));
  test.content = content;
  test.content_seed = seed;
  test.parameters = parameters;
  return test;
}

std::string describe(const LocalStatisticsCase& test) {
  return test.title + ": " + std::to_string(test.layout.width) + "×" +
         std::to_string(test.layout.height) + ", " + std::to_string(test.layout.bits) + " to " +
         std::to_string(test.output_bits) + " bits, content " + name(test.content) +
         (test.dirty ? " (dirty words), " : ", ") + describe(test.parameters) +
         (test.parameters_later ? " (set later)" : "") +
         "\n  in: " + describe(test.layout, test.in) +
         "\n  out: " + describe(out_layout(test), test.out);
}

FrameLayout out_layout(const LocalStatisticsCase& test) {
  return gray_layout(test.layout.width, test.layout.height, test.output_bits);
}

std::vector<std::uint8_t> input_block(const LocalStatisticsCase& test) {
  std::vector<std::uint8_t> block(test.in.bytes, 0x5a);
  paint(test.layout, frame_in(test.layout, test.in, block.data()), test.content, test.content_seed,
        test.dirty);
  return block;
}

std::vector<std::uint8_t> defined_block(const LocalStatisticsCase& test,
                                        const std::vector<std::uint8_t>& input,
                                        std::uint8_t poison) {
  std::vector<std::uint8_t> block(test.out.bytes, poison);
  defined_statistics(test.layout, test.output_bits, test.parameters,
                     frame_in(test.layout, test.in, input.data()), out_in(test, block.data()));
  return block;
}

LocalStatisticsRunner::LocalStatisticsRunner(Device& device, const LocalStatisticsCase& test)
    : device_(device),
      test_(test),
      statistics_(device, test.layout, test.output_bits,
                  test.parameters_later ? other_parameters(test.parameters) : test.parameters) {
  if (test.parameters_later)
    statistics_.set_parameters(test.parameters);
}

std::vector<std::uint8_t> LocalStatisticsRunner::run(const std::vector<std::uint8_t>& input,
                                                     std::uint8_t poison) {
  const DeviceBlock<std::uint8_t> in(device_, input);
  const DeviceBlock<std::uint8_t> out(device_, std::vector<std::uint8_t>(test_.out.bytes, poison));
  statistics_.run(frame_in(test_.layout, test_.in, static_cast<const std::uint8_t*>(in.data())),
                  out_in(test_, out.data()));
  device_.finish();
  if (in.values() != input)
    throw std::runtime_error("the input was written to");
  return out.values();
}

std::string difference(const LocalStatisticsCase& test, const std::vector<std::uint8_t>& expected,
                       const std::vector<std::uint8_t>& actual) {
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin());
  if (e == expected.end())
    return {};
  return describe_byte(out_layout(test), test.out, static_cast<std::size_t>(e - expected.begin())) +
         " must be " + std::to_string(*e) + " and is " + std::to_string(*a);
}

std::string hash(const LocalStatisticsCase& test, const std::vector<std::uint8_t>& block) {
  Hash hash;
  add_rows(hash, out_layout(test), test.out, block);
  return hash.text();
}

}  // namespace cudavision::test
