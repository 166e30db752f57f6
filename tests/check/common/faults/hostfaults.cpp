// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces operator new and others. Only the plug-in's calls fail, as GLib aborts without memory.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "tests/check/common/faults/faults.h"

namespace {

using check::Calls;

#if defined(CUDAVISION_TEST_SANITIZED) || defined(__SANITIZE_THREAD__)
// Sanitizers do their own bookkeeping, and their free() cannot be replaced.
constexpr bool replaces_free = false;
#else
constexpr bool replaces_free = true;
#endif

check::CodeRange plugin;

/// The plug-in's live blocks, in a hash table that never allocates.
class Blocks {
 public:
  void add(void* block) {
    const Lock lock(busy_);
    std::size_t slot = home(block);
    while (slots_[slot])
      slot = next(slot);
    slots_[slot] = block;
    check::note_resource(Calls::host_memory, 1);
  }

  void remove(void* block) {
    const Lock lock(busy_);
    std::size_t slot = home(block);
    while (slots_[slot] != block) {
      if (!slots_[slot])
        return;
      slot = next(slot);
    }
    close_gap(slot);
    check::note_resource(Calls::host_memory, -1);
  }

 private:
  static constexpr std::size_t size = std::size_t{1} << 16;

  struct Lock {
    explicit Lock(std::atomic_flag& flag) : busy(flag) {
      while (busy.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Lock() { busy.clear(std::memory_order_release); }
    std::atomic_flag& busy;
  };

  static std::size_t next(std::size_t slot) { return (slot + 1) % size; }

  // Blocks are 16-byte aligned.
  static std::size_t home(void* block) {
    return (reinterpret_cast<std::uintptr_t>(block) / 16 * 0x9e3779b97f4a7c15u >> 40) % size;
  }

  // Moves later entries into the gap, unless that would put them before their home slot.
  void close_gap(std::size_t gap) {
    for (std::size_t slot = next(gap); slots_[slot]; slot = next(slot)) {
      const std::size_t from_home = (slot - home(slots_[slot])) % size;
      if (from_home < (slot - gap) % size)
        continue;
      slots_[gap] = slots_[slot];
      gap = slot;
    }
    slots_[gap] = nullptr;
  }

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  void* slots_[size]{};
};
Blocks blocks;

void* counted_new(std::size_t size, void* caller) {
  const bool counts = plugin.contains(caller);
  if (counts && check::call_fails(Calls::host_memory, "operator new"))
    throw std::bad_alloc();
  void* memory = std::malloc(size ? size : 1);
  if (!memory)
    throw std::bad_alloc();
  if (counts)
    blocks.add(memory);
  return memory;
}

void counted_delete(void* memory) noexcept {
  // The replaced free() removes the block.
  if (!replaces_free && memory)
    blocks.remove(memory);
  std::free(memory);
}

}  // namespace

#define REPLACED __attribute__((visibility("default")))

REPLACED void* operator new(std::size_t size) {
  return counted_new(size, __builtin_return_address(0));
}
REPLACED void operator delete(void* memory) noexcept {
  counted_delete(memory);
}
REPLACED void operator delete(void* memory, std::size_t) noexcept {
  counted_delete(memory);
}

extern "C" {

REPLACED void* aligned_alloc(std::size_t alignment, std::size_t size) {
  const bool counts = plugin.contains(__builtin_return_address(0));
  void* memory = nullptr;
  if ((counts && check::call_fails(Calls::host_memory, "aligned_alloc")) ||
      posix_memalign(&memory, alignment, size) != 0) {
    errno = ENOMEM;
    return nullptr;
  }
  if (counts && replaces_free)
    blocks.add(memory);
  return memory;
}

#if !defined(CUDAVISION_TEST_SANITIZED) && !defined(__SANITIZE_THREAD__)

void __libc_free(void*);

REPLACED void free(void* memory) {
  if (memory)
    blocks.remove(memory);
  __libc_free(memory);
}

#endif

}  // extern "C"

namespace check {

void find_plugin_code() {
  plugin.find("libgstcudavision.so");
}

}  // namespace check
