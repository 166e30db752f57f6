// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace cudavision::test {

/// Random numbers (splitmix64 by Sebastiano Vigna). They are the same on every machine, because the
/// proof compares hashes of different machines.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// A number from low to high, inclusive.
  int between(int low, int high) {
    const auto count = static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low + 1);
    return static_cast<int>(low + static_cast<std::int64_t>(next() % count));
  }

  bool one_in(int n) { return between(1, n) == 1; }

  /// A number from 1 to largest; each range between two powers of two is equally likely.
  int log_uniform(int largest) {
    int powers = 0;
    while (powers < 30 && (1 << (powers + 1)) <= largest)
      ++powers;
    const int low = 1 << between(0, powers);
    const int high = low <= largest / 2 ? 2 * low - 1 : largest;
    return between(low, high);
  }

 private:
  std::uint64_t state_;
};

/// Mixes two numbers into a seed, so that neighbouring cases get unrelated streams.
inline std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t number) {
  return Random(seed ^ Random(number).next()).next();
}

inline Random random_of_case(std::uint64_t seed, int number) {
  return Random(mixed_seed(seed, static_cast<std::uint64_t>(number)));
}

}  // namespace cudavision::test
