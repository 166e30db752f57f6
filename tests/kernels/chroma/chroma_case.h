// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

#include "cuda/chroma/chroma.h"
#include "cuda/mosaic/mosaic.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

/// Makes a mosaic of the frame, and scales the input's chroma with the luma of the mosaic.
class MosaicWithChroma {
 public:
  MosaicWithChroma(Device& device, const FrameLayout& layout, const chroma::Parameters& parameters)
      : scale_(device, layout, parameters), mosaic_(device, layout, blocks()) {}

  void set_parameters(const chroma::Parameters& parameters) { scale_.set_parameters(parameters); }
  void run(const ConstFrame& in, const Frame& out) {
    mosaic_.run(in, out);
    scale_.run(in, out);
  }

  static mosaic::Parameters blocks();

 private:
  chroma::ChromaScale scale_;
  mosaic::Mosaic mosaic_;
};

struct ChromaCase : FilterCase<ChromaCase, MosaicWithChroma, chroma::Parameters> {
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const { return {!parameters.limited_range}; }
};

ChromaCase make_chroma_case(std::uint64_t seed, int number, int max_pixels);

constexpr auto plain_chroma_case = plain_case<ChromaCase>;

std::string describe(const ChromaCase& test);

}  // namespace cudavision::test
