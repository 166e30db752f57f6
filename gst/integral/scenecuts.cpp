// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/scenecuts.h"

#include <cstdint>

namespace cudavision {
namespace {

constexpr histogramaverage::Parameters against_last_frame{histogramaverage::whole_weight,
                                                          histogramaverage::whole_weight / 4};

// Histograms need a luma channel, or red, green and blue of 8 bits.
FrameLayout judged_channels(FrameLayout layout) {
  if (const int green = layout.find(Role::green); green >= 0 && layout.bits > 8) {
    layout.channels[0] = layout.channels[green];
    layout.channels[0].role = Role::luma;
    layout.channel_count = 1;
  }
  return layout;
}

}  // namespace

SceneCuts::SceneCuts(Device& device, const FrameLayout& layout)
    : device_(device),
      layout_(judged_channels(layout)),
      histogram_(device, layout_),
      average_(device, 1, layout.bits),
      counts_(device.allocate(sizeof(std::uint32_t) << layout.bits)),
      host_status_(device.allocate_host(sizeof(histogramaverage::Status))),
      arrived_(device.make_event()) {}

bool SceneCuts::begins_scene(const ConstFrame& frame) {
  const auto bytes = static_cast<int>(counts_.size());
  const View<std::uint32_t> counts{counts_.as<std::uint32_t>(),
                                   bytes / static_cast<int>(sizeof(std::uint32_t)), 1, bytes};
  histogram_.run(frame, counts);
  average_.run(counts, against_last_frame);
  constexpr int size = sizeof(histogramaverage::Status);
  device_.download({reinterpret_cast<const std::uint8_t*>(average_.status()), size, 1, size},
                   {host_status_.as<std::uint8_t>(), size, 1, size});
  arrived_->record();
  arrived_->wait();
  return host_status_.as<const histogramaverage::Status>()->is_cut != 0;
}

}  // namespace cudavision
