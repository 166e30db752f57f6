// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdexcept>

#include "blur_subjects.h"
#include "cuda_rows.h"
#include "device_block.h"
#include "gaussblur_case.h"
#include "graph_timer.h"

namespace cudavision::bench {
namespace {

using test::Content;
using test::CudaTestDevice;
using test::DeviceBlock;

/// What is measured. The times required hold for an NVIDIA H200.
struct Subject {
  const char* layout;
  int width, height;
  GaussBlurParameters parameters;
  double required;
};

const Subject subjects[] = {
    {"GRAY8", 1920, 1080, blur_of_size(5), 2.5},
    {"GRAY8", 3840, 2160, blur_of_size(5), 4.8},
    {"GRAY8", 1920, 1080, blur_of_size(15), 4},
    {"GRAY8", 3840, 2160, blur_of_size(15), 8},
    {"GRAY8", 3840, 2160, blur_of_size(31), 12},
    {"GRAY8", 7680, 4320, blur_of_size(31), 48},
    {"RGBA", 3840, 2160, blur_of_size(15), 28},
    {"RGBA", 3840, 2160, blur_of_size(31), 44},
    {"GRAY8", 3840, 2160, blur_of_sigma(30), 40},
    {"GRAY16", 3840, 2160, blur_of_size(15), 30},
    {"NV12", 3840, 2160, blur_of_size(15), 12},
    {"GRAY8", 1920, 1080, blur_of_size(31), 0},
    {"GRAY8", 1920, 1080, blur_of_size(1023), 0},
    {"GRAY8", 3840, 2160, fine(blur_of_size(15)), 0},
    {"GRAY16", 3840, 2160, blur_of_sigma(30), 0},
    {"NV12", 1920, 1080, blur_of_sigma(1.2), 0},
    {"NV12", 3840, 2160, sharpening(blur_of_sigma(1.2)), 0},
    {"P010", 3840, 2160, blur_of_size(15), 0},
    {"YUY2", 1920, 1080, blur_of_size(15), 0},
    {"RGB", 1920, 1080, blur_of_size(15), 0},
    {"RGBx", 1920, 1080, blur_of_size(15), 0},
};

Row measure(const CudaTestDevice& device, const Subject& subject) {
  const test::GaussBlurCase test =
      test::plain_gaussblur_case(test::layout_named(subject.layout, subject.width, subject.height),
                                 subject.parameters, Content::natural, 3);
  Row row{blur_name(subject.parameters), subject.layout, subject.width, subject.height,
          test::name(test.content)};
  row.required = subject.required;

  const auto input = test::input_block(test);
  const auto cpu = make_cpu_device();
  const std::string difference =
      test::difference(test, test::GaussBlurRunner(*cpu, test).run(input, 0),
                       test::GaussBlurRunner(*device, test).run(input, 0));
  if (!difference.empty())
    throw std::runtime_error(row.operation + ", " + describe(test) +
                             ": CUDA differs from the CPU: " + difference);

  const DeviceBlock<std::uint8_t> in(*device, input);
  const DeviceBlock<std::uint8_t> out(*device, std::vector<std::uint8_t>(test.out.bytes));
  const ConstFrame in_frame =
      frame_in(test.layout, test.in, static_cast<const std::uint8_t*>(in.data()));
  const Frame out_frame = frame_in(test.layout, test.out, out.data());
  GaussBlur blur(*device, test.layout, test.parameters);
  const GraphTimer timer(device.stream());
  row.microseconds = timer.microseconds([&] { blur.run(in_frame, out_frame); });
  row.copy_microseconds = timer.microseconds(
      [&] { enqueue_plain_copy(device.stream(), in.data(), out.data(), test.in.bytes); });
  return row;
}

}  // namespace

std::vector<Row> measure_blur(const CudaTestDevice& device) {
  std::vector<Row> rows;
  for (const Subject& subject : subjects)
    rows.push_back(measure(device, subject));
  return rows;
}

}  // namespace cudavision::bench
