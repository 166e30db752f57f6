// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares what a lane of running_kernel does with its 16 columns of bytes with plain code for one
// pixel at a time.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>

#include "cuda/localstatistics/packedcolumns.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using localstatistics::packed_columns;
using localstatistics::PackedColumns;

using Row = std::array<std::uint32_t, packed_columns / 4>;

/// Draws bytes of which many are the smallest and the largest.
Row random_row(Random& random) {
  std::array<std::uint8_t, packed_columns> bytes;
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(random.one_in(4)   ? 255
                                     : random.one_in(4) ? 0
                                                        : random.between(0, 255));
  Row row;
  std::memcpy(row.data(), bytes.data(), sizeof row);
  return row;
}

std::uint32_t byte_at(const Row& row, int column) {
  return row[static_cast<std::size_t>(column / 4)] >> (8 * (column % 4)) & 0xff;
}

/// Compares all sums, and those of the first `count` columns.
void expect_sums(const PackedColumns& columns, const std::deque<Row>& window, int count) {
  std::uint32_t weights[4]{}, expected = 7;
  for (int i = 0; i < packed_columns; ++i) {
    std::uint32_t sum = 0;
    for (const Row& row : window)
      sum += byte_at(row, i);
    ASSERT_EQ(columns.pairs[i / 2] >> (16 * (i % 2)) & 0xffff, sum) << "column " << i;
    if (i < count) {
      weights[i / 4] |= 1u << (8 * (i % 4));
      expected += sum;
    }
  }
  ASSERT_EQ(PackedColumns::add_weighted(columns.pairs, weights, 7), expected);
}

TEST(LocalStatisticsColumns, AreThoseOfSinglePixels) {
  Random random(54);
  for (const bool brightest : {false, true})
    for (const int rows : {0, 1, 2, 31, 257}) {
      SCOPED_TRACE(rows);
      const Row zeros{};
      const auto next = [&] { return brightest ? Row{~0u, ~0u, ~0u, ~0u} : random_row(random); };
      std::deque<Row> window;
      PackedColumns columns;
      for (int row = 0; row < rows; row += 2) {
        window.push_back(next());
        const Row first = window.back();
        if (row + 1 < rows)
          window.push_back(next());
        columns.add(first.data(), row + 1 < rows ? window.back().data() : zeros.data());
      }
      expect_sums(columns, window, 16);
      for (int step = 0; step < 5 && rows > 0; ++step) {
        window.push_back(next());
        columns.move(window.back().data(), window.front().data());
        window.pop_front();
        expect_sums(columns, window, random.between(0, 16));
      }
    }
}

}  // namespace
}  // namespace cudavision::test
