// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/speckles/speckles.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

/// Copies a frame, and removes speckles from the copy.
class CopyWithoutSpeckles {
 public:
  CopyWithoutSpeckles(Device& device, const FrameLayout& layout,
                      const speckles::Parameters& parameters)
      : device_(device), speckles_(device, layout, parameters) {}

  void set_parameters(const speckles::Parameters& parameters) {
    speckles_.set_parameters(parameters);
  }
  void run(const ConstFrame& in, const Frame& out) {
    const View<const std::uint8_t> from = in.planes[0];
    const View<std::uint8_t> to = out.planes[0];
    if (to && to.width == from.width && to.height == from.height)
      device_.copy(from, to);
    speckles_.run(out);
  }

 private:
  Device& device_;
  speckles::Speckles speckles_;
};

struct SpecklesCase : FilterCase<SpecklesCase, CopyWithoutSpeckles, speckles::Parameters> {
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const { return {parameters.size == 3 ? 4 : 3, !parameters.white}; }
};

SpecklesCase make_speckles_case(std::uint64_t seed, int number, int max_pixels);

constexpr auto plain_speckles_case = plain_case<SpecklesCase>;

std::string describe(const SpecklesCase& test);

std::vector<std::uint8_t> input_block(const SpecklesCase& test);

}  // namespace cudavision::test
