// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <cstring>

namespace cudavision {

/// Prefix sums: running[x] is the sum of columns 0 to x − 1, for x from 0 to width.
template <class Column, class Sum>
void add_up(const Column* columns, int width, Sum* running) {
  Sum sum = 0;
  running[0] = 0;
  for (int x = 0; x < width; ++x)
    running[x + 1] = sum += columns[x];
}
/// Adds four columns at a time; a scalar loop would be bound by the latency of the additions.
inline void add_up(const std::uint32_t* columns, int width, std::uint32_t* running) {
  using Lanes [[gnu::vector_size(16)]] = std::uint32_t;
  Lanes before{};  // sum of all columns to the left, in every element
  running[0] = 0;
  int x = 0;
  for (; x + 4 <= width; x += 4) {
    Lanes sums;
    std::memcpy(&sums, columns + x, sizeof sums);
    sums += __builtin_shufflevector(Lanes{}, sums, 0, 4, 5, 6);
    sums += __builtin_shufflevector(Lanes{}, sums, 0, 0, 4, 5);
    const Lanes all = before + sums;
    std::memcpy(running + x + 1, &all, sizeof all);
    before += __builtin_shufflevector(sums, sums, 3, 3, 3, 3);
  }
  for (; x < width; ++x)
    running[x + 1] = running[x] + columns[x];
}

}  // namespace cudavision
