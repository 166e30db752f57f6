// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu_probe.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>

namespace cudavision::bench {
namespace {

template <class Function>
Function driver_function(const char* name) {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return driver ? reinterpret_cast<Function>(dlsym(driver, name)) : nullptr;
}

}  // namespace

int count_gpus() {
  const auto get_count = driver_function<int (*)(int*)>("cuDeviceGetCount");
  int count = 0;
  return get_count && get_count(&count) == 0 ? count : 0;
}

std::size_t free_device_memory() {
  const auto get_info =
      driver_function<int (*)(std::size_t * free, std::size_t * total)>("cuMemGetInfo_v2");
  std::size_t free = 0, total = 0;
  return get_info && get_info(&free, &total) == 0 ? free : 0;
}

double bus_time(const test::CudaTestDevice& device, BusDirection direction, std::size_t bytes) {
  static std::map<std::pair<BusDirection, std::size_t>, double> measured;
  double& result = measured[{direction, bytes}];
  if (result > 0)
    return result;
  const Buffer host = device->allocate_host(bytes), memory = device->allocate(bytes);
  const auto view = [&](const Buffer& buffer) {
    return View<std::uint8_t>{buffer.as<std::uint8_t>(), static_cast<int>(bytes), 1,
                              static_cast<std::ptrdiff_t>(bytes)};
  };
  // The copies of a batch follow each other without a pause, so the bus is hardly ever idle.
  constexpr int batch = 20;
  const auto copy_batch = [&] {
    for (int i = 0; i < batch; ++i)
      if (direction == BusDirection::to_gpu)
        device->upload(view(host), view(memory));
      else
        device->download(view(memory), view(host));
    device->finish();
  };
  copy_batch();
  int copies = 0;
  std::chrono::duration<double, std::micro> elapsed{};
  for (const auto start = std::chrono::steady_clock::now();
       elapsed < std::chrono::milliseconds(200); copies += batch) {
    copy_batch();
    elapsed = std::chrono::steady_clock::now() - start;
  }
  return result = elapsed.count() / copies;
}

std::optional<CountsAround> count_cuda(const std::function<void()>& work) {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  // The driver must load the library itself, before the first context is created.
  void* library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (!library)
    return std::nullopt;
  const auto count = reinterpret_cast<CountCuda>(dlsym(library, count_cuda_symbol));
  const auto read = reinterpret_cast<ReadCudaCounts>(dlsym(library, read_cuda_counts_symbol));
  dlclose(library);  // the driver keeps it loaded
  if (!count || !read)
    return std::nullopt;
  CountsAround counts;
  count(true);
  read(&counts.before);
  work();
  read(&counts.after);
  count(false);
  return counts;
}

}  // namespace cudavision::bench
