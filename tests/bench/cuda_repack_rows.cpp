// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdexcept>

#include "tests/bench/cuda_rows.h"
#include "tests/bench/graph_timer.h"
#include "tests/bench/repack_subjects.h"

namespace cudavision::bench {
namespace {

using test::CudaTestDevice;
using test::RepackCase;

/// Compares CUDA's result with the CPU's, and measures the conversion and a copy that reads and
/// writes as many bytes in total.
void measure(const CudaTestDevice& device, const RepackSubject& subject, Row& row) {
  const RepackCase test = subject.make_case();
  const auto input = input_block(test);
  const auto cpu = make_cpu_device();
  const std::string different = difference(test, test::Runner<RepackCase>(*cpu, test).run(input, 0),
                                           test::Runner<RepackCase>(*device, test).run(input, 0));
  if (!different.empty())
    throw std::runtime_error(describe(test) + ": CUDA differs from the CPU: " + different);

  const RepackCase::Frames frames(*device, test);
  auto operation = test.make(*device, test.parameters);
  const std::size_t copied = (test.in.bytes + test.out.bytes) / 2 / 16 * 16;
  const Buffer from = device->allocate(copied), to = device->allocate(copied);
  const GraphTimer timer(device.stream());
  row.microseconds = timer.microseconds([&] { frames.run(operation); });
  row.copy_microseconds = timer.microseconds(
      [&] { enqueue_plain_copy(device.stream(), from.data(), to.data(), copied); });
}

}  // namespace

void add_cuda_repack(CudaRows& rows) {
  for (const RepackSubject& subject : repack_subjects) {
    Row row{"repack", subject.name(), subject.width, subject.height,
            test::name(subject.make_case().content)};
    row.required = subject.required;
    rows.add(row, [subject](const CudaTestDevice& device, Row& measured) {
      measure(device, subject, measured);
    });
  }
}

}  // namespace cudavision::bench
