// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace cudavision {

/// The values that a parameter may have, from min to max. Each operation has a table `Ranges` of
/// them beside its parameters. Its validation, the texts of its errors and the properties of
/// elements take the numbers from there.
template <class Number>
struct Range {
  Number min, max;

  /// NaN lies in no range.
  constexpr bool contains(Number number) const noexcept { return number >= min && number <= max; }
};

/// Return numbers as errors show them: up to 10 digits, and a range as "0 to 127".
std::string text_of(int number);
std::string text_of(double number);
template <class Number>
std::string text_of(const Range<Number>& range) {
  return text_of(range.min) + " to " + text_of(range.max);
}

}  // namespace cudavision
