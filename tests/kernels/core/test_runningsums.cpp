// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <vector>

#include "cuda/core/runningsums.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

template <class Column, class Sum>
void expect_running_sums() {
  Random random(1);
  for (int width = 0; width < 70; ++width) {
    std::vector<Column> columns;
    for (int x = 0; x < width; ++x)
      columns.push_back(static_cast<Column>(random.next()));
    std::vector<Sum> running(static_cast<std::size_t>(width) + 2, Sum{77});
    add_up(columns.data(), width, running.data());
    Sum sum = 0;
    for (std::size_t x = 0; x <= static_cast<std::size_t>(width); ++x) {
      ASSERT_EQ(running[x], sum) << x << " of " << width;
      sum += x < columns.size() ? columns[x] : 0;
    }
    ASSERT_EQ(running.back(), 77u) << "beyond " << width;
  }
}

TEST(RunningSums, AreThoseOfAllColumnsToTheLeft) {
  expect_running_sums<std::uint32_t, std::uint32_t>();
  expect_running_sums<std::uint32_t, std::uint64_t>();
  expect_running_sums<std::uint64_t, std::uint64_t>();
}

}  // namespace
}  // namespace cudavision::test
