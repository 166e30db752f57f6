// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdexcept>

#include "tests/bench/blur_subjects.h"
#include "tests/bench/cuda_rows.h"
#include "tests/bench/graph_timer.h"
#include "tests/bench/mosaic_subjects.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/regions/regions_case.h"

namespace cudavision::bench {
namespace {

using test::CudaTestDevice;

/// Regions of 200×200 pixels.
struct Regions {
  int count;
  int feather;
};

/// A blur of regions. `required` is the time in µs that the project requires on an NVIDIA H200, or
/// 0 if there is none.
struct Subject {
  const char* layout;
  int width, height;
  gaussblur::Parameters blur;
  Regions regions;
  double required;
};

const Subject subjects[] = {
    {"GRAY8", 3840, 2160, blur_of_size(15), {0, 0}, 3.5},
    {"GRAY8", 3840, 2160, blur_of_size(15), {1, 0}, 4.5},
    {"GRAY8", 3840, 2160, blur_of_size(15), {4, 0}, 5},
    {"GRAY8", 3840, 2160, blur_of_size(15), {4, 16}, 0},
    {"GRAY8", 3840, 2160, blur_of_size(15), {64, 0}, 12},
    {"GRAY8", 3840, 2160, blur_of_sigma(12), {4, 0}, 0},
    {"NV12", 3840, 2160, blur_of_size(15), {0, 0}, 4.5},
    {"NV12", 3840, 2160, blur_of_size(15), {1, 0}, 0},
    {"NV12", 3840, 2160, blur_of_size(15), {4, 0}, 6.5},
    {"NV12", 3840, 2160, blur_of_size(15), {64, 0}, 0},
    {"RGBA", 3840, 2160, blur_of_size(15), {4, 0}, 0},
};

const MosaicSubject mosaics[] = {{"NV12", 3840, 2160, 16}, {"NV12", 3840, 2160, 0}};

/// Spreads the regions over the frame.
regions::Parameters spread(const Regions& regions, int width, int height) {
  regions::Parameters parameters;
  parameters.feather = regions.feather;
  constexpr int side = 200;
  for (; parameters.count < regions.count; ++parameters.count) {
    // Steps with no common divisor with the sides visit all places.
    const int x = (100 + parameters.count * 1237) % (width - side);
    const int y = (80 + parameters.count * 733) % (height - side);
    parameters.boxes[static_cast<std::size_t>(parameters.count)] = {x, y, x + side, y + side};
  }
  return parameters;
}

/// Runs a case's operation and the blend.
template <class Case>
struct RunInRegions {
  RunInRegions(Device& device, const Case& test, const regions::Parameters& selection)
      : operation(device, test.layout, test.parameters),
        blend(device, test.layout, selection),
        scratch(device, std::vector<std::uint8_t>(test.out.bytes)),
        processed(frame_in(test.layout, test.out, scratch.data())) {}

  void run(const ConstFrame& in, const Frame& out) {
    operation.run(in, processed, blend.active());
    blend.run(in, processed, out);
  }

  typename Case::Operation operation;
  regions::RegionBlend blend;
  test::DeviceBlock<std::uint8_t> scratch;
  Frame processed;
};

template <class Case>
std::vector<std::uint8_t> result_of(Device& device, const Case& test,
                                    const regions::Parameters& selection) {
  const typename Case::Frames frames(device, test);
  RunInRegions<Case> operation(device, test, selection);
  operation.run(frames.in, frames.out);
  device.finish();
  return frames.output();
}

template <class Case>
void measure(const CudaTestDevice& device, const Case& test, const Regions& regions, Row& row) {
  const regions::Parameters selection = spread(regions, test.layout.width, test.layout.height);
  const auto cpu = make_cpu_device();
  const std::string different =
      difference(test, result_of(*cpu, test, selection), result_of(*device, test, selection));
  if (!different.empty())
    throw std::runtime_error(row.operation + ": CUDA differs from the CPU: " + different);

  const typename Case::Frames frames(*device, test);
  RunInRegions<Case> operation(*device, test, selection);
  const Buffer from = device->allocate(test.in.bytes), to = device->allocate(test.in.bytes);
  const GraphTimer timer(device.stream());
  row.microseconds = timer.microseconds([&] { operation.run(frames.in, frames.out); });
  row.copy_microseconds = timer.microseconds([&] {
    enqueue_plain_copy(device.stream(), from.data(), to.data(), test.in.bytes / 16 * 16);
  });
}

template <class Case>
void add_row(CudaRows& rows, const std::string& operation_name, const char* layout,
             const Case& test, const Regions& regions, double required) {
  const std::string name =
      operation_name + " in " + std::to_string(regions.count) + " regions" +
      (regions.feather > 0 ? ", feather " + std::to_string(regions.feather) : std::string());
  Row row{name, layout, test.layout.width, test.layout.height, test::name(test.content)};
  row.required = required;
  rows.add(row, [test, regions](const CudaTestDevice& device, Row& measured) {
    measure(device, test, regions, measured);
  });
}

}  // namespace

void add_cuda_regions(CudaRows& rows) {
  for (const Subject& subject : subjects)
    add_row(rows, blur_name(subject.blur), subject.layout,
            test::plain_gaussblur_case(
                test::layout_named(subject.layout, subject.width, subject.height), subject.blur,
                test::Content::natural, 3),
            subject.regions, subject.required);
  for (const MosaicSubject& subject : mosaics)
    add_row(rows, subject.name(), subject.layout, subject.make_case(), Regions{4, 0}, 0);
}

}  // namespace cudavision::bench
