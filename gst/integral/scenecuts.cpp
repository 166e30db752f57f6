// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/scenecuts.h"

#include <bit>
#include <cstddef>
#include <utility>

namespace cudavision {
namespace {

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

// A pixel that has moved to another bin is two changes.
std::uint64_t changes(const Buffer& last, const Buffer& current) {
  const auto* const a = last.as<const std::uint32_t>();
  const auto* const b = current.as<const std::uint32_t>();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < last.size() / sizeof *a; ++i)
    sum += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
  return sum;
}

}  // namespace

SceneCuts::SceneCuts(Device& device, const FrameLayout& layout)
    : device_(device),
      layout_(judged_channels(layout)),
      histogram_(device, layout_),
      counts_(device.allocate(sizeof(std::uint32_t) << layout_.bits)) {
  for (Buffer& counts : host_counts_)
    counts = device.allocate_host(counts_.size());
}

std::uint64_t SceneCuts::pixels() const noexcept {
  return static_cast<std::uint64_t>(layout_.width) * static_cast<std::uint64_t>(layout_.height);
}

void SceneCuts::count(const ConstFrame& frame) {
  histogram_.run(frame, {counts_.as<std::uint32_t>(), 1 << layout_.bits, 1,
                         static_cast<std::ptrdiff_t>(counts_.size())});
}

void SceneCuts::read_back() {
  const int size = static_cast<int>(counts_.size());
  device_.download({counts_.as<std::uint8_t>(), size, 1, size},
                   {host_counts_[1].as<std::uint8_t>(), size, 1, size});
}

bool SceneCuts::found_cut() {
  const auto& [last, current] = host_counts_;
  const bool is_first = !std::exchange(has_last_, true);
  const bool is_cut = !is_first && 2 * changes(last, current) > pixels();
  std::swap(host_counts_[0], host_counts_[1]);
  return is_cut;
}

}  // namespace cudavision
