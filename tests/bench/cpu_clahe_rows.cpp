// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/clahe_subjects.h"
#include "tests/bench/cpu_rows.h"

namespace cudavision::bench {
namespace {

void measure_clahe(benchmark::State& state, const ClaheSubject& subject) {
  const auto device = make_cpu_device();
  const test::ClaheCase test = subject.make_case(test::Content::natural);
  const test::ClaheCase::Frames frames(*device, test);
  clahe::Clahe operation = test.make(*device, test.parameters);
  for ([[maybe_unused]] auto _ : state)
    frames.run(operation);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(test.in.bytes));
}

}  // namespace

void add_cpu_clahe(CpuRows& rows) {
  for (const ClaheSubject& subject : clahe_subjects) {
    const std::string name = clahe_name(subject) + "/" + subject.layout + "/" +
                             std::to_string(subject.width) + "x" + std::to_string(subject.height);
    rows.add(name, measure_clahe, subject);
  }
}

}  // namespace cudavision::bench
