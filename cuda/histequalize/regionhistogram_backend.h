// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/pixels/luminance.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::histequalize {

struct MaskedSamples {
  SamplePlane plane;
  int step;                       ///< bytes from one sample to the next
  View<const std::uint8_t> mask;  ///< 0 for samples that do not count
  std::uint32_t* bins;            ///< result: 2^bits counts

  CUDAVISION_HOST_DEVICE std::uint32_t value(int x, int y) const {
    const std::uint8_t* sample = plane.rows.row(y) + static_cast<std::ptrdiff_t>(step) * x;
    if (plane.bits == 8)
      return *sample;
    const std::uint32_t word = sample[0] | static_cast<std::uint32_t>(sample[1]) << 8;
    return sample_value(word, plane.shift, (1u << plane.bits) - 1);
  }
};

void count_masked_cpu(Device& device, const MaskedSamples& samples);
void count_masked_cuda(Device& device, const MaskedSamples& samples);

}  // namespace cudavision::histequalize
