// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu_rows.h"
#include "tests/bench/integral_subjects.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/integral/integral_case.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"

namespace cudavision::bench {
namespace {

using test::Content;
using test::DeviceBlock;
using test::statistics;
using Output = localstatistics::Parameters::Output;

const TableSubject tables[] = {
    {"GRAY8", 640, 480, table_of(integral::TableKind::sum, integral::TableElement::uint32)},
    {"GRAY8", 1920, 1080, table_of(integral::TableKind::sum, integral::TableElement::uint32)},
    {"GRAY8", 1920, 1080, table_of(integral::TableKind::sum, integral::TableElement::uint64)},
    {"GRAY8", 1920, 1080, table_of(integral::TableKind::sum, integral::TableElement::float32)},
    {"GRAY8", 1920, 1080,
     table_of(integral::TableKind::squared_sum, integral::TableElement::uint64)},
    {"GRAY8", 1920, 1080,
     table_of(integral::TableKind::squared_sum, integral::TableElement::float64)},
    {"GRAY8", 1920, 1080,
     table_of(integral::TableKind::tilted_sum, integral::TableElement::uint32)},
    {"GRAY8", 3840, 2160, table_of(integral::TableKind::sum, integral::TableElement::uint32)},
    {"GRAY16", 1920, 1080, table_of(integral::TableKind::sum, integral::TableElement::uint64)},
    {"YUY2", 1920, 1080, table_of(integral::TableKind::sum, integral::TableElement::uint32)},
    {"RGBx", 1920, 1080, table_of(integral::TableKind::sum, integral::TableElement::uint32)},
};

struct StatisticsSubject {
  const char* layout;
  int width, height;
  localstatistics::Parameters parameters;
};

const StatisticsSubject planes[] = {
    {"GRAY8", 1920, 1080, statistics(Output::mean, 7)},
    {"GRAY8", 1920, 1080, statistics(Output::mean, 500)},
    {"GRAY8", 1920, 1080, statistics(Output::stddev, 7)},
    {"GRAY8", 1920, 1080, statistics(Output::bradley, 50)},
    {"GRAY8", 1920, 1080, statistics(Output::sauvola, 50)},
    {"GRAY8", 3840, 2160, statistics(Output::mean, 7)},
    {"GRAY16", 1920, 1080, statistics(Output::mean, 7)},
    {"GRAY16", 1920, 1080, statistics(Output::stddev, 7)},
    {"RGBx", 1920, 1080, statistics(Output::mean, 7)},
};

void measure_table(benchmark::State& state, const TableSubject& subject) {
  const test::IntegralCase test =
      test::plain_integral_case(test::layout_named(subject.layout, subject.width, subject.height),
                                subject.parameters, Content::natural, 3);
  const auto device = make_cpu_device();
  const DeviceBlock<std::uint8_t> in(*device, test::input_block(test));
  const DeviceBlock<std::uint8_t> table(*device, std::vector<std::uint8_t>(test.out.bytes));
  integral::Integral integral(*device, test.layout, test.parameters);
  for ([[maybe_unused]] auto _ : state)
    integral.run(frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data())),
                 frame_in(test.out_layout, test.out, table.data()).planes[0]);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(test.in.bytes));
}

void measure_statistics(benchmark::State& state, const StatisticsSubject& subject) {
  const test::LocalStatisticsCase test = test::plain_localstatistics_case(
      test::layout_named(subject.layout, subject.width, subject.height), subject.parameters,
      Content::natural, 3);
  const auto device = make_cpu_device();
  const DeviceBlock<std::uint8_t> in(*device, test::input_block(test));
  const DeviceBlock<std::uint8_t> out(*device, std::vector<std::uint8_t>(test.out.bytes));
  localstatistics::LocalStatistics operation(*device, test.layout, test.out_layout.bits,
                                             test.parameters);
  for ([[maybe_unused]] auto _ : state)
    operation.run(frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data())),
                  frame_in(test.out_layout, test.out, out.data()).planes[0]);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(test.in.bytes));
}

template <class Subject>
std::string row_name(const std::string& operation, const Subject& subject) {
  return operation + "/" + subject.layout + "/" + std::to_string(subject.width) + "x" +
         std::to_string(subject.height);
}

}  // namespace

void add_cpu_integral(CpuRows& rows) {
  for (const TableSubject& subject : tables)
    rows.add(row_name(table_name(subject.parameters), subject), measure_table, subject);
  for (const StatisticsSubject& subject : planes)
    rows.add(row_name(statistics_name(subject.parameters), subject), measure_statistics, subject);
}

}  // namespace cudavision::bench
