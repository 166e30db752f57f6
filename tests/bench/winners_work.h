// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <functional>

#include "cuda/core/device.h"
#include "cuda/sgm/backend.h"

namespace cudavision::bench {

/// The last kernel of a match with sums in bytes, which selects the winners, by itself.
struct WinnersWork {
  std::function<void()> enqueue;  ///< on the stream
  std::size_t volume_bytes;       ///< that it reads
};

/// Makes the work for volumes with random sums. `winners` has room for the maps.
WinnersWork make_winners_work(Device& device, CudaStream stream, const sgm::StageConfig& config,
                              float uniqueness, sgm::Subpixel subpixel,
                              const sgm::WtaResult& winners);

}  // namespace cudavision::bench
