// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

#include "cuda/core/frame.h"

namespace cudavision::test {

class DefinedAreas {
 public:
  /// Returns the change from the previous frame, in 65536ths.
  int change(const FrameLayout& layout, const ConstFrame& in);

 private:
  std::vector<long long> means_;  ///< area means of the previous frame; empty if there is none
};

}  // namespace cudavision::test
