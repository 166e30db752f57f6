// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <type_traits>

#include "tests/check/common/pictures/random.h"

namespace fuzz {

/// An action with its relative weight. If run() returns a bool, false means that it did nothing.
template <class Self, class Result = void>
struct Action {
  const char* name;
  int weight;
  Result (Self::*run)();
};

/// Counts an action; thread-safe. `times` 0 only registers its name.
void count_action(const char* name, int times = 1);
const char* missing_action();
void print_actions();

template <class Self, class Result, std::size_t n>
void act(Self& self, check::Random& random, const Action<Self, Result> (&actions)[n]) {
  int all = 0;
  for (const auto& action : actions) {
    count_action(action.name, 0);
    all += action.weight;
  }
  int drawn = random.below(all);
  for (const auto& action : actions) {
    drawn -= action.weight;
    if (drawn >= 0)
      continue;
    bool ran = true;
    if constexpr (std::is_void_v<Result>)
      (self.*action.run)();
    else
      ran = (self.*action.run)();
    return count_action(action.name, ran ? 1 : 0);
  }
}

}  // namespace fuzz
