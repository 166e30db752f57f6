// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tests/check/common/elementundertest.h"
#include "tests/check/common/pictures/picture.h"
#include "tests/kernels/noise/noise_definition.h"

/// The expected output of cudadenoise, by the definitions of tests/kernels.
namespace check {

struct Denoising {
  double strength = 10;
  int search = 21;
  int patch = 7;
  double chroma_strength = -1;

  Properties properties() const;
  std::string description() const { return text_of(properties()); }
};
/// Settings for which the definition is fast.
Denoising denoising(double strength = 60, int search = 5, int patch = 3);

/// The noise of each channel, averaged over time.
using AverageNoise = std::array<cudavision::test::DefinedEstimate, 4>;

/// Adds the noise of `picture` to the average `noise` and denoises with that average. `neighbours`
/// are the other searched frames; with neighbours, the format must be native.
Picture denoised(const Picture& picture, const Denoising& how, AverageNoise& noise,
                 const std::vector<Picture>& neighbours = {});
/// Denoises with a fixed strength.
Picture denoised(const Picture& picture, const Denoising& how,
                 const std::vector<Picture>& neighbours = {});

}  // namespace check
