// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cuda_rows.h"

#include "tests/bench/graph_timer.h"
#include "tests/kernels/common/cuda_testing.h"
#include "tests/kernels/common/device_block.h"

namespace cudavision::bench {

namespace {

struct Group {
  const char* name;
  void (*add)(CudaRows& rows);
};

constexpr Group groups[] = {
    {"equalization", add_cuda_equalization},
    {"clahe", add_cuda_clahe},
    {"blur", add_cuda_blur},
    {"guided", add_cuda_guided},
    {"integral", add_cuda_integral},
    {"mosaic", add_cuda_mosaic},
    {"nlmeans", add_cuda_nlmeans},
    {"regions", add_cuda_regions},
    {"remap", add_cuda_remap},
    {"repack", add_cuda_repack},
    {"stereo", add_cuda_stereo},
};

}  // namespace

void add_cuda_rows(CudaRows& rows, const std::string& group) {
  for (const Group& each : groups)
    if (group.empty() || group == each.name)
      each.add(rows);
}

void CudaRows::measure(const Report& report) const {
  const test::CudaTestDevice device;
  const test::DeviceBlock<std::uint8_t> from(*device, std::vector<std::uint8_t>(1 << 24));
  const test::DeviceBlock<std::uint8_t> to(*device, std::vector<std::uint8_t>(1 << 24));
  GraphTimer(device.stream()).warm_up([&] {
    enqueue_plain_copy(device.stream(), from.data(), to.data(), 1 << 24);
  });
  for (const Series& measure_series : series_)
    measure_series(device, report);
}

}  // namespace cudavision::bench
