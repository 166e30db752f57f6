// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/gaussblur/gaussblur_case.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/hash.h"
#include "tests/kernels/gaussblur/gaussblur_definition.h"

namespace cudavision::test {
namespace {

/// Products that the definition of one channel may take.
constexpr int max_products = 1 << 26;

/// Most kernels are small.
double case_sigma(Random& random) {
  return random.one_in(8) ? 0 : random_sigma(random, random.one_in(4) ? 127 : 8);
}

int case_size(Random& random) {
  if (random.one_in(2))
    return 0;
  return random_kernel_size(random, random.one_in(4) ? 1023 : random.one_in(4) ? 255 : 31);
}

std::uint16_t random_border_value(Random& random, int largest) {
  const int values[] = {0, largest, random.between(0, largest)};
  return static_cast<std::uint16_t>(values[random.between(0, 2)]);
}

gaussblur::Parameters random_parameters(const FrameLayout& layout, Random& random) {
  gaussblur::Parameters parameters;
  parameters.sigma_x = case_sigma(random);
  parameters.sigma_y = random.one_in(2) ? parameters.sigma_x : case_sigma(random);
  parameters.size_x = case_size(random);
  parameters.size_y = random.one_in(2) ? parameters.size_x : case_size(random);
  parameters.sharpen = random.one_in(4);
  parameters.border = static_cast<Border>(random.between(0, 4));
  for (int c = 0; c < layout.channel_count; ++c)
    parameters.border_values[static_cast<std::size_t>(c)] =
        random_border_value(random, (1 << layout.bits) - 1);
  parameters.blur_alpha = !random.one_in(4);
  parameters.fields = random.one_in(4);
  parameters.fine = random.one_in(4);
  return parameters;
}

/// Unlike any that a case asks for, in everything that can differ.
gaussblur::Parameters other_parameters(const gaussblur::Parameters& parameters) {
  gaussblur::Parameters other;
  other.sigma_x = 3.3;
  other.size_y = 71;
  other.sharpen = !parameters.sharpen;
  other.border = parameters.border == Border::wrap ? Border::replicate : Border::wrap;
  other.blur_alpha = !parameters.blur_alpha;
  other.fields = !parameters.fields;
  other.fine = !parameters.fine;
  return other;
}

int taps(double sigma, int size, int bits) {
  return size != 0 ? size : sigma > 0 ? defined_kernel_size(sigma, bits) : 1;
}

const char* name(Border border) {
  constexpr const char* names[] = {"reflect-101", "replicate", "reflect", "wrap", "constant"};
  return names[static_cast<int>(border)];
}

std::string describe(const gaussblur::Parameters& p) {
  char text[160];
  std::snprintf(text, sizeof text, "sigma %.10g, %.10g, size %d, %d, border %s", p.sigma_x,
                p.sigma_y, p.size_x, p.size_y, name(p.border));
  std::string description = text;
  if (p.border == Border::constant)
    for (const unsigned value : p.border_values)
      description += " " + std::to_string(value);
  return description + (p.sharpen ? ", sharpen" : "") + (p.blur_alpha ? "" : ", alpha kept") +
         (p.fields ? ", fields" : "") + (p.fine ? ", fine" : "");
}

}  // namespace

double random_sigma(Random& random, int most) {
  const int eighths = random.log_uniform(8 * most);
  return (eighths + (eighths < 8 * most ? random.between(0, 1023) / 1024.0 : 0)) / 8;
}

int random_kernel_size(Random& random, int most) {
  return (random.log_uniform(most + 1) - 1) | 1;
}

GaussBlurCase make_gaussblur_case(std::uint64_t seed, int number, int max_pixels) {
  Random random(mixed_seed(seed, static_cast<std::uint64_t>(number)));
  const auto& kinds = layout_kinds();
  const LayoutKind& kind = kinds[static_cast<std::size_t>(number) % kinds.size()];

  GaussBlurCase test;
  test.title = kind.name + ", case " + std::to_string(number);
  const FrameLayout smallest = kind.make(1, 1);
  test.parameters = random_parameters(smallest, random);
  const gaussblur::Parameters& p = test.parameters;
  const int products_per_pixel =
      taps(p.sigma_x, p.size_x, smallest.bits) + taps(p.sigma_y, p.size_y, smallest.bits);
  const auto [width, height] =
      random_picture_size(random, std::min(max_pixels, max_products / products_per_pixel));
  test.layout = kind.make(width, height);
  test.in = random_placement(test.layout, random);
  test.out = random_placement(test.layout, random);
  test.content = static_cast<Content>(random.between(0, content_count - 1));
  test.content_seed = random.next();
  test.dirty = random.one_in(2);
  test.parameters_later = random.one_in(3);
  return test;
}

GaussBlurCase plain_gaussblur_case(const FrameLayout& layout,
                                   const gaussblur::Parameters& parameters, Content content,
                                   std::uint64_t seed) {
  GaussBlurCase test;
  test.title = "plain case";
  test.layout = layout;
  test.in = test.out = dense_placement(layout);
  test.content = content;
  test.content_seed = seed;
  test.parameters = parameters;
  return test;
}

std::string describe(const GaussBlurCase& test) {
  return test.title + ": " + std::to_string(test.layout.width) + "×" +
         std::to_string(test.layout.height) + ", " + std::to_string(test.layout.bits) +
         " bits, content " + name(test.content) + (test.dirty ? " (dirty words), " : ", ") +
         describe(test.parameters) + (test.parameters_later ? " (set later)" : "") +
         "\n  in: " + describe(test.layout, test.in) +
         "\n  out: " + describe(test.layout, test.out);
}

std::vector<std::uint8_t> input_block(const GaussBlurCase& test) {
  // Chroma and alpha are blurred, too, so that they show something like everything else.
  FrameLayout as_luma = test.layout;
  for (Channel& channel : as_luma.channels)
    channel.role = Role::luma;
  std::vector<std::uint8_t> block(test.in.bytes, 0x5a);
  paint(as_luma, frame_in(test.layout, test.in, block.data()), test.content, test.content_seed,
        test.dirty);
  return block;
}

std::vector<std::uint8_t> defined_block(const GaussBlurCase& test,
                                        const std::vector<std::uint8_t>& input,
                                        std::uint8_t poison) {
  std::vector<std::uint8_t> block(test.out.bytes, poison);
  const ConstFrame in = frame_in(test.layout, test.in, input.data());
  defined_blur(test.layout, test.parameters, in, frame_in(test.layout, test.out, block.data()));
  return block;
}

GaussBlurRunner::GaussBlurRunner(Device& device, const GaussBlurCase& test)
    : device_(device),
      test_(test),
      blur_(device, test.layout,
            test.parameters_later ? other_parameters(test.parameters) : test.parameters) {
  if (test.parameters_later)
    blur_.set_parameters(test.parameters);
}

std::vector<std::uint8_t> GaussBlurRunner::run(const std::vector<std::uint8_t>& input,
                                               std::uint8_t poison) {
  const DeviceBlock<std::uint8_t> in(device_, input);
  const DeviceBlock<std::uint8_t> out(device_, std::vector<std::uint8_t>(test_.out.bytes, poison));
  blur_.run(frame_in(test_.layout, test_.in, static_cast<const std::uint8_t*>(in.data())),
            frame_in(test_.layout, test_.out, out.data()));
  device_.finish();
  if (in.values() != input)
    throw std::runtime_error("the input was written to");
  return out.values();
}

std::string difference(const GaussBlurCase& test, const std::vector<std::uint8_t>& expected,
                       const std::vector<std::uint8_t>& actual) {
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin());
  if (e == expected.end())
    return {};
  return describe_byte(test.layout, test.out, static_cast<std::size_t>(e - expected.begin())) +
         " must be " + std::to_string(*e) + " and is " + std::to_string(*a);
}

std::string hash(const GaussBlurCase& test, const std::vector<std::uint8_t>& block) {
  Hash hash;
  add_rows(hash, test.layout, test.out, block);
  return hash.text();
}

}  // namespace cudavision::test
