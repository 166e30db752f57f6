// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/faults/memoryuse.h"

#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tests/check/common/gstcheck.h"
#include "tests/check/common/waiting.h"

namespace check {

void return_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 64 * 1024);
}

std::size_t resident_bytes() {
  unsigned long total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  fail_unless(file != nullptr && std::fscanf(file, "%lu %lu", &total, &resident) == 2);
  std::fclose(file);
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

namespace {

long long heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<long long>(info.uordblks) + static_cast<long long>(info.hblkhd);
}

/// Returns the bytes in use on the first GPU, or −1 if NVML does not report them.
long long gpu_bytes() {
  struct Memory {
    unsigned long long total, free, used;
  };
  static void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr)
    return -1;
  const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  const auto card =
      reinterpret_cast<int (*)(unsigned, void**)>(dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
  const auto query =
      reinterpret_cast<int (*)(void*, Memory*)>(dlsym(library, "nvmlDeviceGetMemoryInfo"));
  void* handle = nullptr;
  Memory memory = {};
  static const bool ready = init && init() == 0;
  if (!ready || !card || !query || card(0, &handle) != 0 || query(handle, &memory) != 0)
    return -1;
  return static_cast<long long>(memory.used);
}

}  // namespace

MemoryUse::MemoryUse() : gpu_(gpu_bytes()), heap_(heap_bytes()), process_(resident_bytes()) {}

long long MemoryUse::process() const {
  return std::max(heap_bytes() - heap_, static_cast<long long>(resident_bytes()) - process_);
}

long long MemoryUse::gpu() const {
  return gpu_bytes() - gpu_;
}

void MemoryUse::expect_grown_less(long long process, long long gpu, const std::string& what) const {
  const long long grown = this->process(), grown_on_gpu = this->gpu();
  fail_unless(grown < process, "%s leaked %lld bytes", what.c_str(), grown);
  fail_unless(grown_on_gpu < gpu, "%s leaked %lld bytes on the GPU", what.c_str(), grown_on_gpu);
}

void expect_no_leak(const std::function<void()>& run, long long process, long long gpu,
                    const std::string& what) {
  for (int tries = 4; tries > 0; --tries) {
    const MemoryUse before;
    run();
    if (before.process() < process && before.gpu() < gpu)
      return;
    g_usleep(100000);
  }
  const MemoryUse before;
  run();
  // Threads may take long to end.
  comes_true([&] { return before.process() < process && before.gpu() < gpu; });
  before.expect_grown_less(process, gpu, what);
}

GstBuffer* BufferCount::track(GstBuffer* buffer) {
  ++alive_;
  gst_mini_object_weak_ref(
      GST_MINI_OBJECT(buffer),
      +[](gpointer alive, GstMiniObject*) { --*static_cast<std::atomic<int>*>(alive); }, &alive_);
  return buffer;
}

}  // namespace check
