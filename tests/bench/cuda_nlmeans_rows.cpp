// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cuda_rows.h"
#include "tests/bench/frame_row.h"
#include "tests/bench/nlmeans_subjects.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"

namespace cudavision::bench {
namespace {

using test::CudaTestDevice;

/// A denoising to measure. `required` is the time in µs that the project requires on an NVIDIA
/// H200, or 0 if there is none.
struct Subject {
  const char* layout;
  int width, height;
  nlmeans::Parameters parameters;
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
  const auto test =
      test::plain_nlmeans_case(test::layout_named(subject.layout, subject.width, subject.height),
                               subject.parameters, test::Content::natural, 3);
  return frame_row<nlmeans::NlMeans, test::NlMeansRunner>(device, nlmeans_name(subject.parameters),
                                                          subject.layout, test, subject.required);
}

}  // namespace

std::vector<Row> measure_nlmeans(const CudaTestDevice& device) {
  std::vector<Row> rows;
  for (const Subject& subject : subjects)
    rows.push_back(measure(device, subject));
  return rows;
}

}  // namespace cudavision::bench
