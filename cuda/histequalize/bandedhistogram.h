// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Counts frames for the CPU backends.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cuda/core/device.h"
#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"

namespace cudavision::histequalize {

// Samples of 8 bits are counted in four tables, so that the increments of neighbouring equal
// samples do not wait for each other in memory.
constexpr int tables_per_band(int bits) {
  return bits == 8 ? 4 : 1;
}

inline void count_row(const std::uint8_t* values, int n, std::uint32_t* tables) {
  int x = 0;
  for (; x + 4 <= n; x += 4) {
    ++tables[values[x]];
    ++tables[256 + values[x + 1]];
    ++tables[512 + values[x + 2]];
    ++tables[768 + values[x + 3]];
  }
  for (; x < n; ++x)
    ++tables[values[x]];
}

inline void count_row(const std::uint16_t* values, int n, std::uint32_t* table) {
  for (int x = 0; x < n; ++x)
    ++table[values[x]];
}

/// Counts a frame in bands of rows, with tables and row buffers that are allocated once.
class BandedHistogram {
 public:
  BandedHistogram(Device& device, const FrameLayout& layout)
      : layout_(layout),
        bands_(layout.height),
        tables_(device.allocate(bands_.count() * table_bytes())),
        rows_(device.allocate(bands_.count() * row_bytes())) {}

  const Bands& bands() const noexcept { return bands_; }

  /// Each band has its own buffer for the values of one row.
  void* row_buffer(const Band& band) const noexcept {
    return rows_.as<std::uint8_t>() + band.number * row_bytes();
  }

  void run(const ConstFrame& in, const Samples& samples, std::uint32_t* bins) const {
    run(bins, [&](const Band& band, int y, std::uint32_t* tables) {
      with_row(in, samples, band, y,
               [&](const auto* values) { count_row(values, layout_.width, tables); });
    });
  }

  /// Calls use(values) with the values of a row.
  template <class Use>
  void with_row(const ConstFrame& in, const Samples& samples, const Band& band, int y,
                const Use& use) const {
    void* buffer = row_buffer(band);
    if (layout_.bits == 8)
      use(samples.row8(in, y, static_cast<std::uint8_t*>(buffer)));
    else
      use(samples.row16(in, y, static_cast<std::uint16_t*>(buffer)));
  }

  /// Sets bins to what count(band, y, tables) adds to the tables of a band, for all rows.
  template <class Count>
  void run(std::uint32_t* bins, const Count& count) const {
    bands_.for_each([&](const Band& band) {
      std::uint32_t* tables = band_tables(band.number);
      std::memset(tables, 0, table_bytes());
      for (int y = band.begin; y < band.end; ++y)
        count(band, y, tables);
    });
    const int size = 1 << layout_.bits;
    const int table_count = bands_.count() * tables_per_band(layout_.bits);
    const std::uint32_t* tables = tables_.as<std::uint32_t>();
    std::copy(tables, tables + size, bins);
    for (int t = 1; t < table_count; ++t)
      for (int v = 0; v < size; ++v)
        bins[v] += tables[static_cast<std::size_t>(t) * size + v];
  }

 private:
  std::size_t table_bytes() const {
    return sizeof(std::uint32_t) * tables_per_band(layout_.bits) << layout_.bits;
  }
  std::size_t row_bytes() const {
    // Bands fill their buffers at the same time, so no two of these may share a cache line.
    return (static_cast<std::size_t>(layout_.width) * layout_.sample_bytes() + 127) / 64 * 64;
  }
  std::uint32_t* band_tables(int band) const {
    return tables_.as<std::uint32_t>() + band * table_bytes() / sizeof(std::uint32_t);
  }

  FrameLayout layout_;
  Bands bands_;
  Buffer tables_;
  Buffer rows_;
};

}  // namespace cudavision::histequalize
