// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <cstdint>

#include "gst/core/videoformat.h"

namespace cudavision {

/// One sample for each channel of a format.
using ColorSamples = std::array<std::uint16_t, FrameLayout::max_channels>;

/// Converts the colour 0xAARRGGBB to a format. With r, g, b, a from 0 to 1 and the format's largest
/// sample P:
///   RGB     P·r, P·g, P·b, P·a
///   luma    Y = low + (high − low)·y,  y = Kr·r + (1 − Kr − Kb)·g + Kb·b
///   chroma  U = 2^(bits−1) + S·(b − y)/(2 − 2·Kb),  V = 2^(bits−1) + S·(r − y)/(2 − 2·Kr)
/// S is P in full range and 224·2^(bits−8) in limited range. The colour matrix in the caps
/// (default: BT.601) gives Kr and Kb. The exact result is rounded once, halves up, and clamped to
/// 0…P.
ColorSamples color_samples(const FrameFormat& format, guint32 argb);

}  // namespace cudavision
