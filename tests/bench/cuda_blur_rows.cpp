// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/blur_subjects.h"
#include "tests/bench/cuda_rows.h"
#include "tests/bench/frame_row.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"

namespace cudavision::bench {
namespace {

/// A blur to measure. `required` is the time in µs that the project requires on an NVIDIA H200, or
/// 0 if there is none.
struct Subject {
  const char* layout;
  int width, height;
  gaussblur::Parameters parameters;
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
    {"GRAY8", 1920, 1080, blur_of_sigma(30), 0},
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

}  // namespace

void add_cuda_blur(CudaRows& rows) {
  for (const Subject& subject : subjects) {
    const auto test = test::plain_gaussblur_case(
        test::layout_named(subject.layout, subject.width, subject.height), subject.parameters,
        test::Content::natural, 3);
    add_frame_row<gaussblur::GaussBlur, test::GaussBlurRunner>(
        rows, blur_name(subject.parameters), subject.layout, test, subject.required);
  }
}

}  // namespace cudavision::bench
