// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <array>
#include <cstdint>

#include "gst/core/videoformat.h"

namespace cudavision {

/// The samples of a colour, one for each channel of a format.
using ColorSamples = std::array<std::uint16_t, FrameLayout::max_channels>;

/// Converts a colour to a format. argb holds 8 bits each of alpha (highest), red, green and blue.
/// With r, g, b, a from 0 to 1 and the format's largest sample P:
///   RGB     P·r, P·g, P·b, P·a
///   luma    Y = low + (high − low)·y,  y = Kr·r + (1 − Kr − Kb)·g + Kb·b
///   chroma  U = 2^(bits−1) + S·(b − y)/(2 − 2·Kb),  V = 2^(bits−1) + S·(r − y)/(2 − 2·Kr)
/// low, high and the chroma span S (P in full range, 224·2^(bits−8) in limited range) follow from
/// the range in the caps; Kr and Kb follow from their matrix (BT.601 if they name none). The
/// arithmetic is exact, rounded once to the nearest integer with halves up, and clamped to 0…P.
ColorSamples color_samples(const FrameFormat& format, guint32 argb);

}  // namespace cudavision
