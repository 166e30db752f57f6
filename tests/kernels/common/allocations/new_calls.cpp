// SPDX-License-Identifier: LGPL-2.1-or-later
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/kernels/common/allocations/no_allocations.h"

namespace {

std::atomic<int> calls{0};

}  // namespace

void* operator new(std::size_t size) {
  ++calls;
  if (void* memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace cudavision::test {

int new_calls() {
  return calls;
}

}  // namespace cudavision::test
