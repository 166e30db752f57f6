// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cuda_rows.h"

#include <stdexcept>
#include <utility>

#include "tests/bench/graph_timer.h"
#include "tests/kernels/common/cuda_testing.h"
#include "tests/kernels/common/device_block.h"

namespace cudavision::bench {

namespace {

struct Group {
  const char* name;
  std::vector<Row> (*measure)(const test::CudaTestDevice& device);
};

constexpr Group groups[] = {
    {"equalization", measure_equalization},
    {"clahe", measure_clahe},
    {"blur", measure_blur},
    {"integral", measure_integral},
    {"mosaic", measure_mosaic},
    {"nlmeans", measure_nlmeans},
    {"regions", measure_regions},
    {"remap", measure_remap},
    {"repack", measure_repack},
    {"stereo", measure_stereo},
};

}  // namespace

std::vector<Row> measure_cuda(const std::string& only) {
  const test::CudaTestDevice device;
  const test::DeviceBlock<std::uint8_t> from(*device, std::vector<std::uint8_t>(1 << 24));
  const test::DeviceBlock<std::uint8_t> to(*device, std::vector<std::uint8_t>(1 << 24));
  GraphTimer(device.stream()).warm_up([&] {
    enqueue_plain_copy(device.stream(), from.data(), to.data(), 1 << 24);
  });

  std::vector<Row> rows;
  bool found = false;
  for (const Group& group : groups) {
    if (!only.empty() && only != group.name)
      continue;
    found = true;
    for (Row& row : group.measure(device))
      rows.push_back(std::move(row));
  }
  if (!found)
    throw std::invalid_argument("there is no group \"" + only +
                                "\"; use equalization, clahe, blur, integral, mosaic, nlmeans, "
                                "regions, remap, repack or stereo");
  return rows;
}

}  // namespace cudavision::bench
