// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/core/frame.h"

/// A second implementation of the noise estimate, block by block, which shares no code with the one
/// under test.
namespace cudavision::test {

struct DefinedMeasurement {
  std::uint32_t variance;
  bool uncertain = false;
};

/// Returns the variance of a frame's channel, or nothing if it has too few blocks.
std::optional<DefinedMeasurement> defined_noise(const FrameLayout& layout, const Channel& channel,
                                                const ConstFrame& in);

/// The average over time.
struct DefinedNoise {
  bool any = false, uncertain = false;
  std::int64_t measured = 0, average = 0, used = 0;

  void take(std::optional<DefinedMeasurement> measurement);
};

}  // namespace cudavision::test
