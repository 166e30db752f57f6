// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cuda_rows.h"
#include "tests/bench/frame_row.h"
#include "tests/bench/nlmeans_subjects.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"

namespace cudavision::bench {
namespace {

/// A denoising to measure. `required` is the time in µs that the project requires on an NVIDIA
/// H200, or 0 if there is none.
struct Subject {
  const char* layout;
  int width, height;
  nlmeans::Parameters parameters;
  double required;
};

const Subject subjects[] = {
    {"GRAY8", 1920, 1080, {21, 7, 10}, 500},
    {"GRAY8", 1920, 1080, {21, 7, 60}, 0},
    {"GRAY8", 1920, 1080, {21, 5, 10}, 0},
    {"GRAY8", 1920, 1080, {35, 7, 10}, 0},
    {"GRAY8", 1920, 1080, {21, 9, 10}, 900},
    {"GRAY8", 3840, 2160, {21, 7, 10}, 0},
    {"NV12", 1920, 1080, {21, 7, 10}, 700},
    {"RGB", 640, 480, {21, 7, 10}, 0},
    {"GRAY16", 1920, 1080, {21, 7, 10}, 1400},
    {"GRAY8", 1920, 1080, test::with_frames({21, 7, 10}, 3), 1227},
    {"GRAY8", 1920, 1080, test::with_frames({21, 7, 10}, 5), 0},
    {"NV12", 1920, 1080, test::with_frames({21, 7, 10}, 3), 0},
};

}  // namespace

void add_cuda_nlmeans(CudaRows& rows) {
  for (const Subject& subject : subjects) {
    const auto test =
        test::plain_nlmeans_case(test::layout_named(subject.layout, subject.width, subject.height),
                                 subject.parameters, test::Content::natural, 3);
    add_frame_row<nlmeans::NlMeans, test::NlMeansRunner>(rows, nlmeans_name(subject.parameters),
                                                         subject.layout, test, subject.required);
  }
}

}  // namespace cudavision::bench
