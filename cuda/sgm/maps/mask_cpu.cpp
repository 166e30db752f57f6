// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The mask on the CPU. Most of its words have no bit set.

#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {

void apply_mask_cpu(const StageConfig& config, View<const std::uint32_t> mask, std::uint16_t* map) {
  Bands(config.height).for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y) {
      std::uint16_t* const row = map + std::int64_t{y} * config.width;
      for (int word = 0; word < mask.width; ++word)
        for (std::uint32_t bits = mask.row(y)[word]; bits != 0; bits &= bits - 1)
          row[32 * word + __builtin_ctz(bits)] = unknown;
    }
  });
}

}  // namespace cudavision::sgm
