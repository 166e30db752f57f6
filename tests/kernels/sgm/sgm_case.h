// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "cuda/sgm/sgmstereo.h"
#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/frame_case.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"
#include "tests/kernels/common/random.h"
#include "tests/kernels/sgm/sgm_definition.h"

namespace cudavision::test {

class SgmFrames;

/// The matching of one pair of images. frame_case.h lists the requirements of a case.
struct SgmCase {
  using Parameters = sgm::Parameters;
  using Operation = sgm::SgmStereo;
  using Frames = SgmFrames;

  std::string title;
  FrameLayout layout, right_layout;  ///< the layouts of the left and the right image
  Placement left, right, disparity, confidence;
  Content content = Content::random;
  bool related = true;  ///< the left image is the right image with shifted blocks
  std::uint64_t content_seed = 0;
  bool dirty = false;
  bool with_confidence = true;
  Parameters parameters;
  bool parameters_later = false;

  Operation make(Device& device, const Parameters& set) const {
    return {device, layout, right_layout, set};
  }
  Parameters other_parameters() const;

  FrameLayout disparity_layout() const { return gray_layout(layout.width, layout.height, 16); }
  FrameLayout confidence_layout() const { return gray_layout(layout.width, layout.height, 8); }
};

/// Maximum number of matching costs (pixels·disparities): `entries`, or fewer if tests are small.
int max_volume(int entries);

/// Draws a case of at most max_pixels pixels, fewer if there are many disparities.
SgmCase make_sgm_case(std::uint64_t seed, int number, int max_pixels);

/// Draws a case with slanted_surfaces, and without compatibility, which would disable it.
SgmCase make_slanted_sgm_case(std::uint64_t seed, int number, int max_pixels);

/// Draws a case with fixed noise, mostly with census_gradient.
SgmCase make_noisy_sgm_case(std::uint64_t seed, int number, int max_pixels);

SgmCase plain_sgm_case(const FrameLayout& layout, const sgm::Parameters& parameters,
                       Content content, std::uint64_t seed);

/// Draws valid parameters; slanted_surfaces and noise are off.
sgm::Parameters random_sgm_parameters(Random& random);
sgm::Parameters random_search(Random& random);

/// Enables slanted_surfaces, and disables compatibility, which would disable slanted_surfaces.
void slant_surfaces(sgm::Parameters& parameters);

/// The defaults, but 32 disparities, and noise 0, because noise estimates depend on earlier frames.
sgm::Parameters few_disparities();

/// A function that changes parameters. changed(change) applies it to few_disparities().
using Change = std::function<void(sgm::Parameters&)>;
sgm::Parameters changed(const Change& change);

std::vector<sgm::Parameters> representative_sgm_parameters();

std::string describe(const sgm::Parameters& parameters);
std::string describe(const SgmCase& test);

struct SgmInput {
  std::vector<std::uint8_t> left, right;

  bool operator==(const SgmInput&) const = default;
};
SgmInput input_block(const SgmCase& test);

/// Copies row-major numbers to a plane.
template <class Number>
void put_rows(const std::vector<Number>& numbers, const View<std::uint8_t>& rows) {
  for (int y = 0; y < rows.height; ++y)
    std::memcpy(rows.row(y),
                reinterpret_cast<const std::uint8_t*>(numbers.data()) +
                    static_cast<std::size_t>(y) * rows.width,
                static_cast<std::size_t>(rows.width));
}

struct SgmOutput {
  std::vector<std::uint8_t> disparity, confidence;
};
SgmOutput defined_output(const SgmCase& test, const SgmInput& input, std::uint8_t poison);
/// Returns the defined output of a frame of a sequence, and updates the history.
SgmOutput defined_output(const SgmCase& test, const SgmInput& input, std::uint8_t poison,
                         DefinedHistory& history, const DefinedMasks& masks = {});

std::string difference(const SgmCase& test, const SgmOutput& expected, const SgmOutput& actual);

std::string hash(const SgmCase& test, const SgmOutput& output);

class SgmFrames {
 public:
  static constexpr std::uint8_t out_poison = 0xcd;

  SgmFrames(Device& device, const SgmCase& one, const SgmInput& input,
            std::uint8_t poison = out_poison);
  SgmFrames(Device& device, const SgmCase& one) : SgmFrames(device, one, input_block(one)) {}

  void run(sgm::SgmStereo& stereo) const { stereo.run(left, right, disparity, confidence); }

  SgmInput input() const { return {left_block_.values(), right_block_.values()}; }
  SgmOutput output() const { return {disparity_block_.values(), confidence_block_.values()}; }

  const SgmCase test;

 private:
  DeviceBlock<std::uint8_t> left_block_, right_block_, disparity_block_, confidence_block_;

 public:
  ConstFrame left, right;  ///< arguments of run(); tests may make them invalid
  View<std::uint8_t> disparity, confidence;
};

using SgmRunner = Runner<SgmCase>;

}  // namespace cudavision::test
