// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Makes tilted sums on the host in the steps of the CUDA kernels, with the functions that these
// consist of, and compares them with sums over triangles.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "cuda/integral/diagonals.h"
#include "tests/kernels/common/random.h"

namespace cudavision::test {
namespace {

using namespace integral;

struct Picture {
  int width, height;
  std::vector<std::uint32_t> pixels;

  std::uint32_t at(int x, int y) const {
    const bool inside = x >= 0 && x < width && y >= 0 && y < height;
    return inside ? pixels[static_cast<std::size_t>(y) * width + x] : 0;
  }

  /// The triangle whose lowest pixel is (x, y).
  std::uint64_t triangle(int x, int y) const {
    std::uint64_t sum = 0;
    for (int up = 0; up <= y; ++up)
      for (int at_x = std::max(x - up, 0); at_x <= std::min(x + up, width - 1); ++at_x)
        sum += at(at_x, y - up);
    return sum;
  }
};

Picture random_picture(Random& random, int max_width, int max_height) {
  Picture picture{random.between(1, max_width), random.between(1, max_height), {}};
  const int largest = random.one_in(2) ? 255 : 65535;
  for (int i = 0; i < picture.width * picture.height; ++i)
    picture.pixels.push_back(static_cast<std::uint32_t>(random.between(0, largest)));
  return picture;
}

/// The lanes of a warp that follows columns down a band.
struct Warp {
  explicit Warp(int number) : first(BandColumns::first(number)) {
    for (LaneDiagonals& lane : lanes)
      lane.clear();
  }

  /// Calls add(x, sum) for each column.
  template <class Add>
  void next_row(const Picture& picture, int y, const Add& add) {
    const std::array<LaneDiagonals, 32> before = lanes;
    for (int lane = 0; lane < 32; ++lane) {
      const int x = first + lane * LaneDiagonals::columns;
      lanes[lane].next_row([&](int i) { return picture.at(x + i, y); },
                           before[std::min(lane + 1, 31)].rising[0],
                           before[std::max(lane - 1, 0)].falling[LaneDiagonals::columns - 1],
                           [&](int i, std::uint32_t rising, std::uint32_t falling) {
                             add(x + i, std::uint64_t{rising} + falling);
                           });
    }
  }

  int first;
  std::array<LaneDiagonals, 32> lanes;
};

bool is_right(int x, const Warp& warp) {
  return x >= warp.first + BandColumns::first_right && x < warp.first + BandColumns::end_right;
}

/// The sums of all bands: as the first launch leaves them, and then the second one.
struct Bands {
  explicit Bands(const Picture& picture)
      : bands((picture.height + band_rows - 1) / band_rows),
        blocks((picture.width + band_rows - 1) / band_rows + 1),
        rising(static_cast<std::size_t>(bands) * blocks * band_rows),
        falling(rising.size()),
        beside(static_cast<std::size_t>(bands)) {}

  /// The sums of diagonals that enter a band at x, in the row above it.
  std::uint32_t& rising_from(int band, int x) { return rising[place(band, x)]; }
  std::uint32_t& falling_from(int band, int x) { return falling[place(band, x + band_rows)]; }

  bool has_column(int x) const { return x >= 0 && x < (blocks - 1) * band_rows; }

  void add_diagonals(const Picture& picture) {
    for (int band = 0; band < bands; ++band)
      for (int number = 0; number < BandColumns::count(picture.width); ++number) {
        Warp warp(number);
        for (int r = 0; r < band_rows; ++r)
          warp.next_row(picture, band * band_rows + r, [&](int x, std::uint64_t sum) {
            if (x == -1 && number == 0)
              beside[band] += static_cast<std::uint32_t>(sum);
          });
        for (int c = 0; c < BandColumns::columns; ++c) {
          const int x = warp.first + c;
          if (!is_right(x, warp) || !has_column(x))
            continue;
          const LaneDiagonals& lane = warp.lanes[c / LaneDiagonals::columns];
          rising_from(band, x + band_rows) = lane.rising[c % LaneDiagonals::columns];
          falling_from(band, x - band_rows) = lane.falling[c % LaneDiagonals::columns];
        }
      }
  }

  void add_bands() {
    for (const bool rises : {true, false})
      for (int number = 0; number < DiagonalChain::count(bands, blocks); ++number) {
        const DiagonalChain chain(number, bands, blocks, rises);
        std::vector<std::uint32_t>& sums = rises ? rising : falling;
        for (int lane = 0; lane < band_rows; ++lane) {
          std::uint32_t sum = 0;
          for (int i = 0; i < chain.length; ++i) {
            const int block = chain.block + (rises ? -i : i);
            std::swap(sum, sums[place(chain.band + i, block * band_rows + lane)]);
            sum += sums[place(chain.band + i, block * band_rows + lane)];
          }
        }
      }
  }

  int bands, blocks;
  std::vector<std::uint32_t> rising, falling, beside;

 private:
  std::size_t place(int band, int number) const {
    return static_cast<std::size_t>(band) * blocks * band_rows + number;
  }
};

TEST(Diagonals, MakeTheSumsOfTriangles) {
  Random random(91);
  for (int i = 0; i < 40; ++i) {
    const Picture picture = random_picture(random, i % 4 == 0 ? 450 : 70, i % 4 == 1 ? 200 : 70);
    SCOPED_TRACE(testing::Message() << picture.width << "x" << picture.height);
    Bands sums(picture);
    sums.add_diagonals(picture);
    sums.add_bands();
    std::uint64_t entry_beside = 0;  // above the band, left of the picture
    for (int band = 0; band < sums.bands; ++band) {
      std::uint64_t left_of_warp = entry_beside;
      for (int number = 0; number < BandColumns::count(picture.width); ++number) {
        Warp warp(number);
        std::uint64_t entry = left_of_warp;
        std::vector<std::uint64_t> entries(BandColumns::columns);
        for (int c = 0; c < BandColumns::columns; ++c) {
          const int x = warp.first + c;
          if (!sums.has_column(x))
            continue;
          LaneDiagonals& lane = warp.lanes[c / LaneDiagonals::columns];
          lane.rising[c % LaneDiagonals::columns] = sums.rising_from(band, x);
          lane.falling[c % LaneDiagonals::columns] = sums.falling_from(band, x);
          if (c < BandColumns::first_right)
            continue;
          entry += sums.rising_from(band, x);
          entries[static_cast<std::size_t>(c)] = entry;
          entry -= sums.falling_from(band, x);
          if (c == BandColumns::end_right - 1)
            left_of_warp = entry;
        }
        const int first_row = band * band_rows;
        for (int y = first_row; y < std::min(first_row + band_rows, picture.height); ++y) {
          warp.next_row(picture, y, [&](int x, std::uint64_t sum) {
            entries[static_cast<std::size_t>(x - warp.first)] += sum;
          });
          for (int c = BandColumns::first_right; c < BandColumns::end_right; ++c)
            if (warp.first + c < picture.width) {
              ASSERT_EQ(entries[static_cast<std::size_t>(c)], picture.triangle(warp.first + c, y))
                  << "at " << warp.first + c << ", " << y;
            }
        }
      }
      entry_beside += sums.beside[static_cast<std::size_t>(band)];
      for (int lane = 0; lane < band_rows; ++lane)
        entry_beside += sums.rising_from(band, lane);
      ASSERT_EQ(entry_beside, picture.triangle(-1, (band + 1) * band_rows - 1))
          << "beside band " << band;
    }
  }
}

}  // namespace
}  // namespace cudavision::test
