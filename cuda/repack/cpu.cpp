// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend, row by row in parallel.

#include "cuda/core/parallel.h"
#include "cuda/repack/backend.h"

namespace cudavision::repack {
namespace {

template <Kind kKind, class Word>
CUDAVISION_TARGET_CLONES __attribute__((flatten)) void convert_row(const Conversion& a, int y) {
  constexpr int pixels = 64;
  int x = 0;
  for (; x + pixels <= a.width; x += pixels)
    convert<kKind, Word, pixels>(a, x, y, pixels);
  if (x < a.width)
    convert<kKind, Word, pixels>(a, x, y, a.width - x);
}

class RepackCpu final : public Repack::Backend {
 public:
  void run(const Conversion& a) override {
    const auto convert = with_constants(
        a, [](auto kind, auto word) { return convert_row<kind.value, decltype(word)>; });
    for_rows(a.height, [&](int y) { convert(a, y); });
  }
};

}  // namespace

std::unique_ptr<Repack::Backend> make_repack_cpu(Device&) {
  return std::make_unique<RepackCpu>();
}

}  // namespace cudavision::repack
