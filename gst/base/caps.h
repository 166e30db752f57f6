// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudavision {

/// What the other side of an element may have when one has caps: the same frames, in either kind of
/// memory; without CUDA memory where cuda is false. The caller owns the result.
GstCaps* caps_of_other_side(GstCaps* caps, GstCaps* filter, bool cuda);

/// Reduces the caps that an element could put out on src to the structure that it is going to: CUDA
/// memory exactly where the peer names it. Takes caps, and the caller owns the result.
GstCaps* choose_memory(GstCaps* caps, GstPad* src);

}  // namespace cudavision
