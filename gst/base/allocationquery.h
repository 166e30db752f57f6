// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstddef>

#include "gst/base/devicesession.h"
#include "gst/core/videoformat.h"

namespace cudavision {

/// Answers an ALLOCATION query from upstream: offers a pool of frames that the device reads without
/// a copy on the host, and support for GstVideoMeta. The element still keeps `kept` of them when
/// upstream makes the next one. Returns false if the query has no caps that this element supports.
bool propose_pool(GstQuery* query, const DeviceSession& session, std::size_t kept);

/// Completes downstream's answer to our ALLOCATION query, for frames of format, so that it names a
/// configured pool: downstream's if that fits the negotiated memory, else one of ours. Throws
/// ElementError if there is no memory for frames.
void decide_pool(GstQuery* query, const DeviceSession& session, const FrameFormat& format);

/// Throws the ElementError for an output frame of format that its pool has no memory for.
[[noreturn]] void refuse_output(const FrameFormat& format);

}  // namespace cudavision
