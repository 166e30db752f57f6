// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/geometry/pairfigures.h"

#include <algorithm>
#include <cmath>

namespace cudavision::rig {
namespace {

constexpr double enough_matched = 0.12;
constexpr double max_offset = 0.75;
constexpr double max_beyond = 0.05, max_at_end = 0.02;
/// Means of two exposures are unequal if they differ by this factor and by this many levels.
constexpr double unequal_ratio = 1.5, unequal_difference = 16;

}  // namespace

bool PairFigures::vertical_known() const noexcept {
  return blocks >= enough_blocks && matched >= enough_matched &&
         std::lround(matched * blocks) >= enough_matches && !is_swapped();
}

bool PairFigures::is_swapped() const noexcept {
  return blocks >= enough_blocks && matched_if_swapped >= poorly_matched &&
         std::lround(matched_if_swapped * blocks) >= enough_matches &&
         matched_if_swapped >= 2 * matched;
}

bool PairFigures::is_unrectified() const noexcept {
  return vertical_known() &&
         (std::abs(vertical_offset) >= max_offset || vertical_spread >= max_spread);
}

bool PairFigures::exceeds_range() const noexcept {
  if (blocks < enough_blocks || is_swapped() || is_unrectified())
    return false;
  return above_range + below_range >= max_beyond || (vertical_known() && at_end >= max_at_end);
}

bool PairFigures::is_unequally_exposed() const noexcept {
  const auto [darker, brighter] = std::minmax(left.mean, right.mean);
  return brighter - darker >= unequal_difference && brighter >= unequal_ratio * darker;
}

}  // namespace cudavision::rig
