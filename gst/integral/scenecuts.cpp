// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/scenecuts.h"

#include <bit>
#include <cstdint>

namespace cudavision {
namespace {

constexpr histogramaverage::Parameters against_last_frame{histogramaverage::whole_weight,
                                                          histogramaverage::whole_weight / 4};

// Histograms need a luma channel, or red, green and blue of 8 bits. Of samples of 16 bits, the
// upper bytes are judged: noise alone would move most pixels of a picture of less than about
// 800×600 to others of 65536 bins.
FrameLayout judged_channels(FrameLayout layout) {
  if (layout.bits == 8)
    return layout;
  const int luma = layout.find(Role::luma);
  Channel judged = layout.channels[luma >= 0 ? luma : layout.find(Role::green)];
  judged.role = Role::luma;
  if (layout.bits == 16) {
    static_assert(std::endian::native == std::endian::little);
    layout.bits = 8;
    judged.offset = 2 * judged.offset + 1;
    judged.step *= 2;
  }
  layout.channels[0] = judged;
  layout.channel_count = 1;
  return layout;
}

}  // namespace

SceneCuts::SceneCuts(Device& device, const FrameLayout& layout)
    : device_(device),
      layout_(judged_channels(layout)),
      histogram_(device, layout_),
      average_(device, 1, layout_.bits),
      counts_(device.allocate(sizeof(std::uint32_t) << layout_.bits)),
      host_status_(device.allocate_host(sizeof(histogramaverage::Status))) {}

void SceneCuts::compare(const ConstFrame& frame) {
  const auto bytes = static_cast<int>(counts_.size());
  const View<std::uint32_t> counts{counts_.as<std::uint32_t>(),
                                   bytes / static_cast<int>(sizeof(std::uint32_t)), 1, bytes};
  histogram_.run(frame, counts);
  average_.run(counts, against_last_frame);
  constexpr int size = sizeof(histogramaverage::Status);
  device_.download({reinterpret_cast<const std::uint8_t*>(average_.status()), size, 1, size},
                   {host_status_.as<std::uint8_t>(), size, 1, size});
}

bool SceneCuts::found_cut() const {
  return host_status_.as<const histogramaverage::Status>()->is_cut != 0;
}

}  // namespace cudavision
