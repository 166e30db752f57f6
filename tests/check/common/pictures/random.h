// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <initializer_list>
#include <random>
#include <type_traits>

#include "tests/check/common/pictures/picture.h"

namespace check {

/// Draws random cases. Equal seeds give equal cases.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  template <class T, std::size_t n>
  T one_of(const T (&list)[n]) {
    return list[engine_() % n];
  }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[engine_() % list.size()];
  }
  /// Draws a new value with probability 1 / rarity.
  template <class T>
  void redraw(T& value, std::initializer_list<std::type_identity_t<T>> values, int rarity = 2) {
    if (below(rarity) == 0)
      value = values.begin()[engine_() % values.size()];
  }
  unsigned any_seed() { return static_cast<unsigned>(engine_()); }
  guint64 any_number();
  /// Draws from [minimum, maximum), uniformly on a logarithmic scale.
  double log_uniform(double minimum, double maximum);

  const FormatSpec& any_format() { return formats()[engine_() % formats().size()]; }
  Layout any_layout();

 private:
  std::mt19937 engine_;
};

}  // namespace check
