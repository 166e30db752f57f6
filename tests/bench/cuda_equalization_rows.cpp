// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdexcept>

#include "tests/bench/cuda_rows.h"
#include "tests/bench/graph_timer.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/histequalize/histequalize_case.h"

namespace cudavision::bench {
namespace {

using test::Content;
using test::CudaTestDevice;
using test::DeviceBlock;
using Parameters = histequalize::Parameters;

/// An operation to measure. `required` is the time in µs that the project requires on an NVIDIA
/// H200 for a natural picture, or 0 if there is none. With any_content, all other contents are
/// measured as well and may take 1.3 times as long.
struct Subject {
  enum class Operation { equalize, equalize_each, smoothed, smoothed_each, histogram } operation;
  const char* layout;
  int width, height;
  double required;
  bool any_content;
};

constexpr Subject subjects[] = {
    {Subject::Operation::equalize, "GRAY8", 640, 480, 3.5, true},
    {Subject::Operation::equalize, "GRAY8", 1920, 1080, 4.5, true},
    {Subject::Operation::equalize, "GRAY8", 3840, 2160, 7.5, true},
    {Subject::Operation::equalize, "GRAY8", 7680, 4320, 32, true},
    {Subject::Operation::equalize, "GRAY16", 3840, 2160, 25, true},
    {Subject::Operation::histogram, "RGBx", 1920, 1080, 5, false},
    {Subject::Operation::histogram, "RGBx", 3840, 2160, 10, false},
    {Subject::Operation::histogram, "RGBx", 7680, 4320, 38, false},
    {Subject::Operation::equalize, "NV12", 1920, 1080, 0, false},
    {Subject::Operation::equalize, "NV12", 3840, 2160, 0, false},
    {Subject::Operation::equalize, "P010", 3840, 2160, 0, false},
    {Subject::Operation::equalize, "YUY2", 1920, 1080, 0, false},
    {Subject::Operation::equalize, "RGB", 1920, 1080, 0, false},
    {Subject::Operation::equalize, "RGBx", 1920, 1080, 0, false},
    {Subject::Operation::equalize, "RGBx", 3840, 2160, 0, false},
    {Subject::Operation::equalize_each, "RGBx", 3840, 2160, 0, false},
    {Subject::Operation::smoothed, "GRAY8", 640, 480, 0, false},
    {Subject::Operation::smoothed, "GRAY8", 1920, 1080, 0, false},
    {Subject::Operation::smoothed, "GRAY8", 3840, 2160, 0, false},
    {Subject::Operation::smoothed, "GRAY16", 3840, 2160, 0, false},
    {Subject::Operation::smoothed, "NV12", 3840, 2160, 0, false},
    {Subject::Operation::smoothed, "P010", 3840, 2160, 0, false},
    {Subject::Operation::smoothed, "RGBx", 3840, 2160, 0, false},
    {Subject::Operation::smoothed_each, "RGBx", 3840, 2160, 0, false},
};

constexpr Content contents[] = {Content::natural, Content::random, Content::flat,
                                Content::two_valued};

const char* name(Subject::Operation operation) {
  switch (operation) {
    case Subject::Operation::equalize:
      return "equalise";
    case Subject::Operation::equalize_each:
      return "equalise each";
    case Subject::Operation::smoothed:
      return "equalise with smoothing";
    case Subject::Operation::smoothed_each:
      return "equalise each with smoothing";
    default:
      return "luminance histogram";
  }
}

bool is_smoothed(Subject::Operation operation) {
  return operation == Subject::Operation::smoothed ||
         operation == Subject::Operation::smoothed_each;
}

/// Describes how two frames of a video differ between the devices.
std::string difference_with_smoothing(const CudaTestDevice& device,
                                      const test::HistEqualizeCase& test) {
  test::SmoothedSequence<test::HistEqualizeCase> sequence;
  sequence.steps.resize(2, {test, test::input_block(test)});
  const auto cpu = make_cpu_device();
  return test::difference(sequence, run_sequence(*cpu, sequence, 0),
                          run_sequence(*device, sequence, 0));
}

std::string difference_from_cpu(const CudaTestDevice& device, const test::HistEqualizeCase& test) {
  const auto input = test::input_block(test);
  const auto cpu = make_cpu_device();
  return test::difference(test, test::HistEqualizeRunner(*cpu, test).run(input, 0),
                          test::HistEqualizeRunner(*device, test).run(input, 0));
}

Row row_of(const Subject& subject, Content content) {
  Row row{name(subject.operation), subject.layout, subject.width, subject.height,
          test::name(content)};
  row.required = content == Content::natural ? subject.required
                 : subject.any_content       ? 1.3 * subject.required
                                             : 0;
  return row;
}

void measure(const CudaTestDevice& device, const Subject& subject, Content content, Row& row) {
  test::HistEqualizeCase test = test::plain_histequalize_case(
      test::layout_named(subject.layout, subject.width, subject.height), content, 3);
  if (subject.operation == Subject::Operation::equalize_each ||
      subject.operation == Subject::Operation::smoothed_each)
    test.parameters.channels = Parameters::Channels::each;
  if (is_smoothed(subject.operation))
    test.smoothing = {2570, 16384};  // a time constant of one second at 25 frames for each second

  const std::string difference =
      test.smoothing ? difference_with_smoothing(device, test) : difference_from_cpu(device, test);
  if (!difference.empty())
    throw std::runtime_error(row.operation + ", " + describe(test) +
                             ": CUDA differs from the CPU: " + difference);

  const DeviceBlock<std::uint8_t> in(*device, test::input_block(test));
  const DeviceBlock<std::uint8_t> out(*device, std::vector<std::uint8_t>(test.out.bytes));
  const int bin_count = 1 << test.layout.bits;
  const DeviceBlock<std::uint32_t> bins(*device, std::vector<std::uint32_t>(bin_count));
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data()));
  const Frame out_frame = frame_in(test.layout, test.out, out.data());

  const GraphTimer timer(device.stream());
  if (subject.operation == Subject::Operation::histogram) {
    histequalize::Histogram histogram(*device, test.layout);
    row.microseconds = timer.microseconds([&] {
      histogram.run(in_frame, {bins.data(), bin_count, 1, bin_count * std::ptrdiff_t{4}});
    });
  } else {
    histequalize::HistogramEqualize equalize(*device, test.layout, test.parameters);
    const auto run = [&] { equalize.run(in_frame, out_frame, {}, test.smoothing); };
    run();  // the first frame of an average takes one launch less
    row.microseconds = timer.microseconds(run);
  }
  row.copy_microseconds = timer.microseconds(
      [&] { enqueue_plain_copy(device.stream(), in.data(), out.data(), test.in.bytes); });
}

}  // namespace

void add_cuda_equalization(CudaRows& rows) {
  for (const Subject& subject : subjects)
    for (const Content content : contents)
      if (content == Content::natural || subject.required > 0)
        rows.add(row_of(subject, content), [=](const CudaTestDevice& device, Row& row) {
          measure(device, subject, content, row);
        });
}

}  // namespace cudavision::bench
