// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdexcept>

#include "tests/bench/blur_subjects.h"
#include "tests/bench/cuda_rows.h"
#include "tests/bench/graph_timer.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/regions/regions_case.h"

namespace cudavision::bench {
namespace {

using test::CudaTestDevice;

/// A blur of regions of 200×200 pixels. `required` is the time in µs that the project requires on
/// an NVIDIA H200, or 0 if there is none.
struct Subject {
  const char* layout;
  int width, height;
  gaussblur::Parameters blur;
  int regions;
  int feather;
  double required;
};

const Subject subjects[] = {
    {"GRAY8", 3840, 2160, blur_of_size(15), 0, 0, 0},
    {"GRAY8", 3840, 2160, blur_of_size(15), 1, 0, 0},
    {"GRAY8", 3840, 2160, blur_of_size(15), 4, 0, 5},
    {"GRAY8", 3840, 2160, blur_of_size(15), 4, 16, 0},
    {"GRAY8", 3840, 2160, blur_of_size(15), 64, 0, 0},
    {"GRAY8", 3840, 2160, blur_of_sigma(12), 4, 0, 0},
    {"NV12", 3840, 2160, blur_of_size(15), 0, 0, 0},
    {"NV12", 3840, 2160, blur_of_size(15), 1, 0, 0},
    {"NV12", 3840, 2160, blur_of_size(15), 4, 0, 0},
    {"NV12", 3840, 2160, blur_of_size(15), 64, 0, 0},
    {"RGBA", 3840, 2160, blur_of_size(15), 4, 0, 0},
};

/// Spreads the regions over the frame.
regions::Parameters regions_of(const Subject& subject) {
  regions::Parameters parameters;
  parameters.feather = subject.feather;
  constexpr int side = 200;
  for (; parameters.count < subject.regions; ++parameters.count) {
    // Steps with no common divisor with the sides visit all places.
    const int x = (100 + parameters.count * 1237) % (subject.width - side);
    const int y = (80 + parameters.count * 733) % (subject.height - side);
    parameters.boxes[static_cast<std::size_t>(parameters.count)] = {x, y, x + side, y + side};
  }
  return parameters;
}

/// Runs the blur and the blend of a case's frames.
struct RegionBlur {
  RegionBlur(Device& device, const test::GaussBlurCase& test, const regions::Parameters& selection)
      : blur(device, test.layout, test.parameters),
        blend(device, test.layout, selection),
        scratch(device, std::vector<std::uint8_t>(test.out.bytes)),
        processed(frame_in(test.layout, test.out, scratch.data())) {}

  void run(const ConstFrame& in, const Frame& out) {
    blur.run(in, processed, blend.active());
    blend.run(in, processed, out);
  }

  gaussblur::GaussBlur blur;
  regions::RegionBlend blend;
  test::DeviceBlock<std::uint8_t> scratch;
  Frame processed;
};

std::vector<std::uint8_t> result_of(Device& device, const test::GaussBlurCase& test,
                                    const regions::Parameters& selection) {
  const test::GaussBlurCase::Frames frames(device, test);
  RegionBlur blur(device, test, selection);
  blur.run(frames.in, frames.out);
  device.finish();
  return frames.output();
}

Row row_of(const Subject& subject) {
  const std::string name =
      blur_name(subject.blur) + " in " + std::to_string(subject.regions) + " regions" +
      (subject.feather > 0 ? ", feather " + std::to_string(subject.feather) : std::string());
  Row row{name, subject.layout, subject.width, subject.height, test::name(test::Content::natural)};
  row.required = subject.required;
  return row;
}

void measure(const CudaTestDevice& device, const Subject& subject, Row& row) {
  const auto test =
      test::plain_gaussblur_case(test::layout_named(subject.layout, subject.width, subject.height),
                                 subject.blur, test::Content::natural, 3);
  const regions::Parameters selection = regions_of(subject);
  const auto cpu = make_cpu_device();
  const std::string different =
      difference(test, result_of(*cpu, test, selection), result_of(*device, test, selection));
  if (!different.empty())
    throw std::runtime_error(row.operation + ": CUDA differs from the CPU: " + different);

  const test::GaussBlurCase::Frames frames(*device, test);
  RegionBlur blur(*device, test, selection);
  const Buffer from = device->allocate(test.in.bytes), to = device->allocate(test.in.bytes);
  const GraphTimer timer(device.stream());
  row.microseconds = timer.microseconds([&] { blur.run(frames.in, frames.out); });
  row.copy_microseconds = timer.microseconds([&] {
    enqueue_plain_copy(device.stream(), from.data(), to.data(), test.in.bytes / 16 * 16);
  });
}

}  // namespace

void add_cuda_regions(CudaRows& rows) {
  for (const Subject& subject : subjects)
    rows.add(row_of(subject),
             [subject](const CudaTestDevice& device, Row& row) { measure(device, subject, row); });
}

}  // namespace cudavision::bench
