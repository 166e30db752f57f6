// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/base/devicesession.h"
#include "gst/base/videoformat.h"

namespace cudavision {

/// Answers an ALLOCATION query that came to a sink pad: a pool of frames that the device reads
/// without a copy on the host, and support for GstVideoMeta. False where the query has no caps.
bool propose_pool(GstQuery* query, const DeviceSession& session);

/// Makes the answer to our own ALLOCATION query for frames of format into one that names a
/// configured pool: downstream's where it fits the memory that was negotiated, else one of ours.
/// Throws ElementError where there is no memory for any.
void decide_pool(GstQuery* query, const DeviceSession& session, const FrameFormat& format);

}  // namespace cudavision
