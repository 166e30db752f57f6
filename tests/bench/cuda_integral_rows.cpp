// SPDX-License-Identifier: LGPL-2.1-or-later
#include <functional>
#include <stdexcept>

#include "tests/bench/cuda_rows.h"
#include "tests/bench/graph_timer.h"
#include "tests/bench/integral_subjects.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/integral/integral_case.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"

namespace cudavision::bench {
namespace {

using test::Content;
using test::CudaTestDevice;
using test::DeviceBlock;
using test::statistics;
using Output = localstatistics::Parameters::Output;

const TableSubject tables[] = {
    {"GRAY8", 640, 480, table_of(integral::TableKind::sum, integral::TableElement::uint32), 3.5},
    {"GRAY8", 1920, 1080, table_of(integral::TableKind::sum, integral::TableElement::uint32), 5.5},
    {"GRAY8", 3840, 2160, table_of(integral::TableKind::sum, integral::TableElement::uint32), 14},
    {"GRAY8", 7680, 4320, table_of(integral::TableKind::sum, integral::TableElement::uint32), 55},
    {"GRAY8", 7680, 4320, table_of(integral::TableKind::sum, integral::TableElement::uint64), 90},
    {"GRAY8", 3840, 2160, table_of(integral::TableKind::sum, integral::TableElement::uint64), 0},
    {"GRAY8", 3840, 2160, table_of(integral::TableKind::sum, integral::TableElement::float32), 0},
    {"GRAY8", 3840, 2160,
     table_of(integral::TableKind::squared_sum, integral::TableElement::uint64), 0},
    {"GRAY8", 3840, 2160,
     table_of(integral::TableKind::squared_sum, integral::TableElement::float64), 0},
    {"GRAY8", 1920, 1080, table_of(integral::TableKind::tilted_sum, integral::TableElement::uint32),
     0},
    {"GRAY8", 3840, 2160, table_of(integral::TableKind::tilted_sum, integral::TableElement::uint32),
     30},
    {"GRAY16", 3840, 2160, table_of(integral::TableKind::sum, integral::TableElement::uint64), 0},
    {"GRAY16", 3840, 2160,
     table_of(integral::TableKind::squared_sum, integral::TableElement::uint64), 0},
    {"RGBx", 3840, 2160, table_of(integral::TableKind::sum, integral::TableElement::uint32), 0},
};

struct StatisticsSubject {
  const char* layout;
  int width, height;
  localstatistics::Parameters parameters;
  double required;
};

const StatisticsSubject planes[] = {
    {"GRAY8", 3840, 2160, statistics(Output::mean, 1), 7},
    {"GRAY8", 3840, 2160, statistics(Output::mean, 7), 7},
    {"GRAY8", 3840, 2160, statistics(Output::mean, 50), 11},
    {"GRAY8", 3840, 2160, statistics(Output::mean, 500), 11},
    {"GRAY8", 3840, 2160, statistics(Output::stddev, 7), 14},
    {"GRAY8", 3840, 2160, statistics(Output::stddev, 50), 24},
    {"GRAY8", 3840, 2160, statistics(Output::bradley, 50), 12},
    {"GRAY8", 3840, 2160, statistics(Output::sauvola, 50), 28},
    {"GRAY8", 1920, 1080, statistics(Output::mean, 7), 0},
    {"GRAY8", 1920, 1080, statistics(Output::bradley, 50), 0},
    {"GRAY16", 3840, 2160, statistics(Output::mean, 7), 0},
    {"RGBx", 3840, 2160, statistics(Output::mean, 7), 0},
};

/// Measures the GPU times of `work` and of a plain copy of as many bytes as `work` must read and
/// write.
void measure(const CudaTestDevice& device, const std::function<void()>& work, std::size_t in_bytes,
             std::size_t out_bytes, Row& row) {
  const std::size_t bytes = (in_bytes + out_bytes) / 2 / 16 * 16;
  const DeviceBlock<std::uint8_t> from(*device, std::vector<std::uint8_t>(bytes));
  const DeviceBlock<std::uint8_t> to(*device, std::vector<std::uint8_t>(bytes));
  const GraphTimer timer(device.stream());
  row.microseconds = timer.microseconds(work);
  row.copy_microseconds = timer.microseconds(
      [&] { enqueue_plain_copy(device.stream(), from.data(), to.data(), bytes); });
}

void expect_no_difference(const Row& row, const std::string& description,
                          const std::string& difference) {
  if (!difference.empty())
    throw std::runtime_error(row.operation + ", " + description +
                             ": CUDA differs from the CPU: " + difference);
}

void measure(const CudaTestDevice& device, const TableSubject& subject, Row& row) {
  const test::IntegralCase test =
      test::plain_integral_case(test::layout_named(subject.layout, subject.width, subject.height),
                                subject.parameters, Content::natural, 3);
  const auto input = test::input_block(test);
  const auto cpu = make_cpu_device();
  expect_no_difference(row, describe(test),
                       test::difference(test, test::IntegralRunner(*cpu, test).run(input, 0),
                                        test::IntegralRunner(*device, test).run(input, 0)));

  const DeviceBlock<std::uint8_t> in(*device, input);
  const DeviceBlock<std::uint8_t> table(*device, std::vector<std::uint8_t>(test.out.bytes));
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data()));
  const Frame table_frame = frame_in(test.out_layout, test.out, table.data());
  integral::Integral integral(*device, test.layout, test.parameters);
  measure(
      device, [&] { integral.run(in_frame, table_frame.planes[0]); }, test.in.bytes, test.out.bytes,
      row);
}

void measure(const CudaTestDevice& device, const StatisticsSubject& subject, Row& row) {
  const test::LocalStatisticsCase test = test::plain_localstatistics_case(
      test::layout_named(subject.layout, subject.width, subject.height), subject.parameters,
      Content::natural, 3);
  const auto input = test::input_block(test);
  const auto cpu = make_cpu_device();
  expect_no_difference(row, describe(test),
                       test::difference(test, test::LocalStatisticsRunner(*cpu, test).run(input, 0),
                                        test::LocalStatisticsRunner(*device, test).run(input, 0)));

  const DeviceBlock<std::uint8_t> in(*device, input);
  const DeviceBlock<std::uint8_t> out(*device, std::vector<std::uint8_t>(test.out.bytes));
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data()));
  const Frame out_frame = frame_in(test.out_layout, test.out, out.data());
  localstatistics::LocalStatistics operation(*device, test.layout, test.out_layout.bits,
                                             test.parameters);
  measure(
      device, [&] { operation.run(in_frame, out_frame.planes[0]); }, test.in.bytes, test.out.bytes,
      row);
}

template <class Subject>
void add(CudaRows& rows, const std::string& name, const Subject& subject) {
  Row row{name, subject.layout, subject.width, subject.height, test::name(Content::natural)};
  row.required = subject.required;
  rows.add(row, [subject](const CudaTestDevice& device, Row& measured) {
    measure(device, subject, measured);
  });
}

}  // namespace

void add_cuda_integral(CudaRows& rows) {
  for (const TableSubject& subject : tables)
    add(rows, table_name(subject.parameters), subject);
  for (const StatisticsSubject& subject : planes)
    add(rows, statistics_name(subject.parameters), subject);
}

}  // namespace cudavision::bench
