// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/core/view.h"

namespace cudavision {

/// The border types of OpenCV. Each comment shows how the row abcdefgh is extended.
enum class Border : std::uint8_t {
  reflect_101,  ///< …dcb|abcdefgh|gfe…
  replicate,    ///< …aaa|abcdefgh|hhh…
  reflect,      ///< …cba|abcdefgh|hgf…
  wrap,         ///< …fgh|abcdefgh|abc…
  constant,     ///< …iii|abcdefgh|iii…, where i is a given value
};

/// Returns the index of the sample that is used at `index`, or −1 for the constant border's value.
CUDAVISION_HOST_DEVICE inline int border_index(int index, int count, Border border) {
  if (static_cast<unsigned>(index) < static_cast<unsigned>(count))
    return index;
  if (border == Border::constant)
    return -1;
  if (border == Border::replicate)
    return index < 0 ? 0 : count - 1;
  if (border == Border::reflect_101 && count == 1)
    return 0;
  // The other borders are periodic. Except for wrap, the second half of a period mirrors the first.
  const int period = border == Border::wrap      ? count
                     : border == Border::reflect ? 2 * count
                                                 : 2 * count - 2;
  int within = index % period;
  if (within < 0)
    within += period;
  if (within < count)
    return within;
  return border == Border::reflect ? period - 1 - within : period - within;
}

}  // namespace cudavision
