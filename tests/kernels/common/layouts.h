// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "cuda/core/frame.h"

namespace cudavision::test {

/// A way to lay a picture out in planes, at any size.
struct LayoutKind {
  std::string name;
  FrameLayout (*make)(int width, int height);
};

/// Every layout that a video format of the elements has, under the format's name, and then some
/// that no format has but the operations' contract allows.
const std::vector<LayoutKind>& layout_kinds();

/// The layout of that name; a name that does not exist is a fault of the test and ends it.
FrameLayout layout_named(const std::string& name, int width, int height);

/// One channel of the given depth, alone in its plane.
FrameLayout gray_layout(int width, int height, int bits = 8, int shift = 0);

inline bool is_rgb(const FrameLayout& layout) {
  return layout.find(Role::luma) < 0;
}

}  // namespace cudavision::test
