// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/bus_timer.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdint>

namespace cudavision::bench {

std::size_t free_device_memory() {
  using MemGetInfo = int (*)(std::size_t * free, std::size_t * total);
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  const auto get_info =
      driver ? reinterpret_cast<MemGetInfo>(dlsym(driver, "cuMemGetInfo_v2")) : nullptr;
  std::size_t free = 0, total = 0;
  return get_info && get_info(&free, &total) == 0 ? free : 0;
}

BusTimer::BusTimer() = default;

double BusTimer::microseconds(BusDirection direction, std::size_t bytes) {
  const auto [entry, is_new] = measured_.try_emplace({direction, bytes});
  if (is_new)
    entry->second = measure(direction, bytes);
  return entry->second;
}

double BusTimer::measure(BusDirection direction, std::size_t bytes) {
  const Buffer host = device_->allocate_host(bytes), memory = device_->allocate(bytes);
  const auto view = [&](const Buffer& buffer) {
    return View<std::uint8_t>{buffer.as<std::uint8_t>(), static_cast<int>(bytes), 1,
                              static_cast<std::ptrdiff_t>(bytes)};
  };
  const auto copy = [&](int times) {
    for (int i = 0; i < times; ++i)
      if (direction == BusDirection::to_gpu)
        device_->upload(view(host), view(memory));
      else
        device_->download(view(memory), view(host));
    device_->finish();
  };
  // The copies follow each other on one stream, so the bus is never idle between them.
  constexpr int batch = 20;
  constexpr std::chrono::milliseconds minimum(200);
  copy(batch);
  int copies = 0;
  const auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double, std::micro> elapsed{};
  do {
    copy(batch);
    copies += batch;
    elapsed = std::chrono::steady_clock::now() - start;
  } while (elapsed < minimum);
  return elapsed.count() / copies;
}

}  // namespace cudavision::bench
