// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/integral/integral_case.h"

#include <algorithm>
#include <stdexcept>

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/hash.h"
#include "tests/kernels/integral/integral_definition.h"

namespace cudavision::test {
namespace {

/// Pixels of a picture whose tilted sums the definition may be asked for.
constexpr int max_tilted_pixels = 1 << 17;

int table_width(const FrameLayout& layout, const integral::Parameters& parameters) {
  return layout.width + (parameters.same_size ? 0 : 1);
}

int table_height(const FrameLayout& layout, const integral::Parameters& parameters) {
  return layout.height + (parameters.same_size ? 0 : 1);
}

/// Elements may lie wherever their size divides the address.
Placement random_table_placement(const FrameLayout& layout, const integral::Parameters& parameters,
                                 Random& random) {
  const std::size_t bytes = bytes_of(parameters.element);
  Placement placement = random_placement(
      gray_layout(table_width(layout, parameters), table_height(layout, parameters)), random);
  placement.planes[0].start *= bytes;
  placement.planes[0].pitch *= static_cast<std::ptrdiff_t>(bytes);
  placement.bytes *= bytes;
  return placement;
}

template <class Byte>
View<Byte> table_in(const IntegralCase& test, Byte* block) {
  return frame_in(table_layout(test.layout, test.parameters), test.table, block).planes[0];
}

template <class Byte>
View<Byte> picture_in(const IntegralCase& test, Byte* block) {
  return frame_in(picture_layout(test), test.picture, block).planes[0];
}

std::string difference_of_planes(const char* what, const FrameLayout& layout,
                                 const Placement& placement,
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

IntegralCase make_integral_case(std::uint64_t seed, int number, int max_pixels) {
  Random random(mixed_seed(seed, static_cast<std::uint64_t>(number)));
  const auto& kinds = layout_kinds();
  const LayoutKind& kind = kinds[static_cast<std::size_t>(number) % kinds.size()];

  IntegralCase test;
  test.title = kind.name + ", case " + std::to_string(number);
  test.parameters.kind = static_cast<integral::TableKind>(random.between(0, 2));
  test.parameters.element = static_cast<integral::TableElement>(random.between(0, 3));
  test.parameters.same_size = random.one_in(2);
  const bool tilted = test.parameters.kind == integral::TableKind::tilted_sum;
  const auto [width, height] =
      random_picture_size(random, tilted ? std::min(max_pixels, max_tilted_pixels) : max_pixels);
  test.layout = kind.make(width, height);
  test.in = random_placement(test.layout, random);
  test.table = random_table_placement(test.layout, test.parameters, random);
  constexpr int bits[] = {0, 8, 16};
  test.picture_bits = bits[random.between(0, 2)];
  if (test.picture_bits != 0)
    test.picture = random_placement(picture_layout(test), random);
  test.content = static_cast<Content>(random.between(0, content_count - 1));
  test.content_seed = random.next();
  test.dirty = random.one_in(2);
  return test;
}

IntegralCase plain_integral_case(const FrameLayout& layout, const integral::Parameters& parameters,
                                 Content content, std::uint64_t seed) {
  IntegralCase test;
  test.title = "plain case";
  test.layout = layout;
  test.parameters = parameters;
  test.in = dense_placement(layout);
  test.table = dense_placement(table_layout(layout, parameters));
  test.content = content;
  test.content_seed = seed;
  return test;
}

std::string describe(const integral::Parameters& parameters) {
  constexpr const char* kinds[] = {"sum", "squared sum", "tilted sum"};
  constexpr const char* elements[] = {"uint32", "uint64", "float32", "float64"};
  return std::string(kinds[static_cast<int>(parameters.kind)]) + " " +
         elements[static_cast<int>(parameters.element)] +
         (parameters.same_size ? ", same size" : "");
}

std::string describe(const IntegralCase& test) {
  const FrameLayout table = table_layout(test.layout, test.parameters);
  return test.title + ": " + std::to_string(test.layout.width) + "×" +
         std::to_string(test.layout.height) + ", " + std::to_string(test.layout.bits) +
         " bits, content " + name(test.content) + (test.dirty ? " (dirty words), " : ", ") +
         describe(test.parameters) + "\n  in: " + describe(test.layout, test.in) +
         "\n  table: " + describe(table, test.table) +
         (test.picture_bits != 0 ? "\n  picture of " + std::to_string(test.picture_bits) +
                                       " bits: " + describe(picture_layout(test), test.picture)
                                 : std::string());
}

FrameLayout table_layout(const FrameLayout& layout, const integral::Parameters& parameters) {
  return gray_layout(
      table_width(layout, parameters) * static_cast<int>(bytes_of(parameters.element)),
      table_height(layout, parameters));
}

FrameLayout picture_layout(const IntegralCase& test) {
  return gray_layout(table_width(test.layout, test.parameters),
                     table_height(test.layout, test.parameters), test.picture_bits);
}

std::vector<std::uint8_t> input_block(const IntegralCase& test) {
  std::vector<std::uint8_t> block(test.in.bytes, 0x5a);
  paint(test.layout, frame_in(test.layout, test.in, block.data()), test.content, test.content_seed,
        test.dirty);
  return block;
}

IntegralBlocks defined_blocks(const IntegralCase& test, const std::vector<std::uint8_t>& input,
                              std::uint8_t poison) {
  IntegralBlocks blocks;
  const ConstFrame in = frame_in(test.layout, test.in, input.data());
  blocks.table.assign(test.table.bytes, poison);
  defined_integral(test.layout, test.parameters, in, table_in(test, blocks.table.data()));
  if (test.picture_bits != 0) {
    blocks.picture.assign(test.picture.bytes, poison);
    defined_integral_picture(test.layout, test.parameters.kind, test.parameters.same_size,
                             test.picture_bits, in, picture_in(test, blocks.picture.data()));
  }
  return blocks;
}

IntegralRunner::IntegralRunner(Device& device, const IntegralCase& test)
    : device_(device), test_(test), integral_(device, test.layout, test.parameters) {
  if (test.picture_bits != 0)
    picture_.emplace(device, test.layout, test.parameters.kind, test.parameters.same_size,
                     test.picture_bits);
}

IntegralBlocks IntegralRunner::run(const std::vector<std::uint8_t>& input, std::uint8_t poison) {
  const DeviceBlock<std::uint8_t> in(device_, input);
  const DeviceBlock<std::uint8_t> table(device_,
                                        std::vector<std::uint8_t>(test_.table.bytes, poison));
  std::optional<DeviceBlock<std::uint8_t>> picture;
  const ConstFrame in_frame =
      frame_in(test_.layout, test_.in, static_cast<const std::uint8_t*>(in.data()));
  integral_.run(in_frame, table_in(test_, table.data()));
  if (picture_) {
    picture.emplace(device_, std::vector<std::uint8_t>(test_.picture.bytes, poison));
    picture_->run(in_frame, picture_in(test_, picture->data()));
  }
  device_.finish();
  if (in.values() != input)
    throw std::runtime_error("the input was written to");
  return {table.values(), picture ? picture->values() : std::vector<std::uint8_t>()};
}

std::string difference(const IntegralCase& test, const IntegralBlocks& expected,
                       const IntegralBlocks& actual) {
  const std::string table =
      difference_of_planes("table", table_layout(test.layout, test.parameters), test.table,
                           expected.table, actual.table);
  return !table.empty() || test.picture_bits == 0
             ? table
             : difference_of_planes("picture", picture_layout(test), test.picture, expected.picture,
                                    actual.picture);
}

std::string hash(const IntegralCase& test, const IntegralBlocks& blocks) {
  Hash hash;
  add_rows(hash, table_layout(test.layout, test.parameters), test.table, blocks.table);
  if (test.picture_bits != 0)
    add_rows(hash, picture_layout(test), test.picture, blocks.picture);
  return hash.text();
}

}  // namespace cudavision::test
