// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interfaces of both backends. Callers have validated all arguments.

#include <memory>

#include "cuda/integral/integral.h"

namespace cudavision::integral {

class Integral::Backend {
 public:
  virtual ~Backend() = default;
  virtual void run(const SamplePlane& in, View<std::uint8_t> table) = 0;
};

class IntegralPicture::Backend {
 public:
  virtual ~Backend() = default;
  virtual void run(View<const std::uint64_t> table, View<std::uint8_t> out) = 0;
};

std::unique_ptr<Integral::Backend> make_integral_cpu(Device& device, const PlaneSize& size,
                                                     const Parameters& parameters);
std::unique_ptr<Integral::Backend> make_integral_cuda(Device& device, const PlaneSize& size,
                                                      const Parameters& parameters);
/// Like make_integral_cuda(), for tilted sums. Allocates 4·(W + 1)·H bytes of device memory.
std::unique_ptr<Integral::Backend> make_tilted_cuda(Device& device, const PlaneSize& size,
                                                    const Parameters& parameters);

std::unique_ptr<IntegralPicture::Backend> make_integral_picture_cpu(Device& device, int bits);
std::unique_ptr<IntegralPicture::Backend> make_integral_picture_cuda(Device& device, int bits);

/// Calls visit(Element{}), where Element is the type of the elements of a table.
template <class Visit>
auto with_element(TableElement element, const Visit& visit) {
  switch (element) {
    case TableElement::uint32:
      return visit(std::uint32_t{});
    case TableElement::uint64:
      return visit(std::uint64_t{});
    case TableElement::float32:
      return visit(float{});
    default:
      return visit(double{});
  }
}

}  // namespace cudavision::integral
