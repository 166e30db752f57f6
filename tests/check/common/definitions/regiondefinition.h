// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <vector>

#include "cuda/regions/regions.h"
#include "tests/check/common/elementundertest.h"
#include "tests/check/common/pictures/picture.h"

/// The expected output of elements that work in regions of a frame.
namespace check {

using Regions = cudavision::regions::Parameters;
using Box = cudavision::regions::Box;
using RegionShape = cudavision::regions::Shape;

/// Returns rectangular regions with hard edges.
Regions rectangles(const std::vector<Box>& boxes);

/// Formats the regions as properties, in pixels.
Properties properties_of(const Regions& regions);

/// Blends the processed picture into the regions of the original. The format must be native.
/// `distances`: each pixel's distance from the masks (masks.h), if there are any.
Picture in_regions(const Picture& original, const Picture& processed, const Regions& regions,
                   const std::vector<std::uint8_t>& distances = {});

using Process = std::function<Picture(const Picture&)>;

/// Like the function above, but for any format. `process` gets the original in a native format or,
/// if the element equalises RGB of more than 8 bits, its luminance.
Picture in_regions(const Picture& original, const Process& process, const Regions& regions,
                   bool equalizes, const std::vector<std::uint8_t>& distances = {});

}  // namespace check
