// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace cudavision::test {

/// Rounds to the nearest integer, and ties to even.
template <class Float>
std::int64_t nearest(Float value) {
  const Float below = std::floor(value);
  const Float fraction = value - below;
  const auto whole = static_cast<std::int64_t>(below);
  return fraction > Float(0.5) || (fraction == Float(0.5) && whole % 2 != 0) ? whole + 1 : whole;
}

/// Rounds a non-negative integer to the nearest Float, and ties to even.
template <class Float, class Number>
Float rounded(Number number) {
  constexpr int digits = std::numeric_limits<Float>::digits;
  int dropped = 0;
  while (number >> dropped >> digits != 0)
    ++dropped;
  auto kept = static_cast<std::uint64_t>(number >> dropped);
  const Number rest = number - (Number{kept} << dropped);
  const Number half = dropped > 0 ? Number{1} << (dropped - 1) : 1;
  if (rest > half || (rest == half && kept % 2 != 0))
    ++kept;
  return std::ldexp(static_cast<Float>(kept), dropped);
}

/// Interpolates from `from` to `to` by weight / 256, and rounds half up.
inline int blended(int from, int to, int weight) {
  const int sum = weight * (to - from) + 128;
  return from + (sum >= 0 ? sum / 256 : -((255 - sum) / 256));
}

}  // namespace cudavision::test
