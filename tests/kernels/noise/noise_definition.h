// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/core/frame.h"

namespace cudavision::test {

struct DefinedMeasurement {
  std::uint32_t variance;
  bool uncertain = false;
};

/// Noise of a brightness class with enough blocks. Class 8 has the blocks with extreme samples.
struct DefinedClass {
  int number;
  std::int64_t count, variance, spread;
  bool smooth = false;

  std::int64_t limit() const { return variance < spread ? variance : spread; }
};

struct DefinedBlocks {
  int constant, flat, others;
};

/// Combines the classes into one measurement. Returns nullopt if there are too few blocks.
std::optional<DefinedMeasurement> defined_measurement(const std::vector<DefinedClass>& classes,
                                                      const std::optional<DefinedClass>& extremes,
                                                      const DefinedBlocks& blocks);

std::optional<DefinedMeasurement> defined_noise(const FrameLayout& layout, const Channel& channel,
                                                const ConstFrame& in);

struct DefinedEstimate {
  bool any = false, uncertain = false;
  std::int64_t measured = 0, average = 0, used = 0;

  void take(std::optional<DefinedMeasurement> measurement);
};

}  // namespace cudavision::test
