// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gst/base/patience.h"

namespace cudavision {

/// The pairs in a row whose pictures differ in size or depth. While both cameras change their caps,
/// one after the other, such pairs are normal; if they go on for long, they are a mistake.
class SizeMismatch {
 public:
  void reset() { *this = SizeMismatch(); }

  /// A pair whose pictures are equal.
  void end() noexcept {
    *this = SizeMismatch();
    any_equal_ = true;
  }
  /// A pair whose pictures differ, at that running time. Returns whether this has gone on for too
  /// long.
  bool add(const std::string& error, std::optional<std::int64_t> time) {
    error_ = error;
    unequal_.add(time);
    return unequal_.exceeds(any_equal_ ? patience::unequal_later : patience::unequal_at_start);
  }

  /// Empty, or the error of the last pair.
  const std::string& error() const noexcept { return error_; }
  /// Returns true if no pair was equal yet.
  bool from_the_start() const noexcept { return !any_equal_; }

 private:
  bool any_equal_ = false;
  std::string error_;
  QuietTime unequal_;
};

}  // namespace cudavision
