// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "tests/check/common/elementundertest.h"
#include "tests/check/common/pictures/picture.h"

/// The expected output of cudapixelate, by the definition of tests/kernels.
namespace check {

struct Pixelation {
  bool solid = false;
  int block_size = 16;
  std::uint32_t color = 0xff000000;
  bool hide_alpha = true;

  bool fields = false;   ///< the frame is interlaced
  bool limited = false;  ///< limited range, BT.601 matrix

  Properties properties() const;
  std::string description() const;
};

Picture pixelated(const Picture& picture, const Pixelation& how);

}  // namespace check
