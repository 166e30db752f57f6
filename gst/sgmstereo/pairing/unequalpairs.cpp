// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pairing/unequalpairs.h"

namespace cudavision {

void UnequalPairs::end() noexcept {
  any_equal_ = true;
  error_.clear();
  unequal_.end();
}

bool UnequalPairs::add(const std::string& error, std::optional<std::int64_t> time) {
  error_ = error;
  unequal_.add(time);
  return unequal_.exceeds(any_equal_ ? patience::unequal_later : patience::unequal_at_start);
}

}  // namespace cudavision
