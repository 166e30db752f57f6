// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/verticaloffsets.h"

#include <algorithm>
#include <cmath>

namespace cudavision {
namespace {

constexpr std::size_t max_pairs = 8;
/// In rows. Offsets of the same cameras differ by less, unless their spread is larger.
constexpr double min_change = 1;

}  // namespace

bool VerticalOffsets::differ(const Offset& a, const Offset& b) {
  return std::abs(a.rows - b.rows) > std::max({min_change, a.spread, b.spread});
}

void VerticalOffsets::add(const sgm::PairFigures& figures) {
  if (!figures.vertical_known())
    return;
  last_.push_back({figures.vertical_offset, figures.vertical_spread, figures.is_unrectified()});
  if (last_.size() > max_pairs)
    last_.pop_front();
  int changes = 0;
  bool unrectified = last_.front().unrectified;
  for (std::size_t i = 1; i < last_.size(); ++i) {
    changes += differ(last_[i - 1], last_[i]);
    unrectified = unrectified || last_[i].unrectified;
  }
  vary_ = vary_ || (changes >= 2 && unrectified);
}

bool VerticalOffsets::is_steady() const {
  return last_.size() < 2 || !differ(last_[last_.size() - 2], last_.back());
}

double VerticalOffsets::min() const {
  return std::min_element(last_.begin(), last_.end(),
                          [](const Offset& a, const Offset& b) { return a.rows < b.rows; })
      ->rows;
}

double VerticalOffsets::max() const {
  return std::max_element(last_.begin(), last_.end(),
                          [](const Offset& a, const Offset& b) { return a.rows < b.rows; })
      ->rows;
}

}  // namespace cudavision
