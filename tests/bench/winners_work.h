// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "cuda/core/device.h"
#include "cuda/sgm/backend.h"

namespace cudavision::bench {

/// The last kernel of a match with sums in bytes, which selects the winners, by itself, and the
/// bytes of the sums.
using WinnersWork = std::pair<std::function<void()>, std::size_t>;

/// Makes the work for volumes of random sums. `winners` has room for the maps.
WinnersWork make_winners_work(Device& device, const sgm::StageConfig& config, float uniqueness,
                              sgm::Subpixel subpixel, const sgm::WtaResult& winners);

}  // namespace cudavision::bench
