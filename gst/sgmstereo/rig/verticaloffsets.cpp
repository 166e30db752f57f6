// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/verticaloffsets.h"

#include <algorithm>
#include <cmath>

namespace cudavision {
namespace {

constexpr std::size_t max_pairs = 8;
/// Two offsets differ if they are apart by more than this many rows and by more than both spreads.
constexpr double min_change = 1;

}  // namespace

bool VerticalOffsets::differ(const Offset& a, const Offset& b) {
  return std::abs(a.rows - b.rows) > std::max({min_change, a.spread, b.spread});
}

void VerticalOffsets::add(const rig::PairFigures& figures) {
  if (!figures.vertical_known())
    return;
  if (last_.size() == max_pairs)
    last_.erase(last_.begin());
  last_.push_back({figures.vertical_offset, figures.vertical_spread, figures.is_unrectified()});
  int changes = 0;
  for (std::size_t i = 1; i < last_.size(); ++i)
    changes += differ(last_[i - 1], last_[i]);
  vary_ = vary_ ||
          (changes >= 2 && std::any_of(last_.begin(), last_.end(),
                                       [](const Offset& offset) { return offset.unrectified; }));
}

bool VerticalOffsets::is_steady() const {
  return last_.size() < 2 || !differ(last_.end()[-2], last_.back());
}

std::pair<double, double> VerticalOffsets::range() const {
  if (last_.empty())
    return {};
  const auto [min, max] = std::minmax_element(
      last_.begin(), last_.end(), [](const Offset& a, const Offset& b) { return a.rows < b.rows; });
  return {min->rows, max->rows};
}

}  // namespace cudavision
