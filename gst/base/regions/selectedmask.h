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

/// A mask with its selected region ids. Without a picture, there is no mask.
struct SelectedMask {
  OwnedBuffer picture;
  FrameFormat format;  ///< GRAY8 or GRAY16_LE
  regions::Box box;
  std::vector<std::uint32_t> ids;  ///< bit set of the selected ids, as in regions::Mask
  bool known = false;              ///< the mask lists a selected id, or lists no ids
  int side = 0;                    ///< in pixels, for RegionFinder::largest_side()

  SelectedMask copy() const;
};

/// Selects ids of a mask: ids with a class if accepts_class() returns true and, if
/// `unclassified` is true, ids without a class except 0, the background. Returns nullopt if no id
/// is selected, or if the mask covers no area. Throws ElementError if the mask is not supported.
std::optional<SelectedMask> select_ids(const FrameDetections& found, const DetectedMask& mask,
                                       bool unclassified,
                                       const std::function<bool(const MaskRegion&)>& accepts_class);

}  // namespace cudavision
