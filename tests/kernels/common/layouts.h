// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "cuda/core/frame.h"

namespace cudavision::test {

struct LayoutKind {
  std::string name;
  FrameLayout (*make)(int width, int height);
};

/// The layouts of common video formats, and unusual layouts that the contracts allow, with names.
const std::vector<LayoutKind>& layout_kinds();

/// The layout of random case `number`. Successive cases have successive layouts.
inline const LayoutKind& layout_kind_of_case(int number) {
  return layout_kinds()[number % layout_kinds().size()];
}

/// Returns the layout with the given name. Throws if there is none.
FrameLayout layout_named(const std::string& name, int width, int height);

FrameLayout gray_layout(int width, int height, int bits = 8, int shift = 0);

/// Returns the first channel with the given role, which must exist.
inline const Channel& channel_of(const FrameLayout& layout, Role role) {
  return layout.channels.at(static_cast<std::size_t>(layout.find(role)));
}

inline bool is_rgb(const FrameLayout& layout) {
  return layout.find(Role::luma) < 0;
}

}  // namespace cudavision::test
