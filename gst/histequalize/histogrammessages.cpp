// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/histequalize/histogrammessages.h"

#include <algorithm>
#include <string>

#include "gst/histequalize/histogramstatistics.h"

namespace cudavision {
namespace {

GBytes* bins_of(const std::uint32_t* counts, std::size_t size) {
  guint64* bins = g_new(guint64, size);
  std::copy_n(counts, size, bins);
  return g_bytes_new_take(bins, size * sizeof *bins);
}

Structure structure_of(const char* name, const FrameTimes& times, const std::uint32_t* counts,
                       std::size_t size, bool scene_cut) {
  const HistogramStatistics statistics = statistics_of(counts, size);
  Structure structure = structure_with_times(name, times);
  gst_structure_set(structure.get(), "mean", G_TYPE_DOUBLE, statistics.mean, "stddev",
                    G_TYPE_DOUBLE, statistics.stddev, "minimum", G_TYPE_UINT, statistics.minimum,
                    "maximum", G_TYPE_UINT, statistics.maximum, "entropy", G_TYPE_DOUBLE,
                    statistics.entropy, nullptr);
  for (std::size_t i = 0; i < statistics.percents.size(); ++i) {
    const std::string field = "percentile-" + std::to_string(statistics.percents[i]);
    gst_structure_set(structure.get(), field.c_str(), G_TYPE_UINT, statistics.percentiles[i],
                      nullptr);
  }

  const std::unique_ptr<GBytes, decltype(&g_bytes_unref)> bins(bins_of(counts, size),
                                                               g_bytes_unref);
  // Last, so that a printed message begins with the short fields.
  gst_structure_set(structure.get(), "scene-cut", G_TYPE_BOOLEAN, scene_cut, "bin-count",
                    G_TYPE_UINT, static_cast<guint>(size), "bins", G_TYPE_BYTES, bins.get(),
                    nullptr);
  return structure;
}

}  // namespace

void HistogramMessages::allocate() {
  Device& device = session().device();
  const std::size_t bytes = (std::size_t{1} << bits_) * sizeof(std::uint32_t);
  std::array<Slot, slot_count> slots;
  for (Slot& slot : slots) {
    slot.device = device.allocate(bytes);
    slot.host = device.allocate_host(bytes);
    slot.host_status = device.allocate_host(sizeof(histogramaverage::Status));
  }
  slots_ = std::move(slots);
}

void HistogramMessages::reserve(int bits) {
  bits_ = bits;
  DeviceMessages::reserve();
}

View<std::uint32_t> HistogramMessages::bins() const {
  const Buffer& device = slots_[next()].device;
  return {device.as<std::uint32_t>(), static_cast<int>(device.size() / sizeof(std::uint32_t)), 1,
          static_cast<std::ptrdiff_t>(device.size())};
}

void HistogramMessages::read_back(const FrameTimes& times, const histogramaverage::Status* status) {
  Slot& slot = slots_[next()];
  download(slot.device.data(), slot.host);
  slot.status = status;
  if (status)
    download(status, slot.host_status);
  DeviceMessages::read_back(times);
}

/// The number of scene cuts tells of those at frames that have no message.
bool HistogramMessages::shows_cut(const Slot& slot) {
  if (!slot.status)
    return false;
  const auto& status = *slot.host_status.as<const histogramaverage::Status>();
  const bool cut = status.is_cut || (counted_ == slot.status && cuts_ != status.cuts);
  counted_ = slot.status;
  cuts_ = status.cuts;
  return cut;
}

Structure HistogramMessages::describe(std::size_t number, const FrameTimes& times) {
  const Slot& slot = slots_[number];
  return structure_of(name_, times, slot.host.as<const std::uint32_t>(),
                      slot.host.size() / sizeof(std::uint32_t), shows_cut(slot));
}

}  // namespace cudavision
