// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/core/parallel.h"
#include "cuda/repack/conversion.h"

namespace cudavision::repack {
namespace {

template <class From, class To>
CUDAVISION_TARGET_CLONES __attribute__((flatten)) void convert_row(const Conversion& a, int y) {
  constexpr int pixels = 64;
  for (int x = 0; x < a.width; x += pixels)
    convert<From, To, pixels>(a, x, y, a.width - x);
}

}  // namespace

void convert_cpu(Device&, const Conversion& a) {
  with_words(a, [&](auto from, auto to) {
    for_rows(a.height, [&](int y) { convert_row<decltype(from), decltype(to)>(a, y); });
  });
}

}  // namespace cudavision::repack
