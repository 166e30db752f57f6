// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <vector>

#include "gst/core/tensors.h"
#include "gst/core/videoformat.h"
#include "gst/integral/integralsettings.h"

/// Tables as tensors of depth 1.
namespace cudavision {

Structure table_structure(const std::vector<integral::TableElement>& elements);

/// caps must be fixed. Throws ElementError if they are not a table's, or too large for a pool.
FrameFormat tensor_format_from_caps(const GstCaps* caps);

}  // namespace cudavision
