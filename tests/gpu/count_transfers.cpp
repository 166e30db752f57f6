// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts the requests of a process to the GPU: copies, launches, and allocations of device memory.
// The driver reports them through CUPTI, no matter which code requested them and through which API.
// The driver loads this library into any CUDA program whose environment names it in
// CUDA_INJECTION64_PATH.
//
// If the environment names a file in CUDAVISION_TRANSFERS, everything is counted, and the counts of
// copies and kernels are written to this file as JSON at exit. Otherwise, the program itself starts
// and stops the counting with the functions of cuda_counts.h.

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_set>

#include "tests/gpu/cuda_counts.h"

namespace {

struct Tally {
  std::atomic<std::uint64_t> copies{0};
  std::atomic<std::uint64_t> bytes{0};

  void add(std::uint64_t count, std::uint64_t size) {
    copies += count;
    bytes += size;
  }
};

Tally host_to_device, device_to_host, device_to_device, host_to_host;
std::atomic<std::uint64_t> kernels{0};
std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> lost{0};

/// The ids of the calls that launched kernels. All kernels of a graph have the id of its launch.
std::mutex launches_lock;
std::unordered_set<std::uint32_t> launches;

#if CUPTI_API_VERSION >= 130000
using Kernel = CUpti_ActivityKernel10;
using Memory = CUpti_ActivityMemory4;
using Memcpy = CUpti_ActivityMemcpy6;
std::uint64_t copies_in(const Memcpy& record) {
  return record.copyCount;
}
#else
using Kernel = CUpti_ActivityKernel9;
using Memory = CUpti_ActivityMemory3;
using Memcpy = CUpti_ActivityMemcpy5;
std::uint64_t copies_in(const Memcpy&) {
  return 1;
}
#endif

void count(const Memcpy& record) {
  switch (record.copyKind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      host_to_device.add(copies_in(record), record.bytes);
      break;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      device_to_host.add(copies_in(record), record.bytes);
      break;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      host_to_host.add(copies_in(record), record.bytes);
      break;
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      device_to_device.add(copies_in(record), record.bytes);
      break;
    default:
      // The counts are a proof, so a copy in an unknown direction is counted as lost.
      ++lost;
  }
}

void count(const Kernel& record) {
  ++kernels;
  const std::lock_guard lock(launches_lock);
  launches.insert(record.correlationId);
}

void count(const Memory& record) {
  if (record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION &&
      record.memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE)
    ++allocations;
}

constexpr std::size_t buffer_size = std::size_t{1} << 20;

void CUPTIAPI request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_size));
  *size = *buffer ? buffer_size : 0;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI read_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t, std::size_t valid_size) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid_size, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
      count(*reinterpret_cast<const Memcpy*>(record));
    else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      count(*reinterpret_cast<const Kernel*>(record));
    else if (record->kind == CUPTI_ACTIVITY_KIND_MEMORY2)
      count(*reinterpret_cast<const Memory*>(record));
  }
  std::size_t dropped = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
    lost += dropped;
  std::free(buffer);
}

void check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS)
    return;
  const char* text = "unknown error";
  cuptiGetResultString(result, &text);
  std::fprintf(stderr, "count_transfers: %s: %s\n", what, text);
  std::_Exit(3);
}

void collect() {
  check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "collecting the last records");
}

constexpr std::array counted_kinds{
    CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMORY2};

const char* file_name() {
  return std::getenv("CUDAVISION_TRANSFERS");
}

void report() {
  collect();
  const char* path = file_name();
  std::FILE* file = std::fopen(path, "w");
  if (!file) {
    std::perror(path);
    std::_Exit(3);
  }
  struct Row {
    const char* name;
    const Tally& tally;
  };
  const std::array<Row, 4> rows{{{"host_to_device", host_to_device},
                                 {"device_to_host", device_to_host},
                                 {"device_to_device", device_to_device},
                                 {"host_to_host", host_to_host}}};
  std::fputc('{', file);
  for (const Row& row : rows)
    std::fprintf(file, "\"%s\": {\"copies\": %llu, \"bytes\": %llu}, ", row.name,
                 static_cast<unsigned long long>(row.tally.copies.load()),
                 static_cast<unsigned long long>(row.tally.bytes.load()));
  std::fprintf(file, "\"kernels\": %llu, \"lost\": %llu}\n",
               static_cast<unsigned long long>(kernels.load()),
               static_cast<unsigned long long>(lost.load()));
  std::fclose(file);
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void cudavision_count_cuda(bool on) {
  for (const CUpti_ActivityKind kind : counted_kinds)
    check(on ? cuptiActivityEnable(kind) : cuptiActivityDisable(kind),
          on ? "beginning to count" : "ending the count");
}

EXPORTED void cudavision_read_cuda_counts(CudaCounts* counts) {
  collect();
  const std::lock_guard lock(launches_lock);
  *counts = {host_to_device.copies,
             device_to_host.copies,
             device_to_device.copies,
             launches.size(),
             kernels,
             allocations,
             lost};
}

// The driver calls this function when it is initialised.
EXPORTED int InitializeInjection() {
  check(cuptiActivityRegisterCallbacks(request_buffer, read_buffer), "registering the callbacks");
  if (file_name()) {
    cudavision_count_cuda(true);
    std::atexit(report);
  }
  return 1;
}
