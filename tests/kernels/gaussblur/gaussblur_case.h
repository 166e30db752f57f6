// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/gaussblur/gaussblur.h"
#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::test {

/// One blur with everything that it depends on. Equal seeds and numbers make equal cases on every
/// machine.
struct GaussBlurCase {
  std::string title;
  FrameLayout layout;
  Placement in, out;
  Content content = Content::random;  ///< of every channel
  std::uint64_t content_seed = 0;
  bool dirty = false;
  gaussblur::Parameters parameters;
  bool parameters_later = false;  ///< constructed with others, these set afterwards
};

/// An eighth to most, every power of two as likely as the next, and the same on every machine: a
/// whole number divided by a power of two.
double random_sigma(Random& random, int most);

/// Odd, 1 to most, which is one less than a power of two.
int random_kernel_size(Random& random, int most);

/// Frame sizes are drawn so that width times height stays within max_pixels, and within less where
/// the kernels are large: the definition is slow.
GaussBlurCase make_gaussblur_case(std::uint64_t seed, int number, int max_pixels);

/// A dense frame.
GaussBlurCase plain_gaussblur_case(const FrameLayout& layout,
                                   const gaussblur::Parameters& parameters, Content content,
                                   std::uint64_t seed);

std::string describe(const GaussBlurCase& test);

/// The input block: the painted frame in the midst of poison.
std::vector<std::uint8_t> input_block(const GaussBlurCase& test);

/// What the output block, filled with poison before, must hold by the definition.
std::vector<std::uint8_t> defined_block(const GaussBlurCase& test,
                                        const std::vector<std::uint8_t>& input,
                                        std::uint8_t poison);

/// The operation, made once and run as often as wanted.
class GaussBlurRunner {
 public:
  GaussBlurRunner(Device& device, const GaussBlurCase& test);

  /// The whole output block as it was after the run, with all that lies around the frame. Throws
  /// std::runtime_error if the input was written to.
  std::vector<std::uint8_t> run(const std::vector<std::uint8_t>& input, std::uint8_t poison);

 private:
  Device& device_;
  GaussBlurCase test_;
  gaussblur::GaussBlur blur_;
};

/// Empty where the output blocks are equal, else where they first differ.
std::string difference(const GaussBlurCase& test, const std::vector<std::uint8_t>& expected,
                       const std::vector<std::uint8_t>& actual);

/// Of the frame's rows, without what lies around them.
std::string hash(const GaussBlurCase& test, const std::vector<std::uint8_t>& block);

}  // namespace cudavision::test
