// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/regions/regionblend.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/regions/backend.h"
#include "cuda/regions/planebytes.h"

namespace cudavision::regions {
namespace {

constexpr char operation[] = "region blending";

void check_extent(int pixels, const Range<int>& range, const char* what) {
  if (!range.contains(pixels))
    refuse(operation, std::string(what) + " of " + std::to_string(pixels) + " pixels; it must be " +
                          text_of(range));
}

void check_coordinates(const Box& box, const char* what, int number) {
  for (const int coordinate : {box.x0, box.y0, box.x1, box.y1})
    if (std::abs(coordinate) > Parameters::max_coordinate)
      refuse(operation, std::string(what) + " " + std::to_string(number) + " has a coordinate of " +
                            std::to_string(coordinate) + "; it must be within ±" +
                            std::to_string(Parameters::max_coordinate));
}

void check_parameters(const Parameters& parameters) {
  check_extent(parameters.margin, Parameters::Ranges::margin, "a margin");
  check_extent(parameters.feather, Parameters::Ranges::feather, "a feather");
  if (parameters.count < 0 || parameters.count > Parameters::max_count)
    refuse(operation, std::to_string(parameters.count) + " regions; there may be 0 to " +
                          std::to_string(Parameters::max_count));
  if (parameters.mask_count < 0 || parameters.mask_count > Parameters::max_masks)
    refuse(operation, std::to_string(parameters.mask_count) + " masks; there may be 0 to " +
                          std::to_string(Parameters::max_masks));
  check_extent(parameters.mask_growth, Parameters::Ranges::margin, "a mask growth");
  for (int i = 0; i < parameters.count; ++i)
    check_coordinates(parameters.boxes[i], "region", i);
  for (int i = 0; i < parameters.mask_count; ++i)
    check_coordinates(parameters.mask_boxes[i], "mask", i);
}

/// Extends an interval within [0, length) to multiples of `unit`, and clips it to [0, length).
void align(int unit, int length, int& first, int& end) {
  first -= first % unit;
  end = std::min(end + unit - 1 - (end - 1) % unit, length);
}

}  // namespace

Selection select(const FrameLayout& layout, const Parameters& parameters) {
  check_parameters(parameters);
  Selection selection;
  selection.active = ActiveCells(layout.width, layout.height);
  // Activates cells with whole samples. Both fields are extended together, so that operations that
  // ignore fields get the same cells.
  const auto activate = [&](const Box& reached) {
    const Box inside = clipped(reached, layout.width, layout.height);
    for (int c = 0; c < layout.channel_count && !inside.empty(); ++c) {
      const Channel& channel = layout.channels[c];
      Box whole = inside;
      align(channel.subsampling_x, layout.width, whole.x0, whole.x1);
      align(channel.subsampling_y * field_count(parameters.fields), layout.height, whole.y0,
            whole.y1);
      selection.active.add(whole);
    }
  };
  for (int i = 0; i < parameters.count; ++i) {
    if (parameters.boxes[i].empty())
      continue;
    if (parameters.angles[i] == 0) {
      const Region region = region_of(parameters.boxes[i], parameters.margin);
      selection.regions[selection.count++] = region;
      activate(grown(region.box, parameters.feather));
    } else {
      const RotatedRegion region = rotated_region_of(parameters.boxes[i], parameters.angles[i],
                                                     parameters.margin, parameters.feather);
      selection.rotated[selection.rotated_count++] = region;
      activate(region.reached);
    }
  }
  for (int i = 0; i < parameters.mask_count; ++i) {
    const Box inside = clipped(parameters.mask_boxes[i], layout.width, layout.height);
    if (inside.empty())
      continue;
    const Box reached = grown(inside, parameters.mask_radius());
    selection.masks[selection.mask_count++] = reached;
    activate(reached);
  }
  return selection;
}

RegionBlend::RegionBlend(Device& device, const FrameLayout& layout, const Parameters& parameters)
    : layout_(layout) {
  check_plane_bytes(operation, layout);
  backend_ = dispatch<make_region_blend_cuda, make_region_blend_cpu>(device, layout);
  use(parameters);
}

RegionBlend::~RegionBlend() = default;

void RegionBlend::set_parameters(const Parameters& parameters) {
  if (parameters == parameters_)
    return;
  use(parameters);
}

void RegionBlend::use(const Parameters& parameters) {
  const Selection selection = select(layout_, parameters);
  backend_->set(parameters, selection);
  active_ = selection.active;
  parameters_ = parameters;
}

void RegionBlend::run(const ConstFrame& in, const ConstFrame& processed, const Frame& out,
                      View<const std::uint8_t> distances) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, processed, "processed");
  check_frame(operation, layout_, out, "output");
  if (parameters_.mask_count > 0 &&
      (!distances || distances.width != layout_.width || distances.height != layout_.height))
    refuse(operation, "the mask distances have " + std::to_string(distances.width) + "×" +
                          std::to_string(distances.height) + " pixels; the frame has " +
                          std::to_string(layout_.width) + "×" + std::to_string(layout_.height));
  backend_->run(in, processed, out, distances);
}

}  // namespace cudavision::regions
