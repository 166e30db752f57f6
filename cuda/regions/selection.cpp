// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/regions/selection.h"

#include <cstdlib>
#include <string>

#include "cuda/core/layoutcheck.h"

namespace cudavision::regions {
namespace {

void check_extent(const char* operation, int pixels, const char* what) {
  if (pixels < 0 || pixels > Parameters::max_extent)
    refuse(operation, std::string(what) + " of " + std::to_string(pixels) +
                          " pixels; it must be between 0 and 65535");
}

void check_parameters(const char* operation, const Parameters& parameters) {
  check_extent(operation, parameters.margin, "a margin");
  check_extent(operation, parameters.feather, "a feather");
  if (parameters.count < 0 || parameters.count > Parameters::max_count)
    refuse(operation, std::to_string(parameters.count) + " regions; there may be at most 1024");
  for (int i = 0; i < parameters.count; ++i) {
    const Box& box = parameters.boxes[i];
    for (const int coordinate : {box.x0, box.y0, box.x1, box.y1})
      if (std::abs(coordinate) > Parameters::max_coordinate)
        refuse(operation, "region " + std::to_string(i) + " has a coordinate of " +
                              std::to_string(coordinate) +
                              "; it must be between -1048576 and 1048576");
  }
}

}  // namespace

Selection select(const char* operation, int width, int height, const Parameters& parameters) {
  check_parameters(operation, parameters);
  Selection selection;
  selection.active = ActiveCells(width, height);
  for (int i = 0; i < parameters.count; ++i) {
    if (parameters.boxes[i].empty())
      continue;
    const Region region = region_of(parameters.boxes[i], parameters.margin);
    selection.active.add(grown(region.box, parameters.feather));
    selection.regions.regions[selection.regions.count++] = region;
  }
  selection.everywhere = parameters.invert;
  return selection;
}

}  // namespace cudavision::regions
