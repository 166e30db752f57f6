// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/graph_timer.h"
#include "tests/bench/rows.h"
#include "tests/kernels/common/contents.h"
#include "tests/kernels/common/cuda_testing.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/placement.h"

namespace cudavision::bench {

/// Measures the GPU times of an operation that turns one frame into another and of a plain copy of
/// the input's bytes. Case and Runner are those of the kernel tests. Throws std::runtime_error if
/// CUDA's result differs from the CPU's.
template <class Operation, class Runner, class Case>
Row frame_row(const test::CudaTestDevice& device, const std::string& name,
              const std::string& layout_name, const Case& test, double required) {
  Row row{name, layout_name, test.layout.width, test.layout.height, test::name(test.content)};
  row.required = required;

  const auto input = input_block(test);
  const auto cpu = make_cpu_device();
  const std::string different =
      difference(test, Runner(*cpu, test).run(input, 0), Runner(*device, test).run(input, 0));
  if (!different.empty())
    throw std::runtime_error(name + ", " + describe(test) +
                             ": CUDA differs from the CPU: " + different);

  const test::DeviceBlock<std::uint8_t> in(*device, input);
  const test::DeviceBlock<std::uint8_t> out(*device, std::vector<std::uint8_t>(test.out.bytes));
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data()));
  const Frame out_frame = frame_in(test.layout, test.out, out.data());
  Operation operation = test.make(*device, test.parameters);
  const GraphTimer timer(device.stream());
  row.microseconds = timer.microseconds([&] { operation.run(in_frame, out_frame); });
  row.copy_microseconds = timer.microseconds(
      [&] { enqueue_plain_copy(device.stream(), in.data(), out.data(), test.in.bytes); });
  return row;
}

}  // namespace cudavision::bench
