// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "cuda/integral/integral.h"
#include "tests/kernels/pixels/luminance_definition.h"

namespace cudavision::test {

void defined_integral(const FrameLayout& layout, const integral::Parameters& parameters,
                      const ConstFrame& in, View<std::uint8_t> table);

void defined_integral_picture(const FrameLayout& layout, integral::TableKind kind, bool same_size,
                              int bits, const ConstFrame& in, View<std::uint8_t> out);

}  // namespace cudavision::test
