// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend, row by row in parallel.

#include "cuda/core/parallel.h"
#include "cuda/repack/conversion.h"

namespace cudavision::repack {
namespace {

CUDAVISION_TARGET_CLONES __attribute__((flatten)) void convert_row(const Conversion& a, int y) {
  constexpr int pixels = 64;
  int x = 0;
  for (; x + pixels <= a.width; x += pixels)
    convert<pixels, 1>(a, x, y, pixels);
  if (x < a.width)
    convert<pixels, 1>(a, x, y, a.width - x);
}

}  // namespace

void convert_cpu(Device&, const Conversion& a) {
  for_rows(a.height, [&](int y) { convert_row(a, y); });
}

}  // namespace cudavision::repack
