// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/verticaloffsets.h"

#include <algorithm>
#include <cmath>

namespace cudavision {
namespace {

/// In rows. Offsets of the same cameras differ by less, unless their spread is larger.
constexpr double min_change = 1;

}  // namespace

bool VerticalOffsets::differ(const Offset& a, const Offset& b) {
  return std::abs(a.rows - b.rows) > std::max({min_change, a.spread, b.spread});
}

void VerticalOffsets::add(const rig::PairFigures& figures) {
  if (!figures.vertical_known())
    return;
  if (count_ == max_pairs)
    std::move(last_.begin() + 1, last_.end(), last_.begin());
  else
    ++count_;
  last_[count_ - 1] = {figures.vertical_offset, figures.vertical_spread, figures.is_unrectified()};
  int changes = 0;
  bool unrectified = last_[0].unrectified;
  for (std::size_t i = 1; i < count_; ++i) {
    changes += differ(last_[i - 1], last_[i]);
    unrectified = unrectified || last_[i].unrectified;
  }
  vary_ = vary_ || (changes >= 2 && unrectified);
}

bool VerticalOffsets::is_steady() const {
  return count_ < 2 || !differ(last_[count_ - 2], last_[count_ - 1]);
}

double VerticalOffsets::min() const {
  double rows = last_[0].rows;
  for (std::size_t i = 1; i < count_; ++i)
    rows = std::min(rows, last_[i].rows);
  return rows;
}

double VerticalOffsets::max() const {
  double rows = last_[0].rows;
  for (std::size_t i = 1; i < count_; ++i)
    rows = std::max(rows, last_[i].rows);
  return rows;
}

}  // namespace cudavision
