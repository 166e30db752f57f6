// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda_rows.h"

#include <utility>

#include "cuda_testing.h"
#include "device_block.h"
#include "graph_timer.h"

namespace cudavision::bench {

std::vector<Row> measure_cuda() {
  const test::CudaTestDevice device;
  const test::DeviceBlock<std::uint8_t> from(*device, std::vector<std::uint8_t>(1 << 24));
  const test::DeviceBlock<std::uint8_t> to(*device, std::vector<std::uint8_t>(1 << 24));
  GraphTimer(device.stream()).warm_up([&] {
    enqueue_plain_copy(device.stream(), from.data(), to.data(), 1 << 24);
  });

  std::vector<Row> rows;
  for (const auto measure :
       {measure_equalization, measure_blur, measure_integral, measure_nlmeans, measure_stereo})
    for (Row& row : measure(device))
      rows.push_back(std::move(row));
  return rows;
}

}  // namespace cudavision::bench
