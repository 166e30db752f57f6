// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/regiondefinition.h"

#include <string>

#include "tests/check/common/pictures/nativepicture.h"
#include "tests/kernels/regions/regions_definition.h"

namespace check {

namespace definition = cudavision::test;

Regions rectangles(const std::vector<Box>& boxes) {
  Regions regions;
  for (const Box& box : boxes)
    regions.boxes[static_cast<std::size_t>(regions.count++)] = box;
  return regions;
}

Properties properties_of(const Regions& regions) {
  std::string text;
  for (int i = 0; i < regions.count; ++i) {
    const Box& box = regions.boxes[static_cast<std::size_t>(i)];
    text += std::to_string(box.x0) + "," + std::to_string(box.y0) + "," +
            std::to_string(box.x1 - box.x0) + "," + std::to_string(box.y1 - box.y0) + ";";
  }
  return {{"regions", text},
          {"region-shape", regions.shape == RegionShape::rectangle ? "rectangle" : "ellipse"},
          {"region-margin", std::to_string(regions.margin)},
          {"region-feather", std::to_string(regions.feather)},
          {"region-invert", regions.invert ? "true" : "false"}};
}

Picture in_regions(const Picture& original, const Picture& processed, const Regions& regions,
                   const std::vector<std::uint8_t>& distances) {
  Picture out = original;
  definition::defined_region_blend(layout_of(original), regions, frame_of(original),
                                   frame_of(processed), frame_of(out), distances);
  return out;
}

Picture in_regions(const Picture& original, const Process& process, const Regions& regions,
                   bool equalizes, const std::vector<std::uint8_t>& distances) {
  const auto work = [&](const Picture& in, Picture& out) {
    out = in_regions(in, process(in), regions, distances);
  };
  return equalizes ? in_equalizable_format(original, work) : in_native_format(original, work);
}

}  // namespace check
