// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/faults/allocationcount.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tests/check/common/faults/faults.h"
#include "tests/check/common/filterharness.h"

namespace {

std::atomic<long> allocations{0}, allocated_bytes{0};

/// The CUDA driver's code, which is not counted, because it allocates while waiting for the GPU.
check::CodeRange driver;

[[maybe_unused]] void count(std::size_t size, const void* caller) {
  if (driver.contains(caller))
    return;
  ++allocations;
  allocated_bytes += static_cast<long>(size);
}

}  // namespace

#if !defined(CUDAVISION_TEST_SANITIZED) && !defined(__SANITIZE_THREAD__)

// The dynamic linker resolves the calls of all libraries to these definitions.
extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

#define COUNTED __attribute__((visibility("default")))

COUNTED void* malloc(std::size_t size) {
  count(size, __builtin_return_address(0));
  return __libc_malloc(size);
}

COUNTED void* calloc(std::size_t number, std::size_t size) {
  count(number * size, __builtin_return_address(0));
  return __libc_calloc(number, size);
}

COUNTED void* realloc(void* memory, std::size_t size) {
  count(size, __builtin_return_address(0));
  return __libc_realloc(memory, size);
}

COUNTED void* memalign(std::size_t alignment, std::size_t size) {
  count(size, __builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

COUNTED void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count(size, __builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

COUNTED int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count(size, __builtin_return_address(0));
  *memory = __libc_memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}

}  // extern "C"

#endif

namespace check {

std::string unless_allocations_count() {
  return unless_sanitized();
}

void AllocationCount::start() {
  driver.find("libcuda.so");
  total_ -= allocations;
  bytes_ -= allocated_bytes;
}

void AllocationCount::stop() {
  total_ += allocations;
  bytes_ += allocated_bytes;
}

}  // namespace check
