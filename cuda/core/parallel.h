// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cuda/core/device.h"
#include "cuda/core/division.h"

/// GCC on x86-64 compiles a hot loop for several instruction sets; the dynamic linker picks one.
/// Disabled in sanitizer builds, whose runtime has not started when the linker calls the resolvers.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CUDAVISION_TARGET_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CUDAVISION_TARGET_CLONES
#endif

namespace cudavision {

/// Returns the number of threads for a loop: one per core, or the limit of the caller's TBB arena.
int loop_concurrency();

/// Calls body(function, number) for 0 ≤ number < count, in parallel on the process-wide TBB
/// threads, and waits for all calls. All parallel loops on the CPU use this.
void parallel_for(int count, void (*body)(const void* function, int number), const void* function);

template <class Function>
void parallel_for(int count, const Function& function) {
  parallel_for(
      count, [](const void* data, int number) { (*static_cast<const Function*>(data))(number); },
      &function);
}

/// Divides memory into arrays, which begin with their margins at multiples of 64 bytes. Without
/// memory, only counts the bytes.
class Scratch {
 public:
  explicit Scratch(std::uint8_t* memory = nullptr) : memory_(memory) {}

  /// Returns an array of `count` elements, with `margin` further elements before and after it.
  template <class Element>
  Element* take(std::size_t count, std::size_t margin = 0) {
    auto* const array = memory_ ? reinterpret_cast<Element*>(memory_ + bytes_) + margin : nullptr;
    bytes_ += round_up(sizeof(Element) * (count + 2 * margin), 64);
    return array;
  }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::uint8_t* memory_;
  std::size_t bytes_ = 0;
};

template <class Memory, class... Arguments>
std::size_t scratch_bytes(const Arguments&... arguments) {
  Scratch scratch;
  Memory(scratch, arguments...);
  return scratch.bytes();
}

/// Rows [begin, end) of a picture, processed by one thread.
struct Band {
  int number;
  int count;  ///< number of bands
  int begin;
  int end;
  Scratch scratch;

  /// Returns this band's share of the rows of another picture, which has `rows` rows.
  Band of(int rows) const {
    const auto first = [&](std::int64_t n) { return static_cast<int>(n * rows / count); };
    return {number, count, first(number), first(number + 1), scratch};
  }
};

/// Splits the rows of a picture evenly over the threads of the TBB pool.
class Bands {
 public:
  explicit Bands(int rows) : rows_(rows), count_(std::clamp(loop_concurrency(), 1, rows)) {}
  Bands(Device& device, int rows, std::size_t scratch_bytes) : Bands(rows) {
    // Prevents false sharing: processors fetch cache lines in pairs.
    stride_ = round_up(scratch_bytes, 128);
    memory_ = device.allocate(static_cast<std::size_t>(count_) * stride_);
  }

  int count() const noexcept { return count_; }

  Band band(int number) const {
    const Scratch scratch(memory_.as<std::uint8_t>() + static_cast<std::size_t>(number) * stride_);
    return Band{number, count_, 0, 0, scratch}.of(rows_);
  }

  /// Calls function(Band&) for every band, in parallel, and waits for all calls.
  template <class Function>
  void for_each(const Function& function) const {
    parallel_for(count_, [&](int number) {
      Band own = band(number);
      function(own);
    });
  }

 private:
  int rows_;
  int count_;
  std::size_t stride_ = 0;
  Buffer memory_;
};

template <class Function>
void for_rows(int rows, const Function& function) {
  if (rows > 0)
    Bands(rows).for_each([&](const Band& band) {
      for (int y = band.begin; y < band.end; ++y)
        function(y);
    });
}

}  // namespace cudavision
