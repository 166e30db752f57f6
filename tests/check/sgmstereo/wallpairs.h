// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/common/stereoharness.h"

namespace check {

constexpr int width = 320, height = 160;

Pair wall(const FormatSpec& format = gray());

Picture moved_down(const Picture& picture, int rows);

/// A pair in one frame, with the left picture at (x, y).
struct PackedPair {
  Picture frame;
  std::string caps;
  int x, y;
};

/// Packs the pair in four ways: side by side and top-bottom, with either picture first.
std::vector<PackedPair> packed_pairs(const Pair& pair);

Properties inspecting(const Properties& more = {});

void send(StereoHarness& stereo, const Pair& pair, int count, GstClockTime first = 0);

void send_eos(StereoHarness& stereo);

/// Returns the warnings for two pairs: at most one, which is not repeated.
std::string warning_for(const Pair& pair, const Properties& properties = {});

void expect_no_warning(const Pair& pair, const Properties& properties = {});

}  // namespace check
