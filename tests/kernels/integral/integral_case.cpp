// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/integral/integral_case.h"

#include <algorithm>

#include "tests/kernels/common/hash.h"
#include "tests/kernels/integral/integral_definition.h"

namespace cudavision::test {
namespace {

/// Limits the time of the slow definition of tilted sums in random cases.
constexpr int max_tilted_pixels = 1 << 17;

FrameLayout entries_of(const FrameLayout& layout, const integral::Parameters& parameters,
                       int bits = 8) {
  const int more = parameters.same_size ? 0 : 1;
  return gray_layout(layout.width + more, layout.height + more, bits);
}

FrameLayout table_layout(const FrameLayout& layout, const integral::Parameters& parameters) {
  const FrameLayout entries = entries_of(layout, parameters);
  return gray_layout(entries.width * static_cast<int>(bytes_of(parameters.element)),
                     entries.height);
}

/// Aligns the elements to multiples of their size only, which is all the operation requires.
Placement random_table_placement(const FrameLayout& layout, const integral::Parameters& parameters,
                                 Random& random) {
  const std::size_t bytes = bytes_of(parameters.element);
  Placement placement = random_placement(entries_of(layout, parameters), random);
  placement.planes[0].start *= bytes;
  placement.planes[0].pitch *= static_cast<std::ptrdiff_t>(bytes);
  placement.bytes *= bytes;
  return placement;
}

template <class Byte>
View<Byte> picture_in(const IntegralCase& test, Byte* block) {
  return frame_in(test.picture_layout, test.picture, block).planes[0];
}

}  // namespace

IntegralCase make_integral_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  const integral::Parameters parameters{static_cast<integral::TableKind>(random.between(0, 2)),
                                        static_cast<integral::TableElement>(random.between(0, 3)),
                                        random.one_in(2)};
  if (parameters.kind == integral::TableKind::tilted_sum)
    max_pixels = std::min(max_pixels, max_tilted_pixels);
  auto test = random_frame_case<IntegralCase>(number, max_pixels, random);
  test.parameters = parameters;
  test.in = random_placement(test.layout, random);
  test.out_layout = table_layout(test.layout, test.parameters);
  test.out = random_table_placement(test.layout, test.parameters, random);
  constexpr int bits[] = {0, 8, 16};
  test.picture_bits = bits[random.between(0, 2)];
  if (test.picture_bits != 0) {
    test.picture_layout = entries_of(test.layout, test.parameters, test.picture_bits);
    test.picture = random_placement(test.picture_layout, random);
  }
  draw_content(test, random);
  return test;
}

IntegralCase plain_integral_case(const FrameLayout& layout, const integral::Parameters& parameters,
                                 Content content, std::uint64_t seed, int picture_bits) {
  IntegralCase test;
  make_dense(test, layout, table_layout(layout, parameters), content, seed);
  test.parameters = parameters;
  test.picture_bits = picture_bits;
  if (picture_bits != 0) {
    test.picture_layout = entries_of(layout, parameters, picture_bits);
    test.picture = dense_placement(test.picture_layout);
  }
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
  const FrameCase& frame = test;
  return describe(frame, describe(test.parameters)) +
         (test.picture_bits != 0 ? "\n  picture of " + std::to_string(test.picture_bits) +
                                       " bits: " + describe(test.picture_layout, test.picture)
                                 : std::string());
}

IntegralCase::Operation::Operation(Device& device, const IntegralCase& test, const Parameters& set)
    : integral(device, test.layout, set) {
  if (test.picture_bits != 0)
    picture.emplace(device, test.layout, set.kind, set.same_size, test.picture_bits);
}

void IntegralCase::define(const ConstFrame& from, const Frame& to) const {
  defined_integral(layout, parameters, from, to.planes[0]);
}

IntegralBlocks defined_output(const IntegralCase& test, const std::vector<std::uint8_t>& input,
                              std::uint8_t poison) {
  IntegralBlocks blocks;
  const ConstFrame in = frame_in(test.layout, test.in, input.data());
  blocks.table.assign(test.out.bytes, poison);
  test.define(in, frame_in(test.out_layout, test.out, blocks.table.data()));
  if (test.picture_bits != 0) {
    blocks.picture.assign(test.picture.bytes, poison);
    defined_integral_picture(test.layout, test.parameters.kind, test.parameters.same_size,
                             test.picture_bits, in, picture_in(test, blocks.picture.data()));
  }
  return blocks;
}

std::string difference(const IntegralCase& test, const IntegralBlocks& expected,
                       const IntegralBlocks& actual) {
  const FrameCase& table = test;
  const std::string text = difference(table, expected.table, actual.table);
  if (!text.empty())
    return "table: " + text;
  const std::string other =
      difference(test.picture_layout, test.picture, expected.picture, actual.picture);
  return other.empty() ? other : "picture: " + other;
}

std::string hash(const IntegralCase& test, const IntegralBlocks& blocks) {
  Hash hash;
  add_rows(hash, test.out_layout, test.out, blocks.table);
  if (test.picture_bits != 0)
    add_rows(hash, test.picture_layout, test.picture, blocks.picture);
  return hash.text();
}

IntegralFrames::IntegralFrames(Device& device, const IntegralCase& one,
                               const std::vector<std::uint8_t>& input, std::uint8_t poison)
    : CaseFrames(device, one, input, poison),
      picture_block_(
          device, std::vector<std::uint8_t>(std::max<std::size_t>(one.picture.bytes, 1), poison)),
      picture(one.picture_bits != 0 ? picture_in(one, picture_block_.data())
                                    : View<std::uint8_t>{}) {}

void IntegralFrames::run(IntegralCase::Operation& operation) const {
  operation.integral.run(in, out.planes[0]);
  if (operation.picture)
    operation.picture->run(in, picture);
}

IntegralBlocks IntegralFrames::output() const {
  return {CaseFrames::output(),
          test.picture_bits != 0 ? picture_block_.values() : std::vector<std::uint8_t>()};
}

}  // namespace cudavision::test
