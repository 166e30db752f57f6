// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "cuda/mosaic/mosaic.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

struct MosaicCase : FilterCase<MosaicCase, mosaic::Mosaic, mosaic::Parameters> {
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const;
};

mosaic::Parameters blocks_of(int size);

mosaic::Parameters solid_colour(int bits);

MosaicCase make_mosaic_case(std::uint64_t seed, int number, int max_pixels);

constexpr auto plain_mosaic_case = plain_case<MosaicCase>;

std::string describe(const MosaicCase& test);

}  // namespace cudavision::test
