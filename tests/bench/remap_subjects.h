// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "tests/kernels/remap/remap_case.h"

namespace cudavision::bench {

/// A remap to measure, through a lens as rectification has it. 8 % of the output have no source,
/// and 16 % of the segments meet an edge.
struct RemapSubject {
  const char* layout;
  int width, height;

  test::RemapCase make_case() const {
    return test::plain_remap_case(test::layout_named(layout, width, height),
                                  {test::MapKind::lens, 31}, test::Content::natural, 3);
  }
};

constexpr RemapSubject remap_subjects[] = {
    {"GRAY8", 640, 480}, {"GRAY8", 1920, 1080}, {"GRAY8", 3840, 2160}, {"GRAY16", 1920, 1080}};

/// Returns the only plane of a case's frame, whose samples are contiguous.
inline SamplePlane plane_of(const test::RemapCase& test, const ConstFrame& frame) {
  return {frame.planes[0], test.layout.width, test.layout.bits, test.layout.shift};
}

}  // namespace cudavision::bench
