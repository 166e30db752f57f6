// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Arithmetic of integral images, shared by both backends.

#include <cstdint>
#include <type_traits>

#include "cuda/core/view.h"

namespace cudavision::integral {

/// Type of the sums in a table. 32-bit sums are modulo 2^32.
template <class Element>
using SumOf =
    std::conditional_t<std::is_same_v<Element, std::uint32_t>, std::uint32_t, std::uint64_t>;

template <class Element, class Sum>
CUDAVISION_HOST_DEVICE inline Element table_element(Sum sum) {
  static_assert(sizeof(Sum) == 8 || std::is_same_v<Element, std::uint32_t>,
                "only uint32 elements may come from sums modulo 2^32");
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<Element, float>)
    return __ull2float_rn(sum);
  else if constexpr (std::is_same_v<Element, double>)
    return __ull2double_rn(sum);
  else
    return static_cast<Element>(sum);
#else
  return static_cast<Element>(sum);
#endif
}

/// Maps the entries of a table to grey levels.
struct TableScale {
  int shift = 0;
  std::uint64_t largest = 0;  ///< largest entry, shifted to be less than 2^32

  CUDAVISION_HOST_DEVICE explicit TableScale(std::uint64_t largest_entry) : largest(largest_entry) {
    while (largest >> 32 != 0) {
      largest >>= 1;
      ++shift;
    }
  }

  CUDAVISION_HOST_DEVICE std::uint32_t level(std::uint64_t entry, std::uint32_t white) const {
    if (largest == 0)
      return 0;
    return static_cast<std::uint32_t>(((entry >> shift) * white + largest / 2) / largest);
  }
};

}  // namespace cudavision::integral
