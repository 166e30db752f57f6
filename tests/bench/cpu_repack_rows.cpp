// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu_rows.h"
#include "tests/bench/repack_subjects.h"

namespace cudavision::bench {
namespace {

void measure_repack(benchmark::State& state, const RepackSubject& subject) {
  const auto device = make_cpu_device();
  const test::RepackCase test = subject.make_case();
  const test::RepackCase::Frames frames(*device, test);
  auto operation = test.make(*device, test.parameters);
  for ([[maybe_unused]] auto _ : state)
    frames.run(operation);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(test.in.bytes));
}

}  // namespace

void add_cpu_repack(CpuRows& rows) {
  for (const RepackSubject& subject : repack_subjects) {
    const std::string name = "repack/" + subject.name() + "/" + std::to_string(subject.width) +
                             "x" + std::to_string(subject.height);
    rows.add(name, measure_repack, subject);
  }
}

}  // namespace cudavision::bench
