// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/denoise/scenecuts.h"

#include <bit>

namespace cudavision {
namespace {

// With the whole weight on the last frame, the average is the histogram of the last frame.
constexpr histogramaverage::Parameters comparison{histogramaverage::whole_weight,
                                                  scenecut::default_threshold};

// Histograms need luma, or 8-bit RGB. With 65536 bins, noise would move most pixels of frames below
// about 800×600 to other bins, so 16-bit samples are reduced to their upper byte.
FrameLayout histogram_layout(FrameLayout layout) {
  if (layout.bits == 8)
    return layout;
  const int luma = layout.find(Role::luma);
  Channel counted = layout.channels[luma >= 0 ? luma : layout.find(Role::green)];
  counted.role = Role::luma;
  if (layout.bits == 16) {
    static_assert(std::endian::native == std::endian::little);
    layout.bits = 8;
    counted.offset = 2 * counted.offset + 1;
    counted.step *= 2;
  }
  layout.channels[0] = counted;
  layout.channel_count = 1;
  return layout;
}

}  // namespace

SceneCuts::SceneCuts(Device& device, const FrameLayout& layout)
    : device_(device),
      histogram_layout_(histogram_layout(layout)),
      histogram_(device, histogram_layout_),
      counts_(device.allocate(sizeof(std::uint32_t) << histogram_layout_.bits)),
      areas_(device, layout),
      average_(device, 1, histogram_layout_.bits),
      host_status_(device.allocate_host(sizeof(histogramaverage::Status))) {}

void SceneCuts::compare(const ConstFrame& frame) {
  const View<std::uint32_t> counts = {counts_.as<std::uint32_t>(), 1 << histogram_layout_.bits, 1,
                                      static_cast<std::ptrdiff_t>(counts_.size())};
  histogram_.run(frame, counts);
  areas_.run(frame);
  average_.run(counts, comparison, areas_.change());
}

void SceneCuts::read_back() {
  constexpr int size = sizeof(histogramaverage::Status);
  device_.download({reinterpret_cast<const std::uint8_t*>(average_.status()), size, 1, size},
                   {host_status_.as<std::uint8_t>(), size, 1, size});
}

bool SceneCuts::found_cut() const {
  return host_status_.as<const histogramaverage::Status>()->is_cut != 0;
}

}  // namespace cudavision
