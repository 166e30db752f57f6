// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/chroma/chroma_case.h"

#include <algorithm>
#include <vector>

#include "tests/kernels/chroma/chroma_definition.h"
#include "tests/kernels/mosaic/mosaic_definition.h"

namespace cudavision::test {
namespace {

std::vector<LayoutKind> kinds_with_chroma() {
  std::vector<LayoutKind> kinds;
  for (const LayoutKind& kind : layout_kinds())
    if (kind.make(4, 4).find(Role::chroma) >= 0)
      kinds.push_back(kind);
  return kinds;
}

}  // namespace

mosaic::Parameters MosaicWithChroma::blocks() {
  mosaic::Parameters parameters;
  parameters.block_size = 3;
  return parameters;
}

ChromaCase make_chroma_case(std::uint64_t seed, int number, int max_pixels) {
  static const std::vector<LayoutKind> kinds = kinds_with_chroma();
  Random random = random_of_case(seed, number);
  const LayoutKind& kind = kinds[number % kinds.size()];
  ChromaCase test;
  test.title = kind.name + ", case " + std::to_string(number);
  const auto [width, height] = random_picture_size(random, std::min(max_pixels, 1 << 19));
  test.layout = test.out_layout = kind.make(width, height);
  test.parameters.limited_range = random.one_in(2);
  return drawn(test, random);
}

std::string describe(const ChromaCase& test) {
  return describe(test, test.parameters.limited_range ? "limited range" : "full range");
}

void ChromaCase::define(const ConstFrame& from, const Frame& to) const {
  defined_mosaic(layout, MosaicWithChroma::blocks(), from, to);
  defined_chroma(layout, parameters.limited_range, from, to);
}

}  // namespace cudavision::test
