// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/kernels/common/random.h"

/// Random numbers and simple geometry for tests that fit cameras to points.
namespace cudavision::test {

inline constexpr double degree = 0.017453292519943295;

struct Vector {
  double x, y, z;
};

/// Rotates a vector about an axis whose length is the angle, in many small steps.
inline Vector rotated(const Vector& axis, Vector v) {
  constexpr int steps = 1 << 14;
  const Vector a{axis.x / steps, axis.y / steps, axis.z / steps};
  const auto cross = [&](const Vector& w) {
    return Vector{a.y * w.z - a.z * w.y, a.z * w.x - a.x * w.z, a.x * w.y - a.y * w.x};
  };
  for (int i = 0; i < steps; ++i) {
    const Vector first = cross(v), second = cross(first);  // second-order series of the exponential
    v = {v.x + first.x + second.x / 2, v.y + first.y + second.y / 2, v.z + first.z + second.z / 2};
  }
  return v;
}

inline double number(Random& random, double low, double high) {
  return low + (high - low) * random.between(0, 1 << 20) / (1 << 20);
}

/// Draws a nearly normal number, as the sum of twelve uniform numbers.
inline double normal(Random& random, double deviation) {
  double sum = 0;
  for (int i = 0; i < 12; ++i)
    sum += number(random, -0.5, 0.5);
  return sum * deviation;
}

}  // namespace cudavision::test
