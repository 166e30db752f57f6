// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/clahe/apply.cuh"
#include "cuda/clahe/apply_ranges.cuh"
#include "cuda/clahe/count.cuh"
#include "cuda/clahe/count_ranges.cuh"

namespace cudavision::clahe {
namespace {

using Kernel = Launcher<Arguments>::Kernel;

struct Kernels {
  int pixels;  ///< per pack
  Kernel count;
  Kernel count_ranges;  ///< nullptr unless samples have two bytes
  Kernel make_ranges;   ///< nullptr unless samples have two bytes and are contiguous
  Kernel apply;
  Kernel apply_ranges;  ///< nullptr unless samples have two bytes
  Kernel apply_directly;
};

template <class Pack, Action kAction>
Kernels kernels_of() {
  Kernels kernels{};
  kernels.pixels = Pack::pixels;
  kernels.count = count_kernel<Pack, kAction>;
  kernels.apply = apply_kernel<Pack, kAction>;
  kernels.apply_directly = apply_directly_kernel<Pack, kAction>;
  if constexpr (is_words<Pack>) {
    kernels.count_ranges = count_ranges_kernel<Pack>;
    if constexpr (!std::is_same_v<Pack, ScatteredLuma<2>>)
      kernels.make_ranges = make_ranges_kernel<Pack>;
    kernels.apply_ranges = apply_ranges_kernel<Pack>;
  }
  return kernels;
}

Kernels find_kernels(AccessPattern kind, Action action) {
  return with_pack(kind, [&]<class Pack>() {
    if constexpr (Pack::colour)
      return action == Action::each ? kernels_of<Pack, Action::each>()
                                    : kernels_of<Pack, Action::shift>();
    else
      return kernels_of<Pack, Action::map>();
  });
}

constexpr AccessPattern byte_patterns[] = {
    AccessPattern::luma_bytes_1, AccessPattern::luma_bytes_2_0, AccessPattern::luma_bytes_2_1,
    AccessPattern::scattered_luma_1};
/// Maximum shared memory of count_kernel, apart from its counters.
constexpr int count_bytes = 512;

}  // namespace
}  // namespace cudavision::clahe
