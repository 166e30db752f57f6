// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rectification/rectifier.h"

namespace cudavision {
namespace {

FrameLayout luminance_layout(const FrameLayout& camera) {
  FrameLayout layout;
  layout.width = camera.width;
  layout.height = camera.height;
  layout.bits = camera.bits;
  layout.plane_count = 1;
  layout.planes[0] = {camera.width * camera.sample_bytes(), camera.height};
  layout.channel_count = 1;
  layout.channels[0].width = camera.width;
  layout.channels[0].height = camera.height;
  return layout;
}

}  // namespace

Rectifier::Rectifier(Device& device, const FrameLayout& camera, const RectifyingMap& map)
    : layout_(luminance_layout(camera)),
      luminance_(device, camera, "rectification"),
      remap_(device, {camera.width, camera.height, camera.bits},
             map.view(camera.width, camera.height)) {}

ConstFrame Rectifier::run(const ConstFrame& in) {
  ConstFrame out;
  out.planes[0] = remap_.run(luminance_.of(in)).rows;
  return out;
}

View<const std::uint32_t> Rectifier::unseen() const noexcept {
  return remap_.any_outside() ? remap_.outside() : View<const std::uint32_t>{};
}

}  // namespace cudavision
