// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/sgmstereo/pairing/peekedbuffer.h"
#include "gst/sgmstereo/pipeline/stereostream.h"

namespace cudavision {

/// Computes the outputs for a pair whose formats and src caps are known. If no more pairs may be in
/// flight, pushes the oldest, see stereo_push_pairs(). right is nullptr if frames are packed. Only
/// the aggregating thread may call this. Throws.
GstFlowReturn stereo_push_output(StereoStream& stream, PeekedBuffer& left, PeekedBuffer* right);

}  // namespace cudavision
