// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Matching costs of a row's pixels. Features are split into planes, one per byte. The right
// picture's planes are reversed, so that a 64-bit word holds eight neighbouring disparities.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cuda/sgm/backend.h"

namespace cudavision::sgm {

/// Returns the number of set bits in each byte, summed over the planes. planes is 3, 4 or 8.
template <int planes>
[[gnu::always_inline]] inline std::uint64_t count_bits(const std::uint64_t* differences) {
  constexpr std::uint64_t every = 0x0101010101010101u;
  // Counts the bits of pairs, then of groups of four. Two planes together still fit four bits.
  const auto fours = [](std::uint64_t bits) __attribute__((always_inline)) {
    bits -= bits >> 1 & 0x55 * every;
    return (bits & 0x33 * every) + (bits >> 2 & 0x33 * every);
  };
  std::uint64_t sum = 0;
  for (int p = 0; p < planes; p += 2) {
    std::uint64_t two = fours(differences[p]);
    if (p + 1 < planes)
      two += fours(differences[p + 1]);
    sum += (two & 0x0f * every) + (two >> 4 & 0x0f * every);
  }
  return sum;
}

[[gnu::always_inline]] inline void reverse_bytes(std::uint8_t* begin, std::uint8_t* end) {
  for (; end - begin >= 16; begin += 8, end -= 8) {
    std::uint64_t first, last;
    std::memcpy(&first, begin, 8);
    std::memcpy(&last, end - 8, 8);
    first = __builtin_bswap64(first);
    last = __builtin_bswap64(last);
    std::memcpy(begin, &last, 8);
    std::memcpy(end - 8, &first, 8);
  }
  std::reverse(begin, end);
}

template <int planes>
class FeaturePlanes {
 public:
  static std::size_t bytes(int width, int disparities) {
    return static_cast<std::size_t>(planes) * pitch(width, disparities);
  }

  FeaturePlanes(const StageConfig& config, std::uint8_t* memory)
      : width_(config.width),
        minimum_(config.minimum),
        disparities_(config.disparities),
        replicates_(config.replicates_features()),
        pitch_(pitch(config.width, config.disparities)),
        right_(memory) {}

  template <class Feature>
  [[gnu::always_inline]] void load(const Feature* left, const Feature* right, int begin, int end) {
    left_ = reinterpret_cast<const std::uint8_t*>(left);
    end_ = end;
    const int count = end - begin + disparities_ - 1;
    const int last = end - 1 - minimum_;  // right column at index 0
    const int first_inside = std::clamp(last - width_ + 1, 0, count);
    const int first_beyond = std::clamp(last + 1, 0, count);
    for (int p = 0; p < planes; ++p) {
      std::uint8_t* const plane = right_ + static_cast<std::size_t>(p) * pitch_;
      const auto beyond = [&](int x) {
        return replicates_ ? static_cast<int>(right[x] >> (8 * p) & 0xff) : 0;
      };
      std::memset(plane, beyond(width_ - 1), static_cast<std::size_t>(first_inside));
      // Two loops, because GCC 12 does not vectorise a loop that both narrows and reverses.
      const int inside = first_beyond - first_inside;
      const Feature* const from = right + (last - first_beyond + 1);
      std::uint8_t* const __restrict to = plane + first_inside;
      for (int i = 0; i < inside; ++i)
        to[i] = static_cast<std::uint8_t>(from[i] >> (8 * p));
      reverse_bytes(to, to + inside);
      if (first_beyond < count)
        std::memset(plane + first_beyond, beyond(0),
                    static_cast<std::size_t>(count - first_beyond));
    }
  }

  template <class Feature>
  [[gnu::always_inline]] void costs(int x, std::uint8_t* __restrict costs) const {
    Feature feature;
    std::memcpy(&feature, left_ + sizeof feature * static_cast<std::size_t>(x), sizeof feature);
    std::uint64_t left[planes];
    for (int p = 0; p < planes; ++p)
      left[p] = (feature >> (8 * p) & 0xff) * std::uint64_t{0x0101010101010101u};
    const std::uint8_t* const right = right_ + (end_ - 1 - x);
    const int words = (disparities_ & ~31) / 8;
    for (int i = 0; i < words; ++i) {
      std::uint64_t differences[planes];
      for (int p = 0; p < planes; ++p) {
        std::memcpy(&differences[p], right + static_cast<std::size_t>(p) * pitch_ + 8 * i, 8);
        differences[p] ^= left[p];
      }
      const std::uint64_t counts = count_bits<planes>(differences);
      std::memcpy(costs + 8 * i, &counts, 8);
    }
  }

 private:
  static std::size_t pitch(int width, int disparities) {
    return (static_cast<std::size_t>(width) + static_cast<std::size_t>(disparities) + 63) / 64 * 64;
  }

  int width_, minimum_, disparities_;
  bool replicates_;
  std::size_t pitch_;
  std::uint8_t* right_;
  const std::uint8_t* left_ = nullptr;
  int end_ = 0;
};

}  // namespace cudavision::sgm
