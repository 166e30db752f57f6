// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/picture.h"

/// Gaussian blur as it is defined, one component after the other: the oracle of these tests.
namespace check {

enum class Edge { reflect_101, replicate, reflect, wrap, constant };
inline constexpr Edge all_edges[] = {Edge::reflect_101, Edge::replicate, Edge::reflect, Edge::wrap,
                                     Edge::constant};
const char* nick_of(Edge edge);

/// The properties of cudagaussblur, and what the caps say.
struct Blur {
  double sigma = 1.2;
  double sigma_y = 0;
  int kernel_size = 0;
  int kernel_size_y = 0;
  Edge edge = Edge::reflect_101;
  std::uint32_t color = 0xff000000;
  bool blur_alpha = true;
  bool fine = false;

  bool fields = false;               ///< the frame is interlaced
  bool limited = false;              ///< range of the samples
  double red = 0.299, blue = 0.114;  ///< the matrix's shares of red and blue in luma

  Properties properties() const;
  std::string description() const;
};

/// Sets all properties of a cudagaussblur.
void apply(FilterHarness& filter, const Blur& how);

/// A frame that the element leaves as it is comes out as it went in; of all others the blurred
/// components are written anew and every other byte is copied.
Picture blurred(const Picture& picture, const Blur& how);

/// The picture with chroma that is valid for its bit depth, which make_picture() leaves as noise.
Picture with_valid_chroma(Picture picture);

}  // namespace check
