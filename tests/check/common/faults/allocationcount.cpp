// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/faults/allocationcount.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "tests/check/common/filterharness.h"

namespace {

std::atomic<long> allocations{0}, allocated_bytes{0};

[[maybe_unused]] void count(std::size_t size) {
  ++allocations;
  allocated_bytes += static_cast<long>(size);
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// The dynamic linker resolves all libraries' calls to these definitions instead of the C library's.
extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

#define COUNTED __attribute__((visibility("default")))

COUNTED void* malloc(std::size_t size) {
  count(size);
  return __libc_malloc(size);
}

COUNTED void* calloc(std::size_t number, std::size_t size) {
  count(number * size);
  return __libc_calloc(number, size);
}

COUNTED void* realloc(void* memory, std::size_t size) {
  count(size);
  return __libc_realloc(memory, size);
}

COUNTED void* memalign(std::size_t alignment, std::size_t size) {
  count(size);
  return __libc_memalign(alignment, size);
}

COUNTED void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return memalign(alignment, size);
}

COUNTED int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}

}  // extern "C"

#endif

namespace check {

std::string unless_allocations_count() {
  return unless_sanitized();
}

void AllocationCount::start() {
  total_ -= allocations;
  bytes_ -= allocated_bytes;
}

void AllocationCount::stop() {
  total_ += allocations;
  bytes_ += allocated_bytes;
}

}  // namespace check
