// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "cuda/core/frame.h"

namespace cudavision::test {

/// A layout for pictures of any size.
struct LayoutKind {
  std::string name;
  FrameLayout (*make)(int width, int height);
};

/// The layouts of all video formats that the elements accept, named after the formats, and some
/// that no format has but that the operations' contracts allow.
const std::vector<LayoutKind>& layout_kinds();

/// Returns the layout with the given name. Throws if there is none.
FrameLayout layout_named(const std::string& name, int width, int height);

/// One luma channel in a plane of its own.
FrameLayout gray_layout(int width, int height, int bits = 8, int shift = 0);

inline bool is_rgb(const FrameLayout& layout) {
  return layout.find(Role::luma) < 0;
}

}  // namespace cudavision::test
