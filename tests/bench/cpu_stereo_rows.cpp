// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cpu_rows.h"
#include "tests/bench/stereo_subjects.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::bench {
namespace {

using test::Content;

struct StereoSubject {
  const char* layout;
  int width, height;
  sgm::Parameters parameters;
};

const StereoSubject subjects[] = {
    {"GRAY8", 640, 480, stereo_of(64, 4)},
    {"GRAY8", 640, 480, cleaned(stereo_of(64, 4))},
    {"GRAY8", 640, 480, stereo_of(64, 8)},
    {"GRAY8", 640, 480, stereo_of(128, 8)},
    {"GRAY8", 640, 480, as_libsgm(stereo_of(128, 8))},
    {"GRAY8", 640, 480, cleaned(stereo_of(128, 8))},
    {"NV12", 1280, 720, stereo_of(128, 8)},
    {"GRAY16", 1280, 720, stereo_of(128, 8)},
    {"GRAY8", 1920, 1080, stereo_of(128, 4)},
    {"GRAY8", 1920, 1080, stereo_of(128, 8)},
};

void measure_stereo(benchmark::State& state, const StereoSubject& subject) {
  const auto device = make_cpu_device();
  const test::SgmFrames frames(
      *device,
      test::plain_sgm_case(test::layout_named(subject.layout, subject.width, subject.height),
                           subject.parameters, Content::natural, 3));
  sgm::SgmStereo stereo(*device, frames.test.layout, frames.test.layout, subject.parameters);
  for ([[maybe_unused]] auto _ : state)
    stereo.run(frames.left, frames.right, frames.disparity);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * subject.width *
                          subject.height * subject.parameters.disparities);
}

}  // namespace

void add_cpu_stereo(CpuRows& rows) {
  for (const StereoSubject& subject : subjects) {
    const std::string name = stereo_name(subject.parameters) + "/" + subject.layout + "/" +
                             std::to_string(subject.width) + "x" + std::to_string(subject.height);
    rows.add(name, measure_stereo, subject);
  }
}

}  // namespace cudavision::bench
