// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/cuda_rows.h"
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
void measure_frame(const test::CudaTestDevice& device, const Case& test, Row& row) {
  const auto input = input_block(test);
  const auto cpu = make_cpu_device();
  const std::string different =
      difference(test, Runner(*cpu, test).run(input, 0), Runner(*device, test).run(input, 0));
  if (!different.empty())
    throw std::runtime_error(row.operation + ", " + describe(test) +
                             ": CUDA differs from the CPU: " + different);

  const test::DeviceBlock<std::uint8_t> in(*device, input);
  const test::DeviceBlock<std::uint8_t> out(*device, std::vector<std::uint8_t>(test.out.bytes));
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data()));
  const Frame out_frame = frame_in(test.layout, test.out, out.data());
  Operation operation = test.make(*device, test.parameters);
  const GraphTimer timer(device.stream());
  row.microseconds = timer.microseconds([&] { test.enqueue(operation, in_frame, out_frame); });
  row.copy_microseconds = timer.microseconds(
      [&] { enqueue_plain_copy(device.stream(), in.data(), out.data(), test.in.bytes); });
}

/// Adds such a row. `required` is the time in µs that the project requires, or 0.
template <class Operation, class Runner, class Case>
void add_frame_row(CudaRows& rows, const std::string& name, const std::string& layout_name,
                   const Case& test, double required) {
  Row row{name, layout_name, test.layout.width, test.layout.height, test::name(test.content)};
  row.required = required;
  rows.add(row, [test](const test::CudaTestDevice& device, Row& measured) {
    measure_frame<Operation, Runner>(device, test, measured);
  });
}

}  // namespace cudavision::bench
