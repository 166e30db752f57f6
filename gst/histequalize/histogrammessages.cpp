// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/histequalize/histogrammessages.h"

#include <algorithm>
#include <cmath>

#include "gst/histequalize/histogramstatistics.h"

namespace cudavision {
namespace {

GBytes* bins_of(const std::uint32_t* counts, std::size_t size) {
  guint64* bins = g_new(guint64, size);
  std::copy_n(counts, size, bins);
  return g_bytes_new_take(bins, size * sizeof *bins);
}

/// Returns nullopt if the noise of a counted channel is not measured. `states` is in host memory.
std::optional<double> deviation_of(const LuminanceNoise& noise, const noise::State* states) {
  double sum = 0;
  int count = 0;
  for (std::size_t c = 0; noise.states && c < noise.counted.size(); ++c) {
    if (!noise.counted[c])
      continue;
    if (states[c].average < 0)
      return std::nullopt;
    sum += states[c].measured;
    ++count;
  }
  if (count == 0)
    return std::nullopt;
  return std::sqrt(sum / count) / noise::Level::per_level;
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
    slot.host_noise = device.allocate_host(FrameLayout::max_channels * sizeof(noise::State));
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

void HistogramMessages::read_back(const FrameTimes& times, const histogramaverage::Status* status,
                                  const LuminanceNoise& noise) {
  Slot& slot = slots_[next()];
  download(slot.device.data(), slot.host);
  slot.status = status;
  if (status)
    download(status, slot.host_status);
  slot.noise = noise;
  if (noise.states)
    download(noise.states, slot.host_noise);
  DeviceMessages::read_back(times);
}

// Compares Status::cuts with its value in the last message, to include cuts between messages.
bool HistogramMessages::shows_cut(const Slot& slot) {
  if (!slot.status)
    return false;
  const auto& status = *slot.host_status.as<const histogramaverage::Status>();
  const bool cut = status.is_cut || (average_ == slot.status && cuts_ != status.cuts);
  average_ = slot.status;
  cuts_ = status.cuts;
  return cut;
}

Structure HistogramMessages::describe(std::size_t number, const FrameTimes& times) {
  const Slot& slot = slots_[number];
  const auto* const counts = slot.host.as<const std::uint32_t>();
  const std::size_t size = slot.host.size() / sizeof *counts;
  const HistogramStatistics statistics = statistics_of(counts, size);
  Structure structure = structure_with_times("cudahistequalize", times);
  gst_structure_set(structure.get(), "mean", G_TYPE_DOUBLE, statistics.mean, "stddev",
                    G_TYPE_DOUBLE, statistics.stddev, "minimum", G_TYPE_UINT, statistics.minimum,
                    "maximum", G_TYPE_UINT, statistics.maximum, "entropy", G_TYPE_DOUBLE,
                    statistics.entropy, nullptr);
  for (std::size_t i = 0; i < statistics.percents.size(); ++i) {
    const std::string field = "percentile-" + std::to_string(statistics.percents[i]);
    gst_structure_set(structure.get(), field.c_str(), G_TYPE_UINT, statistics.percentiles[i],
                      nullptr);
  }
  if (const auto noise = deviation_of(slot.noise, slot.host_noise.as<const noise::State>()))
    gst_structure_set(structure.get(), "noise", G_TYPE_DOUBLE, *noise, nullptr);
  // `bins` comes last, so that printed messages begin with short fields.
  const std::unique_ptr<GBytes, decltype(&g_bytes_unref)> bins(bins_of(counts, size),
                                                               g_bytes_unref);
  gst_structure_set(structure.get(), "scene-cut", G_TYPE_BOOLEAN, shows_cut(slot), "bin-count",
                    G_TYPE_UINT, static_cast<guint>(size), "bins", G_TYPE_BYTES, bins.get(),
                    nullptr);
  return structure;
}

}  // namespace cudavision
