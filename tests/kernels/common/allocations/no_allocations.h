// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include "tests/kernels/common/allocations/watched_device.h"

namespace cudavision::test {

/// Returns how often operator new has been called. The program must link new_calls.cpp.
int new_calls();

/// Expects that run(0) to run(runs − 1) allocate nothing after a first run(0).
template <class Run>
void expect_no_allocations(WatchedDevice& device, int runs, const Run& run) {
  run(0);
  device.finish();
  const int allocations = device.allocations();
  // Pool threads allocate in their first loop, so repeat until a round allocates nothing.
  int news = 1;
  for (int round = 0; round < 50 && news > 0; ++round) {
    const int before = new_calls();
    for (int i = 0; i < runs; ++i)
      run(i);
    device.finish();
    news = new_calls() - before;
  }
  EXPECT_EQ(device.allocations(), allocations);
  EXPECT_EQ(news, 0) << "calls of operator new in the last of 50 rounds";
}

}  // namespace cudavision::test
