// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {

/// A pair in the memory of a device, room for the results, and what they must be.
struct StereoFrames {
  static constexpr std::uint8_t poison = 0xcd;

  StereoFrames(Device& device, const FrameLayout& layout, const sgm::Parameters& parameters,
               Content content, std::uint64_t seed = 5)
      : test(plain_sgm_case(layout, parameters, content, seed)),
        input(input_blocks(test)),
        left_block(device, input.left),
        right_block(device, input.right),
        disparity_block(device, std::vector<std::uint8_t>(test.disparity.bytes, poison)),
        confidence_block(device, std::vector<std::uint8_t>(test.confidence.bytes, poison)) {}

  const FrameLayout& layout() const { return test.left_layout; }
  ConstFrame left() const { return in(test.left, left_block); }
  ConstFrame right() const { return in(test.right, right_block); }
  View<std::uint8_t> disparity() const { return out(16, test.disparity, disparity_block); }
  View<std::uint8_t> confidence() const { return out(8, test.confidence, confidence_block); }

  void run(sgm::SgmStereo& stereo) const { stereo.run(left(), right(), disparity(), confidence()); }

  /// Empty where the results are those of the definition.
  std::string difference_from(const sgm::Parameters& parameters) const {
    SgmCase wanted = test;
    wanted.parameters = parameters;
    return difference(test, defined_blocks(wanted, input, poison),
                      {disparity_block.values(), confidence_block.values()});
  }

  SgmCase test;
  SgmInput input;
  DeviceBlock<std::uint8_t> left_block, right_block, disparity_block, confidence_block;

 private:
  ConstFrame in(const Placement& placement, const DeviceBlock<std::uint8_t>& block) const {
    return frame_in(layout(), placement, static_cast<const std::uint8_t*>(block.data()));
  }
  View<std::uint8_t> out(int bits, const Placement& placement,
                         const DeviceBlock<std::uint8_t>& block) const {
    return frame_in(gray_layout(layout().width, layout().height, bits), placement, block.data())
        .planes[0];
  }
};

inline sgm::Parameters few_disparities() {
  sgm::Parameters parameters;
  parameters.disparities = 32;
  return parameters;
}

}  // namespace cudavision::test
