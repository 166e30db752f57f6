// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/kernels/repack/repack_case.h"

namespace cudavision::bench {

/// A conversion to measure. `required` is the time in µs that the project requires on an NVIDIA
/// H200, or 0.
struct RepackSubject {
  const char* storage;
  repack::UnpackedForm form;
  bool packs;
  int width, height;
  double required;

  test::RepackCase make_case() const {
    return test::plain_repack_case(width, height, {storage, form, packs}, test::Content::natural,
                                   3);
  }
  std::string name() const { return std::string(packs ? "to " : "from ") + storage; }
};

constexpr RepackSubject repack_subjects[] = {
    {"RGB10A2", repack::UnpackedForm::channels, false, 1920, 1080, 0},
    {"RGB10A2", repack::UnpackedForm::channels, true, 1920, 1080, 0},
    {"GRAY16_BE", repack::UnpackedForm::channels, false, 1920, 1080, 2.5},
    {"GBR_12", repack::UnpackedForm::luminance, false, 1920, 1080, 4},
    {"RGBA64", repack::UnpackedForm::adjustable_luminance, false, 1920, 1080, 8},
    {"RGBA64", repack::UnpackedForm::adjustable_luminance, true, 1920, 1080, 9},
    {"RGB10A2", repack::UnpackedForm::adjustable_luminance, false, 3840, 2160, 25},
    {"RGB10A2", repack::UnpackedForm::adjustable_luminance, true, 3840, 2160, 30},
};

}  // namespace cudavision::bench
