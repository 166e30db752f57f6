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

GstStructure* describe(const char* name, const FrameTimes& times, const std::uint32_t* counts,
                       std::size_t size, bool scene_cut) {
  const HistogramStatistics statistics = statistics_of(counts, size);
  GstStructure* structure = gst_structure_new(
      name, "timestamp", G_TYPE_UINT64, times.timestamp, "stream-time", G_TYPE_UINT64,
      times.stream_time, "running-time", G_TYPE_UINT64, times.running_time, "duration",
      G_TYPE_UINT64, times.duration, "mean", G_TYPE_DOUBLE, statistics.mean, "stddev",
      G_TYPE_DOUBLE, statistics.stddev, "minimum", G_TYPE_UINT, statistics.minimum, "maximum",
      G_TYPE_UINT, statistics.maximum, "entropy", G_TYPE_DOUBLE, statistics.entropy, nullptr);
  for (std::size_t i = 0; i < statistics.percents.size(); ++i) {
    const std::string field = "percentile-" + std::to_string(statistics.percents[i]);
    gst_structure_set(structure, field.c_str(), G_TYPE_UINT, statistics.percentiles[i], nullptr);
  }

  const std::unique_ptr<GBytes, decltype(&g_bytes_unref)> bins(bins_of(counts, size),
                                                               g_bytes_unref);
  // Last, so that a printed message begins with the short fields.
  gst_structure_set(structure, "scene-cut", G_TYPE_BOOLEAN, scene_cut, "bin-count", G_TYPE_UINT,
                    static_cast<guint>(size), "bins", G_TYPE_BYTES, bins.get(), nullptr);
  return structure;
}

}  // namespace

bool FrameInterval::selects(GstClockTime running_time, GstClockTime interval) {
  if (!GST_CLOCK_TIME_IS_VALID(running_time))
    return true;
  const bool starts_anew =
      !GST_CLOCK_TIME_IS_VALID(base_) || running_time < last_ || interval != interval_;
  if (!starts_anew && running_time < next_)
    return false;
  if (starts_anew)
    base_ = running_time;
  last_ = running_time;
  interval_ = interval;
  // The end of the interval in which running_time lies, unless that is beyond the largest time.
  const GstClockTime into = interval ? (running_time - base_) % interval : 0;
  const GstClockTime left = interval - into;
  next_ = left < GST_CLOCK_TIME_NONE - running_time ? running_time + left : GST_CLOCK_TIME_NONE;
  return true;
}

HistogramMessages::HistogramMessages(GstElement* element, const DeviceSession& session,
                                     const char* name, int bits)
    : element_(element), session_(session), name_(name), bits_(bits) {
  const std::size_t bytes = bin_count() * sizeof(std::uint32_t);
  for (Slot& slot : slots_) {
    slot.device = session.device().allocate(bytes);
    slot.host = session.device().allocate_host(bytes);
    slot.host_status = session.device().allocate_host(sizeof(histogramaverage::Status));
    slot.arrived = session.device().make_event();
  }
}

View<std::uint32_t> HistogramMessages::bins() const {
  const int count = static_cast<int>(bin_count());
  return {slots_[next_].device.as<std::uint32_t>(), count, 1,
          static_cast<std::ptrdiff_t>(count * sizeof(std::uint32_t))};
}

void HistogramMessages::download(const void* device, const Buffer& host) const {
  const int bytes = static_cast<int>(host.size());
  session_.device().download({static_cast<const std::uint8_t*>(device), bytes, 1, bytes},
                             {host.as<std::uint8_t>(), bytes, 1, bytes});
}

void HistogramMessages::read_back(const FrameTimes& times, const histogramaverage::Status* status) {
  Slot& slot = slots_[next_];
  download(slot.device.data(), slot.host);
  slot.status = status;
  if (status)
    download(status, slot.host_status);
  slot.arrived->record();
  slot.times = times;
  next_ = (next_ + 1) % slot_count;
  ++pending_;
}

bool HistogramMessages::oldest_arrived(bool wait) {
  const DeviceScope scope(session_);
  if (wait)
    oldest().arrived->wait();
  return wait || oldest().arrived->done();
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

void HistogramMessages::post_oldest() {
  const Slot& slot = oldest();
  GstStructure* structure = describe(name_, slot.times, slot.host.as<const std::uint32_t>(),
                                     bin_count(), shows_cut(slot));
  --pending_;
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), structure));
}

void HistogramMessages::reserve() {
  if (pending_ == slot_count && oldest_arrived(true))
    post_oldest();
}

void HistogramMessages::post_arrived() {
  while (pending_ > 0 && oldest_arrived(false))
    post_oldest();
}

void HistogramMessages::drain() {
  while (pending_ > 0 && oldest_arrived(true))
    post_oldest();
}

}  // namespace cudavision
