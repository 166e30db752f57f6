// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/kernels/repack/repack_case.h"

namespace cudavision::bench {

/// A conversion to measure.
struct RepackSubject {
  const char* storage;
  repack::UnpackedForm form;
  bool packs;
  int width, height;

  test::RepackCase make_case() const {
    return test::plain_repack_case(width, height, {storage, form, packs}, test::Content::natural,
                                   3);
  }
  std::string name() const { return std::string(packs ? "to " : "from ") + storage; }
};

constexpr RepackSubject repack_subjects[] = {
    {"RGB10A2", repack::UnpackedForm::channels, false, 1920, 1080},
    {"RGB10A2", repack::UnpackedForm::channels, true, 1920, 1080},
    {"GRAY16_BE", repack::UnpackedForm::channels, false, 1920, 1080},
    {"GBR_12", repack::UnpackedForm::luminance, false, 1920, 1080},
    {"RGBA64", repack::UnpackedForm::adjustable_luminance, false, 1920, 1080},
    {"RGBA64", repack::UnpackedForm::adjustable_luminance, true, 1920, 1080},
    {"RGB10A2", repack::UnpackedForm::adjustable_luminance, false, 3840, 2160},
    {"RGB10A2", repack::UnpackedForm::adjustable_luminance, true, 3840, 2160},
};

}  // namespace cudavision::bench
