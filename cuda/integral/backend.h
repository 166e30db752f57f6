// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What a backend implements of integral.h. Everything arrives validated.

#include <memory>

#include "cuda/integral/integral.h"

namespace cudavision {

/// The pictures whose tables an operation makes.
struct PictureSize {
  int width = 0;
  int height = 0;
  int bits = 8;
};

class Integral::Implementation {
 public:
  virtual ~Implementation() = default;
  virtual void run(const SamplePlane& in, View<std::uint8_t> table) = 0;
};

class IntegralPicture::Implementation {
 public:
  virtual ~Implementation() = default;
  virtual void run(View<const std::uint64_t> table, View<std::uint8_t> out) = 0;
};

std::unique_ptr<Integral::Implementation> make_integral_cpu(Device& device, const PictureSize& size,
                                                            const IntegralParameters& parameters);
std::unique_ptr<Integral::Implementation> make_integral_cuda(Device& device,
                                                             const PictureSize& size,
                                                             const IntegralParameters& parameters);

std::unique_ptr<IntegralPicture::Implementation> make_integral_picture_cpu(int bits);
std::unique_ptr<IntegralPicture::Implementation> make_integral_picture_cuda(Device& device,
                                                                            int bits);

}  // namespace cudavision
