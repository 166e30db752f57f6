// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/histequalize/histogrammessages.h"

#include <algorithm>
#include <string>
#include <utility>

#include "gst/histequalize/histogramstatistics.h"

namespace cudavision {
namespace {

GBytes* bins_of(const std::uint32_t* counts, std::size_t size) {
  guint64* bins = g_new(guint64, size);
  std::copy_n(counts, size, bins);
  return g_bytes_new_take(bins, size * sizeof *bins);
}

Structure describe(const char* name, const FrameTimes& times, const std::uint32_t* counts,
                   std::size_t size, bool scene_cut) {
  const HistogramStatistics statistics = statistics_of(counts, size);
  Structure structure(gst_structure_new(
      name, "timestamp", G_TYPE_UINT64, times.timestamp, "stream-time", G_TYPE_UINT64,
      times.stream_time, "running-time", G_TYPE_UINT64, times.running_time, "duration",
      G_TYPE_UINT64, times.duration, "mean", G_TYPE_DOUBLE, statistics.mean, "stddev",
      G_TYPE_DOUBLE, statistics.stddev, "minimum", G_TYPE_UINT, statistics.minimum, "maximum",
      G_TYPE_UINT, statistics.maximum, "entropy", G_TYPE_DOUBLE, statistics.entropy, nullptr));
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
                                     const char* name)
    : element_(element), session_(session), name_(name) {}

void HistogramMessages::allocate(int bits) {
  const DeviceScope scope(session_);
  Device& device = session_.device();
  const std::size_t bytes = (std::size_t{1} << bits) * sizeof(std::uint32_t);
  std::array<Slot, slot_count> slots;
  for (Slot& slot : slots) {
    slot.device = device.allocate(bytes);
    slot.host = device.allocate_host(bytes);
    slot.host_status = device.allocate_host(sizeof(histogramaverage::Status));
    slot.arrived = device.make_event();
  }
  slots_ = std::move(slots);
}

void HistogramMessages::reserve(int bits) {
  if (!slots_[0].arrived)
    allocate(bits);
  Lock lock(mutex_);
  while (pending_ == slot_count) {
    wait_for_oldest(lock);
    post_arrived(lock);
  }
}

View<std::uint32_t> HistogramMessages::bins() const {
  const Buffer& device = slots_[next_].device;
  return {device.as<std::uint32_t>(), static_cast<int>(device.size() / sizeof(std::uint32_t)), 1,
          static_cast<std::ptrdiff_t>(device.size())};
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
  const Lock lock(mutex_);
  next_ = (next_ + 1) % slot_count;
  ++pending_;
}

void HistogramMessages::post_arrived() {
  Lock lock(mutex_);
  post_arrived(lock);
}

void HistogramMessages::drain() {
  Lock lock(mutex_);
  while (pending_ > 0) {
    wait_for_oldest(lock);
    post_arrived(lock);
  }
  // A sync handler that runs in this thread must not wait for itself.
  posted_.wait(lock, [this] {
    return poster_ == std::thread::id() || poster_ == std::this_thread::get_id();
  });
}

void HistogramMessages::discard() {
  const Lock lock(mutex_);
  pending_ = 0;
  described_.clear();
  counted_ = nullptr;
}

void HistogramMessages::release() {
  discard();
  slots_ = {};
}

// Waits without the lock, so another thread may have taken the slot afterwards. The streaming
// thread, which is in here, is the only one to use it again.
void HistogramMessages::wait_for_oldest(Lock& lock) {
  Event& arrived = *oldest().arrived;
  lock.unlock();
  {
    const DeviceScope scope(session_);
    arrived.wait();
  }
  lock.lock();
}

bool HistogramMessages::oldest_arrived() {
  const DeviceScope scope(session_);
  return oldest().arrived->done();
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

void HistogramMessages::describe_oldest() {
  const Slot& slot = oldest();
  described_.push_back(describe(name_, slot.times, slot.host.as<const std::uint32_t>(),
                                slot.host.size() / sizeof(std::uint32_t), shows_cut(slot)));
  --pending_;
}

void HistogramMessages::post_arrived(Lock& lock) {
  while (pending_ > 0 && oldest_arrived()) {
    describe_oldest();
    post_described(lock);
  }
}

// If another thread is posting, it goes on with these messages. If a sync handler has called in the
// midst of posting in this thread, they are posted here.
void HistogramMessages::post_described(Lock& lock) {
  const std::thread::id self = std::this_thread::get_id();
  if (poster_ != std::thread::id() && poster_ != self)
    return;
  const std::thread::id outer = std::exchange(poster_, self);
  while (!described_.empty()) {
    GstStructure* const structure = described_.front().release();
    described_.erase(described_.begin());
    lock.unlock();
    gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), structure));
    lock.lock();
  }
  poster_ = outer;
  if (outer == std::thread::id())
    posted_.notify_all();
}

}  // namespace cudavision
