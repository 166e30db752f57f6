// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/sgm/sgm_case.h"

#include <algorithm>
#include <cstdio>

#include "tests/kernels/common/settings.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {
namespace {

using Census = sgm::Parameters::Census;
using Compatibility = sgm::Parameters::Compatibility;
using Method = sgm::Parameters::SubpixelMethod;

FrameLayout random_layout_of(int bits, int width, int height, Random& random) {
  for (;;) {
    const FrameLayout layout = layout_kinds()[static_cast<std::size_t>(random.between(
                                                  0, static_cast<int>(layout_kinds().size()) - 1))]
                                   .make(width, height);
    if (layout.bits == bits)
      return layout;
  }
}

/// Returns the right image's column for a left pixel. A block has one disparity, except outliers.
int seen_column(const SgmCase& test, int x, int y) {
  const auto block = static_cast<std::uint64_t>(x / 37 + 1000 * (y / 19));
  Random random(mixed_seed(test.content_seed, block));
  const int disparities = std::min(test.parameters.disparities, test.layout.width);
  const int d = test.parameters.minimum + random.between(0, disparities - 1);
  Random grain(mixed_seed(test.content_seed + 1, static_cast<std::uint64_t>(x) * 65536 + y));
  return x - d + (grain.one_in(16) ? grain.between(-9, 9) : 0);
}

void put_luminance(const FrameLayout& layout, const Frame& frame, int x, int y, int value) {
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.role != Role::chroma && channel.role != Role::alpha)
      put_sample(layout, frame, channel, x, y, value);
  }
}

}  // namespace

int max_volume(int entries) {
  constexpr int entries_per_pixel = 32;
  const int pixels = std::min(settings().max_pixels, entries / entries_per_pixel);
  return entries_per_pixel * pixels;
}

sgm::Parameters SgmCase::other_parameters() const {
  sgm::Parameters other = parameters;
  other.p1 = 1;
  other.p2 = parameters.p2 == 2 ? 3 : 2;
  other.subpixel_method =
      parameters.subpixel_method == Method::parabola ? Method::equiangular : Method::parabola;
  other.refine = !parameters.refine;
  other.uniqueness = 0.5;
  other.lr_max_diff = parameters.lr_max_diff == 3 ? 4 : 3;
  other.subpixel = !parameters.subpixel;
  other.median = !parameters.median;
  other.speckle_size = parameters.speckle_size == 7 ? 0 : 7;
  other.fill_holes = !parameters.fill_holes;
  other.confidence_threshold = parameters.confidence_threshold == 9 ? 0 : 9;
  other.temporal_alpha = parameters.temporal_alpha == 0.5 ? 0.25 : 0.5;
  other.temporal_delta = parameters.temporal_delta == 2 ? 3 : 2;
  other.temporal_persistence = parameters.temporal_persistence == 2 ? 3 : 2;
  other.adaptive_p2 = !parameters.adaptive_p2;
  other.slanted_surfaces = !parameters.slanted_surfaces;
  other.noise = parameters.noise == 4 ? sgm::Parameters::automatic_noise : 4;
  return other;
}

sgm::Parameters random_search(Random& random) {
  sgm::Parameters parameters = random_sgm_parameters(random);
  if (random.one_in(2))
    parameters.minimum = 0;
  return parameters;
}

sgm::Parameters few_disparities() {
  sgm::Parameters parameters;
  parameters.disparities = 32;
  parameters.noise = 0;
  return parameters;
}

sgm::Parameters changed(const Change& change) {
  sgm::Parameters parameters = few_disparities();
  change(parameters);
  return parameters;
}

std::vector<sgm::Parameters> representative_sgm_parameters() {
  std::vector<sgm::Parameters> all(5, few_disparities());
  all[0].speckle_size = 20;
  all[0].fill_holes = true;
  all[1].paths = 8;
  all[1].minimum = 3;
  all[1].refine = false;
  all[2].compatibility = Compatibility::libsgm;
  all[2].subpixel = false;
  all[3].census = Census::neighbours_9x7;
  all[3].disparities = 96;
  all[3].minimum = -5;
  all[3].fill_holes = true;
  all[3].slanted_surfaces = false;
  all[4].census = Census::neighbours_5x5;
  all[4].paths = 4;
  all[4].median = false;
  all[4].lr_max_diff = -1;
  all[4].confidence_threshold = 30;
  return all;
}

sgm::Parameters random_sgm_parameters(Random& random) {
  sgm::Parameters p;
  p.disparities = 32 * (random.one_in(6) ? random.log_uniform(32) : random.between(1, 4));
  if (!random.one_in(3))
    p.minimum = random.between(-std::min(p.disparities, 64), 64);
  if (random.one_in(16))
    p.minimum = random.one_in(2) ? -2047 : 2047 - p.disparities;
  p.paths = random.one_in(4) ? sgm::Config::automatic : random.one_in(2) ? 4 : 8;
  if (random.one_in(4))
    p.compatibility = Compatibility::libsgm;
  else if (random.one_in(2))
    p.census = random.one_in(2) ? Census::census_gradient : Census::automatic;
  else
    p.census = static_cast<Census>(random.between(0, 2));
  const int largest = 255 - sgm::census_bits(sgm::resolved(p).census);
  if (!random.one_in(3)) {
    p.p2 = random.one_in(4) ? largest : random.between(2, largest);
    p.p1 = random.one_in(4) ? p.p2 - 1 : random.between(1, p.p2 - 1);
    if (random.one_in(6))
      (random.one_in(2) ? p.p1 : p.p2) = 0;
  }
  p.uniqueness = random.one_in(3)   ? 0.95
                 : random.one_in(4) ? random.between(0, 1)
                                    : random.between(800, 1000) / 1000.0;
  p.lr_max_diff = random.one_in(4) ? -1 : random.one_in(8) ? 1024 : random.between(0, 4);
  p.subpixel = !random.one_in(3);
  p.subpixel_method = random.one_in(3) ? Method::parabola : Method::equiangular;
  p.median = !random.one_in(4);
  p.speckle_size = random.one_in(2)   ? 0
                   : random.one_in(4) ? sgm::Parameters::automatic
                                      : random.log_uniform(1000);
  p.speckle_range = random.one_in(16) ? 1024 : random.between(0, 3);
  p.fill_holes = random.one_in(2);
  p.refine = !random.one_in(3);
  p.adaptive_p2 = !random.one_in(3);
  p.slanted_surfaces = false;
  p.noise = 0;
  return p;
}

void slant_surfaces(sgm::Parameters& parameters) {
  parameters.census = sgm::resolved(parameters).census;  // other censuses may need a smaller P2
  parameters.compatibility = Compatibility::none;
  parameters.slanted_surfaces = true;
}

SgmCase make_sgm_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  const LayoutKind& kind = layout_kind_of_case(number);

  SgmCase test;
  test.title = kind.name + ", case " + std::to_string(number);
  test.parameters = random_sgm_parameters(random);
  const auto [width, height] = random_picture_size(
      random, std::clamp(max_volume(1 << 20) / test.parameters.disparities, 1, max_pixels));
  test.layout = kind.make(width, height);
  test.right_layout =
      random.one_in(2) ? test.layout : random_layout_of(test.layout.bits, width, height, random);
  test.left = random_placement(test.layout, random);
  test.right = random_placement(test.right_layout, random);
  test.disparity = random_placement(test.disparity_layout(), random);
  test.confidence = random_placement(test.confidence_layout(), random);
  // Most cases have random or natural content, which can be matched.
  test.content = random.one_in(2) ? (random.one_in(2) ? Content::random : Content::natural)
                                  : static_cast<Content>(random.between(0, content_count - 1));
  test.related = !random.one_in(4);
  test.content_seed = random.next();
  test.dirty = random.one_in(2);
  test.with_confidence = !random.one_in(4);
  test.parameters_later = random.one_in(3);
  return test;
}

SgmCase make_slanted_sgm_case(std::uint64_t seed, int number, int max_pixels) {
  SgmCase test = make_sgm_case(seed ^ 0x51a27ed, number, max_pixels);
  test.title += ", slanted";
  slant_surfaces(test.parameters);
  return test;
}

SgmCase make_noisy_sgm_case(std::uint64_t seed, int number, int max_pixels) {
  SgmCase test = make_slanted_sgm_case(seed ^ 0x9015e, number, max_pixels);
  Random random = random_of_case(seed ^ 0x9015e, number);
  test.title += ", noisy";
  test.parameters.slanted_surfaces = random.one_in(2);
  test.parameters.noise = random.one_in(6) ? 30 : random.between(0, 1000) / 100.0;
  if (!random.one_in(4)) {  // only this census depends on noise
    test.parameters.census = Census::census_gradient;
    test.parameters.p1 = test.parameters.p2 = 0;
  }
  return test;
}

SgmCase plain_sgm_case(const FrameLayout& layout, const sgm::Parameters& parameters,
                       Content content, std::uint64_t seed) {
  SgmCase test;
  test.title = "plain case";
  test.layout = test.right_layout = layout;
  test.left = test.right = dense_placement(layout);
  test.disparity = dense_placement(test.disparity_layout());
  test.confidence = dense_placement(test.confidence_layout());
  test.content = content;
  test.content_seed = seed;
  test.parameters = parameters;
  return test;
}

std::string describe(const sgm::Parameters& given) {
  const sgm::Parameters p = sgm::resolved(given);
  constexpr const char* censuses[] = {"symmetric 9×7", "neighbours 9×7", "neighbours 5×5",
                                      "census and gradient"};
  char text[400];
  std::snprintf(
      text, sizeof text,
      "%d disparities from %d, %d paths, %s%s, p1 %d, p2 %d%s, uniqueness %.10g, lr %d%s%s, "
      "speckles of %d within %d, confidence from %d%s%s%s, noise %.10g%s",
      p.disparities, p.minimum, p.paths, censuses[static_cast<int>(p.census)],
      p.compatibility == Compatibility::libsgm ? " as libSGM" : "", p.p1, p.p2,
      p.adaptive_p2 ? " adaptive" : "", p.uniqueness, p.lr_max_diff,
      !p.subpixel                             ? ""
      : p.subpixel_method == Method::parabola ? ", subpixel by a parabola"
                                              : ", subpixel",
      p.median ? ", median" : "", p.speckle_size, p.speckle_range, p.confidence_threshold,
      p.fill_holes ? ", filled" : "", p.refine ? ", refined" : "",
      p.slanted_surfaces ? ", slanted" : "", p.noise,
      p.memory_budget == sgm::Config().memory_budget ? "" : ", in bands");
  return text;
}

std::string describe(const SgmCase& test) {
  return test.title + ": " + std::to_string(test.layout.width) + "×" +
         std::to_string(test.layout.height) + ", " + std::to_string(test.layout.bits) +
         " bits, content " + name(test.content) + (test.related ? ", shifted" : ", unrelated") +
         (test.dirty ? " (dirty words), " : ", ") + describe(test.parameters) +
         (test.parameters_later ? " (set later)" : "") +
         "\n  left: " + describe(test.layout, test.left) +
         "\n  right: " + describe(test.right_layout, test.right) +
         "\n  disparity: " + describe(test.disparity_layout(), test.disparity) +
         "\n  confidence: " +
         (test.with_confidence ? describe(test.confidence_layout(), test.confidence) : "none");
}

SgmInput input_block(const SgmCase& test) {
  SgmInput input{std::vector<std::uint8_t>(test.left.bytes, 0x5a),
                 std::vector<std::uint8_t>(test.right.bytes, 0x5a)};
  const Frame left = frame_in(test.layout, test.left, input.left.data());
  const Frame right = frame_in(test.right_layout, test.right, input.right.data());
  paint(test.layout, left, test.content, test.content_seed, test.dirty);
  paint(test.right_layout, right, test.content, test.content_seed + 1, test.dirty);
  if (!test.related)
    return input;
  const DefinedLuminance scene(test.right_layout, right);
  for (int y = 0; y < scene.height; ++y)
    for (int x = 0; x < scene.width; ++x)
      if (const int column = seen_column(test, x, y); column >= 0 && column < scene.width)
        put_luminance(test.layout, left, x, y, static_cast<int>(scene.at(column, y)));
  return input;
}

SgmOutput defined_output(const SgmCase& test, const SgmInput& input, std::uint8_t poison) {
  DefinedHistory history;
  return defined_output(test, input, poison, history);
}

SgmOutput defined_output(const SgmCase& test, const SgmInput& input, std::uint8_t poison,
                         DefinedHistory& history, const DefinedMasks& masks) {
  history.is_new_scene = history.areas.change(test.layout, frame_in(test.layout, test.left,
                                                                    input.left.data())) > 16384;
  const auto luminances = [](const FrameLayout& layout, const Placement& placement,
                             const std::vector<std::uint8_t>& block) {
    return DefinedLuminance(layout, frame_in(layout, placement, block.data())).values;
  };
  const DefinedStereo stereo =
      defined_stereo(sgm::StageConfig(test.layout, test.parameters), test.parameters,
                     luminances(test.layout, test.left, input.left),
                     luminances(test.right_layout, test.right, input.right), history, masks);
  SgmOutput output{std::vector<std::uint8_t>(test.disparity.bytes, poison),
                   std::vector<std::uint8_t>(test.confidence.bytes, poison)};
  put_rows(stereo.disparities,
           frame_in(test.disparity_layout(), test.disparity, output.disparity.data()).planes[0]);
  if (test.with_confidence)
    put_rows(
        stereo.confidence,
        frame_in(test.confidence_layout(), test.confidence, output.confidence.data()).planes[0]);
  return output;
}

SgmFrames::SgmFrames(Device& device, const SgmCase& one, const SgmInput& input, std::uint8_t poison)
    : test(one),
      left_block_(device, input.left),
      right_block_(device, input.right),
      disparity_block_(device, std::vector<std::uint8_t>(one.disparity.bytes, poison)),
      confidence_block_(device, std::vector<std::uint8_t>(one.confidence.bytes, poison)) {
  left = frame_in(one.layout, one.left, left_block_.data());
  right = frame_in(one.right_layout, one.right, right_block_.data());
  disparity = frame_in(one.disparity_layout(), one.disparity, disparity_block_.data()).planes[0];
  if (one.with_confidence)
    confidence =
        frame_in(one.confidence_layout(), one.confidence, confidence_block_.data()).planes[0];
}

std::string difference(const SgmCase& test, const SgmOutput& expected, const SgmOutput& actual) {
  if (const std::string text =
          difference(test.disparity_layout(), test.disparity, expected.disparity, actual.disparity);
      !text.empty())
    return "disparity: " + text;
  const std::string text =
      difference(test.confidence_layout(), test.confidence, expected.confidence, actual.confidence);
  return text.empty() ? text : "confidence: " + text;
}

std::string hash(const SgmCase& test, const SgmOutput& output) {
  Hash hash;
  add_rows(hash, test.disparity_layout(), test.disparity, output.disparity);
  if (test.with_confidence)
    add_rows(hash, test.confidence_layout(), test.confidence, output.confidence);
  return hash.text();
}

}  // namespace cudavision::test
