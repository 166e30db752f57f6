// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pairing/unequalpairs.h"

#include <gst/gst.h>

#include "gst/sgmstereo/pairing/framepairing.h"

namespace cudavision {
namespace {

/// Before the first equal pair only elements upstream can bring about a change, which takes them a
/// few frames. Later a camera may be exchanged, which takes seconds.
constexpr GstClockTime patience_at_start = GST_SECOND;
constexpr GstClockTime patience = 5 * GST_SECOND;
/// The same for frames without running times, by their number.
constexpr int most_pairs_at_start = 30;
constexpr int most_pairs = 150;

}  // namespace

void UnequalPairs::end() noexcept {
  any_equal_ = true;
  error_.clear();
  count_ = 0;
  since_.reset();
}

bool UnequalPairs::add(const std::string& error, std::optional<std::int64_t> time) {
  error_ = error;
  ++count_;
  if (!time)
    return count_ > (any_equal_ ? most_pairs : most_pairs_at_start);
  if (!since_ || *time < *since_)
    since_ = time;
  return time_between(*time, *since_) >= (any_equal_ ? patience : patience_at_start);
}

}  // namespace cudavision
