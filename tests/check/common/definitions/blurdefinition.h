// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "cuda/core/border.h"
#include "tests/check/common/elementundertest.h"
#include "tests/check/common/pictures/picture.h"

/// The expected output of cudagaussblur, by the definition of tests/kernels.
namespace check {

using Edge = cudavision::Border;
inline constexpr Edge all_edges[] = {Edge::reflect_101, Edge::replicate, Edge::reflect, Edge::wrap,
                                     Edge::constant};
const char* nick_of(Edge edge);

struct Blur {
  double sigma = 1.2;
  double sigma_y = 0;
  int kernel_size = 0;
  int kernel_size_y = 0;
  Edge edge = Edge::reflect_101;
  std::uint32_t color = 0xff000000;
  bool blur_alpha = true;
  bool fine = false;

  bool fields = false;   ///< the frame is interlaced
  bool limited = false;  ///< limited range, BT.601 matrix

  Properties properties() const;
  std::string description() const;
};

/// If the settings blur no component, all bytes equal the input's. Otherwise unused bits may
/// differ, because blurred components are rewritten.
Picture blurred(const Picture& picture, const Blur& how);

}  // namespace check
