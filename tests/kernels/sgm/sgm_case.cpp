// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/sgm/sgm_case.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

using Census = sgm::Parameters::Census;
using Compatibility = sgm::Parameters::Compatibility;

/// Entries of a volume that the definition may take.
constexpr int max_volume = 1 << 20;

FrameLayout random_layout_of(int bits, int width, int height, Random& random) {
  for (;;) {
    const FrameLayout layout = layout_kinds()[static_cast<std::size_t>(random.between(
                                                  0, static_cast<int>(layout_kinds().size()) - 1))]
                                   .make(width, height);
    if (layout.bits == bits)
      return layout;
  }
}

FrameLayout disparity_layout(const SgmCase& test) {
  return gray_layout(test.left_layout.width, test.left_layout.height, 16);
}

FrameLayout confidence_layout(const SgmCase& test) {
  return gray_layout(test.left_layout.width, test.left_layout.height, 8);
}

/// Unlike any that a case asks for, for the same object.
sgm::Parameters other_parameters(const sgm::Parameters& parameters) {
  sgm::Parameters other = parameters;
  other.p1 = 1;
  other.p2 = parameters.p2 == 2 ? 3 : 2;
  other.uniqueness = 0.5;
  other.lr_max_diff = parameters.lr_max_diff == 3 ? 4 : 3;
  other.subpixel = !parameters.subpixel;
  other.median = !parameters.median;
  other.speckle_size = parameters.speckle_size == 7 ? 0 : 7;
  other.fill_holes = !parameters.fill_holes;
  other.adaptive_p2 = !parameters.adaptive_p2;
  return other;
}

/// Column of the right picture that is seen in a pixel of the left one. Blocks of pixels share a
/// disparity; one in sixteen pixels shows something else.
int seen_column(const SgmCase& test, int x, int y) {
  const auto block = static_cast<std::uint64_t>(x / 37 + 1000 * (y / 19));
  Random random(mixed_seed(test.content_seed, block));
  const int disparities = std::min(test.parameters.disparities, test.left_layout.width);
  const int d = test.parameters.minimum + random.between(0, disparities - 1);
  Random grain(mixed_seed(test.content_seed + 1,
                          static_cast<std::uint64_t>(x) * 65536 + static_cast<std::uint64_t>(y)));
  return x - d + (grain.one_in(16) ? grain.between(-9, 9) : 0);
}

/// Makes every colour, or the luma, of a pixel so large.
void put_luminance(const FrameLayout& layout, const Frame& frame, int x, int y, int value) {
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.role == Role::chroma || channel.role == Role::alpha)
      continue;
    std::uint8_t* const row = frame.planes[channel.plane].row(y);
    const auto place = channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x;
    if (layout.bits == 8) {
      row[place] = static_cast<std::uint8_t>(value);
    } else {
      const auto word = static_cast<std::uint16_t>(value << layout.shift);
      std::memcpy(row + 2 * place, &word, sizeof word);
    }
  }
}

Frame frame_of_block(const FrameLayout& layout, const Placement& placement,
                     std::vector<std::uint8_t>& block) {
  return frame_in(layout, placement, block.data());
}

template <class Number>
void put_rows(const std::vector<Number>& numbers, const View<std::uint8_t>& rows) {
  for (int y = 0; y < rows.height; ++y)
    std::memcpy(rows.row(y),
                reinterpret_cast<const std::uint8_t*>(numbers.data()) +
                    static_cast<std::size_t>(y) * static_cast<std::size_t>(rows.width),
                static_cast<std::size_t>(rows.width));
}

std::string difference_in(const char* what, const FrameLayout& layout, const Placement& placement,
                          const std::vector<std::uint8_t>& expected,
                          const std::vector<std::uint8_t>& actual) {
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin());
  if (e == expected.end())
    return {};
  return std::string(what) + ": " +
         describe_byte(layout, placement, static_cast<std::size_t>(e - expected.begin())) +
         " must be " + std::to_string(*e) + " and is " + std::to_string(*a);
}

}  // namespace

sgm::Parameters random_sgm_parameters(Random& random) {
  sgm::Parameters p;
  p.disparities = 32 * (random.one_in(6) ? random.log_uniform(32) : random.between(1, 4));
  if (!random.one_in(3))
    p.minimum = random.between(-std::min(p.disparities, 64), 64);
  if (random.one_in(16))
    p.minimum = random.one_in(2) ? -2047 : 2047 - p.disparities;
  p.paths = random.one_in(2) ? 4 : 8;
  if (random.one_in(3))
    p.compatibility = Compatibility::libsgm;
  else
    p.census = static_cast<Census>(random.between(0, 2));
  const int largest = 255 - sgm::census_bits(p.census);
  if (!random.one_in(3)) {
    p.p2 = random.one_in(4) ? largest : random.between(2, largest);
    p.p1 = random.one_in(4) ? p.p2 - 1 : random.between(1, p.p2 - 1);
  }
  p.uniqueness = random.one_in(3)   ? 0.95
                 : random.one_in(4) ? random.between(0, 1)
                                    : random.between(800, 1000) / 1000.0;
  p.lr_max_diff = random.one_in(4) ? -1 : random.one_in(8) ? 1024 : random.between(0, 4);
  p.subpixel = !random.one_in(3);
  p.median = !random.one_in(4);
  p.speckle_size = random.one_in(2) ? 0 : random.log_uniform(1000);
  p.speckle_range = random.one_in(16) ? 1024 : random.between(0, 3);
  p.fill_holes = random.one_in(2);
  p.adaptive_p2 = !random.one_in(3);
  return p;
}

SgmCase make_sgm_case(std::uint64_t seed, int number, int max_pixels) {
  Random random(mixed_seed(seed, static_cast<std::uint64_t>(number)));
  const auto& kinds = layout_kinds();
  const LayoutKind& kind = kinds[static_cast<std::size_t>(number) % kinds.size()];

  SgmCase test;
  test.title = kind.name + ", case " + std::to_string(number);
  test.parameters = random_sgm_parameters(random);
  const auto [width, height] = random_picture_size(
      random, std::clamp(max_volume / test.parameters.disparities, 1, max_pixels));
  test.left_layout = kind.make(width, height);
  test.right_layout = random.one_in(2)
                          ? test.left_layout
                          : random_layout_of(test.left_layout.bits, width, height, random);
  test.left = random_placement(test.left_layout, random);
  test.right = random_placement(test.right_layout, random);
  test.disparity = random_placement(disparity_layout(test), random);
  test.confidence = random_placement(confidence_layout(test), random);
  // What can be matched, as often as everything else together.
  test.content = random.one_in(2) ? (random.one_in(2) ? Content::random : Content::natural)
                                  : static_cast<Content>(random.between(0, content_count - 1));
  test.related = !random.one_in(4);
  test.content_seed = random.next();
  test.dirty = random.one_in(2);
  test.with_confidence = !random.one_in(4);
  test.parameters_later = random.one_in(3);
  return test;
}

SgmCase plain_sgm_case(const FrameLayout& layout, const sgm::Parameters& parameters,
                       Content content, std::uint64_t seed) {
  SgmCase test;
  test.title = "plain case";
  test.left_layout = test.right_layout = layout;
  test.left = test.right = dense_placement(layout);
  test.disparity = dense_placement(disparity_layout(test));
  test.confidence = dense_placement(confidence_layout(test));
  test.content = content;
  test.content_seed = seed;
  test.parameters = parameters;
  return test;
}

std::string describe(const sgm::Parameters& p) {
  constexpr const char* censuses[] = {"symmetric 9×7", "neighbours 9×7", "neighbours 5×5"};
  char text[320];
  std::snprintf(
      text, sizeof text,
      "%d disparities from %d, %d paths, %s%s, p1 %d, p2 %d%s, uniqueness %.10g, lr %d%s%s, "
      "speckles of %d within %d%s",
      p.disparities, p.minimum, p.paths, censuses[static_cast<int>(p.census)],
      p.compatibility == Compatibility::libsgm ? " as libSGM" : "", p.p1, p.p2,
      p.adaptive_p2 ? " adaptive" : "", p.uniqueness, p.lr_max_diff, p.subpixel ? ", subpixel" : "",
      p.median ? ", median" : "", p.speckle_size, p.speckle_range, p.fill_holes ? ", filled" : "");
  return text;
}

std::string describe(const SgmCase& test) {
  return test.title + ": " + std::to_string(test.left_layout.width) + "×" +
         std::to_string(test.left_layout.height) + ", " + std::to_string(test.left_layout.bits) +
         " bits, content " + name(test.content) + (test.related ? ", shifted" : ", unrelated") +
         (test.dirty ? " (dirty words), " : ", ") + describe(test.parameters) +
         (test.parameters_later ? " (set later)" : "") +
         "\n  left: " + describe(test.left_layout, test.left) +
         "\n  right: " + describe(test.right_layout, test.right) +
         "\n  disparity: " + describe(disparity_layout(test), test.disparity) + "\n  confidence: " +
         (test.with_confidence ? describe(confidence_layout(test), test.confidence) : "none");
}

SgmInput input_blocks(const SgmCase& test) {
  SgmInput input{std::vector<std::uint8_t>(test.left.bytes, 0x5a),
                 std::vector<std::uint8_t>(test.right.bytes, 0x5a)};
  const Frame left = frame_of_block(test.left_layout, test.left, input.left);
  const Frame right = frame_of_block(test.right_layout, test.right, input.right);
  paint(test.left_layout, left, test.content, test.content_seed, test.dirty);
  paint(test.right_layout, right, test.content, test.content_seed + 1, test.dirty);
  if (!test.related)
    return input;
  const DefinedLuminance scene(test.right_layout, right);
  for (int y = 0; y < scene.height; ++y)
    for (int x = 0; x < scene.width; ++x)
      if (const int column = seen_column(test, x, y); column >= 0 && column < scene.width)
        put_luminance(test.left_layout, left, x, y, static_cast<int>(scene.at(column, y)));
  return input;
}

SgmOutput defined_blocks(const SgmCase& test, const SgmInput& input, std::uint8_t poison) {
  const auto luminances = [](const FrameLayout& layout, const Placement& placement,
                             const std::vector<std::uint8_t>& block) {
    return DefinedLuminance(layout, frame_in(layout, placement, block.data())).values;
  };
  const DefinedStereo stereo =
      defined_stereo(sgm::StageConfig(test.left_layout, test.parameters), test.parameters,
                     luminances(test.left_layout, test.left, input.left),
                     luminances(test.right_layout, test.right, input.right));
  SgmOutput output{std::vector<std::uint8_t>(test.disparity.bytes, poison),
                   std::vector<std::uint8_t>(test.confidence.bytes, poison)};
  put_rows(stereo.disparities,
           frame_of_block(disparity_layout(test), test.disparity, output.disparity).planes[0]);
  if (test.with_confidence)
    put_rows(stereo.confidence,
             frame_of_block(confidence_layout(test), test.confidence, output.confidence).planes[0]);
  return output;
}

SgmRunner::SgmRunner(Device& device, const SgmCase& test)
    : device_(device),
      test_(test),
      stereo_(device, test.left_layout, test.right_layout,
              test.parameters_later ? other_parameters(test.parameters) : test.parameters) {
  if (test.parameters_later)
    stereo_.set_parameters(test.parameters);
}

SgmOutput SgmRunner::run(const SgmInput& input, std::uint8_t poison) {
  const DeviceBlock<std::uint8_t> left(device_, input.left), right(device_, input.right);
  const DeviceBlock<std::uint8_t> disparity(
      device_, std::vector<std::uint8_t>(test_.disparity.bytes, poison));
  const DeviceBlock<std::uint8_t> confidence(
      device_, std::vector<std::uint8_t>(test_.confidence.bytes, poison));
  const auto in = [](const FrameLayout& layout, const Placement& placement,
                     const std::uint8_t* block) { return frame_in(layout, placement, block); };
  View<std::uint8_t> confidences;
  if (test_.with_confidence)
    confidences = frame_in(confidence_layout(test_), test_.confidence, confidence.data()).planes[0];
  stereo_.run(in(test_.left_layout, test_.left, left.data()),
              in(test_.right_layout, test_.right, right.data()),
              frame_in(disparity_layout(test_), test_.disparity, disparity.data()).planes[0],
              confidences);
  device_.finish();
  if (left.values() != input.left || right.values() != input.right)
    throw std::runtime_error("an input was written to");
  return {disparity.values(), confidence.values()};
}

std::string difference(const SgmCase& test, const SgmOutput& expected, const SgmOutput& actual) {
  std::string text = difference_in("disparity", disparity_layout(test), test.disparity,
                                   expected.disparity, actual.disparity);
  return text.empty() ? difference_in("confidence", confidence_layout(test), test.confidence,
                                      expected.confidence, actual.confidence)
                      : text;
}

std::string hash(const SgmCase& test, const SgmOutput& output) {
  Hash hash;
  add_rows(hash, disparity_layout(test), test.disparity, output.disparity);
  if (test.with_confidence)
    add_rows(hash, confidence_layout(test), test.confidence, output.confidence);
  return hash.text();
}

}  // namespace cudavision::test
