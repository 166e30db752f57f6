// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cuda_rows.h"
#include "tests/bench/frame_row.h"
#include "tests/bench/guided_subjects.h"
#include "tests/kernels/guided/guided_case.h"

namespace cudavision::bench {
namespace {

/// A filter to measure. `required` is the time in µs that the project requires on an NVIDIA H200,
/// or 0 if there is none.
struct Subject {
  const char* layout;
  int width, height;
  guided::Parameters parameters;
  double required;
};

const Subject subjects[] = {
    {"GRAY8", 1920, 1080, {8, 100}, 0},   {"GRAY8", 3840, 2160, {2, 100}, 45},
    {"GRAY8", 3840, 2160, {8, 100}, 45},  {"GRAY8", 3840, 2160, {16, 100}, 0},
    {"GRAY8", 3840, 2160, {50, 100}, 0},  {"GRAY8", 3840, 2160, {100, 100}, 0},
    {"GRAY8", 3840, 2160, {500, 100}, 0}, {"NV12", 1920, 1080, {8, 100}, 0},
    {"NV12", 3840, 2160, {8, 100}, 0},    {"P010", 3840, 2160, {8, 100}, 0},
    {"RGBA", 1920, 1080, {8, 100}, 0},    {"RGB", 3840, 2160, {8, 100}, 0},
    {"GRAY16", 3840, 2160, {8, 100}, 0},
};

}  // namespace

void add_cuda_guided(CudaRows& rows) {
  for (const Subject& subject : subjects) {
    const auto test =
        test::plain_guided_case(test::layout_named(subject.layout, subject.width, subject.height),
                                subject.parameters, test::Content::natural, 3);
    add_frame_row<guided::Guided, test::GuidedRunner>(rows, guided_name(subject.parameters),
                                                      subject.layout, test, subject.required);
  }
}

}  // namespace cudavision::bench
