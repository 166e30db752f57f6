// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu_rows.h"
#include "tests/bench/remap_subjects.h"

namespace cudavision::bench {
namespace {

void measure_remap(benchmark::State& state, const RemapSubject& subject) {
  const auto device = make_cpu_device();
  const test::RemapCase test = subject.make_case();
  const test::RemapCase::Frames frames(*device, test);
  remap::Remap remap(*device, {subject.width, subject.height, test.layout.bits}, test.map().view());
  const SamplePlane in = plane_of(test, frames.in);
  for ([[maybe_unused]] auto _ : state)
    remap.run(in);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(test.in.bytes));
}

}  // namespace

void add_cpu_remap(CpuRows& rows) {
  for (const RemapSubject& subject : remap_subjects) {
    const std::string name = std::string("remap/") + subject.layout + "/" +
                             std::to_string(subject.width) + "x" + std::to_string(subject.height);
    rows.add(name, measure_remap, subject);
  }
}

}  // namespace cudavision::bench
