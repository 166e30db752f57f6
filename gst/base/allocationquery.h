// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstddef>

#include "gst/base/devicesession.h"
#include "gst/core/videoformat.h"

namespace cudavision {

/// Answers an ALLOCATION query from upstream. Offers GstVideoMeta and, on request, a pool of frames
/// that the device reads without a copy on the host. The pool has at least min_buffers buffers,
/// because the element holds this many. Returns false without caps and for unsupported frames.
bool propose_pool(GstQuery* query, const DeviceSession& session, std::size_t min_buffers);

/// Puts a configured pool into downstream's answer to our ALLOCATION query: downstream's pool if it
/// supports frames of this format, otherwise our own. Throws ElementError if memory is exhausted.
void decide_pool(GstQuery* query, const DeviceSession& session, const FrameFormat& format);

/// Throws the ElementError for an output pool that cannot allocate another frame.
[[noreturn]] void refuse_output(const FrameFormat& format);

}  // namespace cudavision
