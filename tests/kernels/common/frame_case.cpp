// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/common/frame_case.h"

#include "tests/kernels/common/hash.h"

namespace cudavision::test {

void make_dense(FrameCase& test, const FrameLayout& layout, const FrameLayout& out_layout,
                Content content, std::uint64_t seed) {
  test.title = "plain case";
  test.layout = layout;
  test.out_layout = out_layout;
  test.in = dense_placement(layout);
  test.out = dense_placement(out_layout);
  test.content = content;
  test.content_seed = seed;
}

void draw_placements(FrameCase& test, Random& random) {
  test.in = random_placement(test.layout, random);
  test.out = random_placement(test.out_layout, random);
}

void draw_content(FrameCase& test, Random& random) {
  test.content = static_cast<Content>(random.between(0, content_count - 1));
  test.content_seed = random.next();
  test.dirty = random.one_in(2);
}

std::string describe(const FrameCase& test, const std::string& parameters) {
  const FrameLayout& from = test.layout;
  return test.title + ": " + std::to_string(from.width) + "×" + std::to_string(from.height) + ", " +
         std::to_string(from.bits) + " to " + std::to_string(test.out_layout.bits) +
         " bits, content " + name(test.content) + (test.dirty ? " (dirty words), " : ", ") +
         parameters + (test.parameters_later ? " (set later)" : "") +
         "\n  in: " + describe(from, test.in) + "\n  out: " + describe(test.out_layout, test.out);
}

std::vector<std::uint8_t> input_block(const FrameCase& test) {
  FrameLayout painted = test.layout;
  if (test.every_channel)
    for (Channel& channel : painted.channels)
      channel.role = Role::luma;
  std::vector<std::uint8_t> block(test.in.bytes, 0x5a);
  paint(painted, frame_in(test.layout, test.in, block.data()), test.content, test.content_seed,
        test.dirty);
  return block;
}

std::string difference(const FrameCase& test, const std::vector<std::uint8_t>& expected,
                       const std::vector<std::uint8_t>& actual) {
  return difference(test.out_layout, test.out, expected, actual);
}

std::string hash(const FrameCase& test, const std::vector<std::uint8_t>& block) {
  Hash hash;
  add_rows(hash, test.out_layout, test.out, block);
  return hash.text();
}

}  // namespace cudavision::test
