// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdexcept>

#include "cuda_rows.h"
#include "device_block.h"
#include "graph_timer.h"
#include "nlmeans_case.h"
#include "nlmeans_subjects.h"

namespace cudavision::bench {
namespace {

using test::Content;
using test::CudaTestDevice;
using test::DeviceBlock;

/// What is measured. The times required hold for an NVIDIA H200.
struct Subject {
  const char* layout;
  int width, height;
  NlMeansParameters parameters;
  double required;
};

const Subject subjects[] = {
    {"GRAY8", 1920, 1080, {21, 7, 10}, 1200}, {"GRAY8", 1920, 1080, {21, 7, 60}, 0},
    {"GRAY8", 1920, 1080, {21, 5, 10}, 0},    {"GRAY8", 1920, 1080, {35, 7, 10}, 0},
    {"GRAY8", 1920, 1080, {21, 9, 10}, 0},    {"GRAY8", 3840, 2160, {21, 7, 10}, 0},
    {"NV12", 1920, 1080, {21, 7, 10}, 0},     {"RGB", 640, 480, {21, 7, 10}, 0},
    {"GRAY16", 1920, 1080, {21, 7, 10}, 0},
};

Row measure(const CudaTestDevice& device, const Subject& subject) {
  const test::NlMeansCase test =
      test::plain_nlmeans_case(test::layout_named(subject.layout, subject.width, subject.height),
                               subject.parameters, Content::natural, 3);
  Row row{nlmeans_name(subject.parameters), subject.layout, subject.width, subject.height,
          test::name(test.content)};
  row.required = subject.required;

  const auto input = test::input_block(test);
  const auto cpu = make_cpu_device();
  const std::string difference =
      test::difference(test, test::NlMeansRunner(*cpu, test).run(input, 0),
                       test::NlMeansRunner(*device, test).run(input, 0));
  if (!difference.empty())
    throw std::runtime_error(row.operation + ", " + describe(test) +
                             ": CUDA differs from the CPU: " + difference);

  const DeviceBlock<std::uint8_t> in(*device, input);
  const DeviceBlock<std::uint8_t> out(*device, std::vector<std::uint8_t>(test.out.bytes));
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data()));
  const Frame out_frame = frame_in(test.layout, test.out, out.data());
  NlMeans denoising(*device, test.layout, test.parameters);
  const GraphTimer timer(device.stream());
  row.microseconds = timer.microseconds([&] { denoising.run(in_frame, out_frame); });
  row.copy_microseconds = timer.microseconds(
      [&] { enqueue_plain_copy(device.stream(), in.data(), out.data(), test.in.bytes); });
  return row;
}

}  // namespace

std::vector<Row> measure_nlmeans(const CudaTestDevice& device) {
  std::vector<Row> rows;
  for (const Subject& subject : subjects)
    rows.push_back(measure(device, subject));
  return rows;
}

}  // namespace cudavision::bench
