// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu_rows.h"
#include "tests/bench/mosaic_subjects.h"

namespace cudavision::bench {
namespace {

void measure_mosaic(benchmark::State& state, const MosaicSubject& subject) {
  const auto device = make_cpu_device();
  const test::MosaicCase test = subject.make_case();
  const test::MosaicCase::Frames frames(*device, test);
  mosaic::Mosaic mosaic(*device, test.layout, test.parameters);
  for ([[maybe_unused]] auto _ : state)
    mosaic.run(frames.in, frames.out);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(test.in.bytes));
}

}  // namespace

void add_cpu_mosaic(CpuRows& rows) {
  for (const MosaicSubject& subject : mosaic_subjects)
    rows.add(subject.name() + "/" + subject.layout + "/" + std::to_string(subject.width) + "x" +
                 std::to_string(subject.height),
             measure_mosaic, subject);
}

}  // namespace cudavision::bench
