// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts the copies that a process makes between host and GPU. The driver reports them through
// CUPTI, no matter which code requested them and through which API. The driver loads this library
// into any CUDA program whose environment names it in CUDA_INJECTION64_PATH. At exit, the counts
// are written as JSON to the file that CUDAVISION_TRANSFERS names.

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

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
std::atomic<std::uint64_t> lost{0};

#if CUPTI_API_VERSION >= 130000
using Memcpy = CUpti_ActivityMemcpy6;
std::uint64_t copies_in(const Memcpy& record) {
  return record.copyCount;
}
#else
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
      // A copy in an unknown direction must not be missing from the counts, because they are a
      // proof.
      ++lost;
  }
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
      ++kernels;
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

void report() {
  check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "collecting the last records");
  const char* path = std::getenv("CUDAVISION_TRANSFERS");
  std::FILE* file = path ? std::fopen(path, "w") : stderr;
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
  if (file != stderr)
    std::fclose(file);
}

}  // namespace

// The driver calls this function when it is initialised.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  check(cuptiActivityRegisterCallbacks(request_buffer, read_buffer), "registering the callbacks");
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), "enabling records of copies");
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "enabling records of kernels");
  std::atexit(report);
  return 1;
}
