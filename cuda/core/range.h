// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <charconv>
#include <concepts>
#include <string>

namespace cudavision {

/// Range of a parameter, for validation, error texts and the elements' properties.
template <class Number>
struct Range {
  Number min, max;

  /// Returns false for NaN.
  constexpr bool contains(Number number) const noexcept { return number >= min && number <= max; }
};

/// Formats values for messages: a double with up to 10 significant digits, a range as "0 to 127".
template <std::integral Number>
std::string text_of(Number number) {
  return std::to_string(number);
}
inline std::string text_of(double number) {
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, number, std::chars_format::general, 10);
  return {digits, end.ptr};
}
inline std::string text_of(const std::string& text) {
  return text;
}
/// Formats a size, for example "640×480".
inline std::string text_of(int width, int height) {
  return text_of(width) + "×" + text_of(height);
}
template <class Number>
std::string text_of(const Range<Number>& range) {
  return text_of(range.min) + " to " + text_of(range.max);
}

}  // namespace cudavision
