// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdexcept>
#include <utility>

#include "tests/bench/cuda_rows.h"
#include "tests/bench/graph_timer.h"
#include "tests/bench/remap_subjects.h"
#include "tests/kernels/remap/pictureremap_case.h"

namespace cudavision::bench {
namespace {

using test::CudaTestDevice;
using test::RemapCase;
using test::RemapRunner;

/// Bytes of the map for each pixel of the output.
constexpr std::size_t map_bytes = 4;

/// Compares CUDA's result with the CPU's, and measures the operation and a copy that reads and
/// writes as many bytes in total.
void measure(const CudaTestDevice& device, const RemapSubject& subject, Row& row) {
  const RemapCase test = subject.make_case();
  const auto input = input_block(test);
  const auto cpu = make_cpu_device();
  const std::string different = difference(test, RemapRunner(*cpu, test).run(input, 0),
                                           RemapRunner(*device, test).run(input, 0));
  if (!different.empty())
    throw std::runtime_error(describe(test) + ": CUDA differs from the CPU: " + different);

  const RemapCase::Frames frames(*device, test);
  remap::Remap remap(*device, {subject.width, subject.height, test.layout.bits}, test.map().view());
  const SamplePlane in = plane_of(test, frames.in);
  const std::size_t pixels =
      static_cast<std::size_t>(subject.width) * static_cast<std::size_t>(subject.height);
  const std::size_t copied = (test.in.bytes + test.out.bytes + map_bytes * pixels) / 2 / 16 * 16;
  const Buffer from = device->allocate(copied), to = device->allocate(copied);
  const GraphTimer timer(device.stream());
  row.microseconds = timer.microseconds([&] { remap.run(in); });
  row.copy_microseconds = timer.microseconds(
      [&] { enqueue_plain_copy(device.stream(), from.data(), to.data(), copied); });
}

/// Likewise for all channels of a picture, as the rectified output of stereo has them.
void measure_picture(const CudaTestDevice& device, Row& row) {
  using test::PictureRemapCase;
  const auto test =
      test::plain_case<PictureRemapCase>(test::layout_named(row.format, row.width, row.height),
                                         {test::MapKind::lens, 31, 16}, test::Content::natural, 3);
  const auto input = input_block(test);
  const auto cpu = make_cpu_device();
  const std::string different =
      difference(test, test::Runner<PictureRemapCase>(*cpu, test).run(input, 0),
                 test::Runner<PictureRemapCase>(*device, test).run(input, 0));
  if (!different.empty())
    throw std::runtime_error(describe(test) + ": CUDA differs from the CPU: " + different);

  const PictureRemapCase::Frames frames(*device, test);
  test::RemappedPicture remap(*device, test.layout, test.parameters);
  const std::size_t pixels =
      static_cast<std::size_t>(row.width) * static_cast<std::size_t>(row.height);
  const std::size_t copied = (test.in.bytes + test.out.bytes + map_bytes * pixels) / 2 / 16 * 16;
  const Buffer from = device->allocate(copied), to = device->allocate(copied);
  const GraphTimer timer(device.stream());
  row.microseconds = timer.microseconds([&] { remap.run(frames.in, frames.out); });
  row.copy_microseconds = timer.microseconds(
      [&] { enqueue_plain_copy(device.stream(), from.data(), to.data(), copied); });
}

}  // namespace

void add_cuda_remap(CudaRows& rows) {
  const char* content = test::name(test::Content::natural);
  for (const RemapSubject& subject : remap_subjects)
    rows.add({"remap", subject.layout, subject.width, subject.height, content},
             [subject](const CudaTestDevice& device, Row& row) { measure(device, subject, row); });
  // The times in µs that the project requires on an NVIDIA H200.
  const std::pair<const char*, double> pictures[] = {{"NV12", 6}, {"P010", 8}, {"BGRA", 9}};
  for (const auto& [layout, required] : pictures) {
    Row row{"remap of pictures", layout, 1920, 1080, content};
    row.required = required;
    rows.add(row, measure_picture);
  }
}

}  // namespace cudavision::bench
