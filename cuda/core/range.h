// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdio>
#include <string>

namespace cudavision {

/// The values that a parameter may have. Each operation has a table `Ranges` beside its parameters,
/// which its validation, its error texts and the properties of elements use.
template <class Number>
struct Range {
  Number min, max;

  /// False for NaN.
  constexpr bool contains(Number number) const noexcept { return number >= min && number <= max; }
};

/// Numbers in error texts: up to 10 digits, and a range as "0 to 127".
inline std::string text_of(int number) {
  return std::to_string(number);
}
inline std::string text_of(double number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.10g", number);
  return digits;
}
template <class Number>
std::string text_of(const Range<Number>& range) {
  return text_of(range.min) + " to " + text_of(range.max);
}

}  // namespace cudavision
