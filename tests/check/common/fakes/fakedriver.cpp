// SPDX-License-Identifier: LGPL-2.1-or-later
// A fake CUDA driver for the test of driverfaults.cpp.
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int not_found = 500;  // CUDA_ERROR_NOT_FOUND

int launch(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
           unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,
           void** arguments, void** extra) {
  if (!function || stream != function || arguments || extra)
    return not_found;
  return static_cast<int>(grid_x + grid_y + grid_z + block_x + block_y + block_z + shared_bytes);
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int cuMemAlloc_v2(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  return 0;
}

EXPORTED int cuMemFree_v2(void* memory) {
  std::free(memory);
  return 0;
}

EXPORTED int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}

EXPORTED int cuGetProcAddress_v2(const char* symbol, void** function, int, std::uint64_t,
                                 int* status) {
  const bool known = std::strcmp(symbol, "cuLaunchKernel") == 0;
  *function = known ? reinterpret_cast<void*>(launch) : nullptr;
  *status = known ? 0 : 1;
  return known ? 0 : not_found;
}
