// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cuda/regions/regions.h"
#include "gst/base/regions/framedetections.h"
#include "gst/core/scoped.h"
#include "gst/core/videoformat.h"

namespace cudavision {

/// A mask whose region ids partly count, or none: without a picture.
struct SelectedMask {
  OwnedBuffer picture;
  FrameFormat format;  ///< of the picture: GRAY8 or GRAY16_LE
  regions::Box box;
  std::vector<std::uint32_t> ids;  ///< as in regions::Mask
  bool known = false;              ///< the mask names an id that counts
  int side = 0;                    ///< shorter side of the largest object that it covers

  SelectedMask copy() const;
};

/// Selects the ids of a mask that count: those with a class if class_counts(), and those without
/// one if unclassified is true, except 0, which is the background then. Returns nothing if no id
/// counts, or if the mask covers nothing. Throws ElementError if the mask cannot be read.
std::optional<SelectedMask> select_ids(const FrameDetections& found, const DetectedMask& mask,
                                       bool unclassified,
                                       const std::function<bool(const MaskRegion&)>& class_counts);

}  // namespace cudavision
