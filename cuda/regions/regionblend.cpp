// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/regions/regionblend.h"

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/regions/backend.h"
#include "cuda/regions/planebytes.h"

namespace cudavision::regions {
namespace {

constexpr char operation[] = "blend of regions";

}  // namespace

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
  const Selection selection = select(operation, layout_, parameters);
  active_ = selection.active;
  everywhere_ = selection.everywhere;
  backend_->set(parameters, selection.regions, active());
  parameters_ = parameters;
}

void RegionBlend::run(const ConstFrame& in, const ConstFrame& processed, const Frame& out) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, processed, "processed");
  check_frame(operation, layout_, out, "output");
  backend_->run(in, processed, out);
}

}  // namespace cudavision::regions
