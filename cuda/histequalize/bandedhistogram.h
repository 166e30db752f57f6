// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Counts frames for the CPU backends.

#include <algorithm>
#include <cstdint>

#include "cuda/core/device.h"
#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"

namespace cudavision::histequalize {

// 8-bit samples use four tables, so that the increments for equal neighbours are independent.
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

struct CountMemory {
  CountMemory(Scratch& scratch, const FrameLayout& layout)
      : tables(scratch.take<std::uint32_t>(tables_per_band(layout.bits) << layout.bits)),
        values(scratch.take<std::uint16_t>(layout.width)) {}

  std::uint32_t* tables;
  std::uint16_t* values;  ///< of a row
};

class BandedHistogram {
 public:
  BandedHistogram(Device& device, const FrameLayout& layout)
      : layout_(layout), bands_(device, layout.height, scratch_bytes<CountMemory>(layout)) {}

  const Bands& bands() const noexcept { return bands_; }

  void run(const ConstFrame& in, const Samples& samples, std::uint32_t* bins) const {
    const int size = 1 << layout_.bits, entries = tables_per_band(layout_.bits) * size;
    bands_.for_each([&](Band& band) {
      const CountMemory memory(band.scratch, layout_);
      std::fill_n(memory.tables, entries, 0u);
      const auto count = [&](int y, auto* buffer) {
        count_row(samples.row(in, y, buffer), layout_.width, memory.tables);
      };
      for (int y = band.begin; y < band.end; ++y)
        if (layout_.bits == 8)
          count(y, reinterpret_cast<std::uint8_t*>(memory.values));
        else
          count(y, memory.values);
    });
    std::fill_n(bins, size, 0u);
    for (int number = 0; number < bands_.count(); ++number) {
      Band band = bands_.band(number);
      const std::uint32_t* const tables = CountMemory(band.scratch, layout_).tables;
      for (int i = 0; i < entries; i += size)
        for (int v = 0; v < size; ++v)
          bins[v] += tables[i + v];
    }
  }

 private:
  FrameLayout layout_;
  Bands bands_;
};

}  // namespace cudavision::histequalize
