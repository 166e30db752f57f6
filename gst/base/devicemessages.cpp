// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/devicemessages.h"

namespace cudavision {

bool FrameInterval::selects(GstClockTime running_time, GstClockTime interval) {
  if (!GST_CLOCK_TIME_IS_VALID(running_time))
    return true;
  const bool restarts =
      !GST_CLOCK_TIME_IS_VALID(base_) || running_time < last_ || interval != interval_;
  if (!restarts && running_time < next_)
    return false;
  if (restarts)
    base_ = running_time;
  last_ = running_time;
  interval_ = interval;
  // next_ is the end of the current interval, clamped to the largest time.
  const GstClockTime into = interval ? (running_time - base_) % interval : 0;
  const GstClockTime left = interval - into;
  next_ = left < GST_CLOCK_TIME_NONE - running_time ? running_time + left : GST_CLOCK_TIME_NONE;
  return true;
}

Structure structure_with_times(const char* name, const FrameTimes& times) {
  return Structure(gst_structure_new(name, "timestamp", G_TYPE_UINT64, times.timestamp,
                                     "stream-time", G_TYPE_UINT64, times.stream_time,
                                     "running-time", G_TYPE_UINT64, times.running_time, "duration",
                                     G_TYPE_UINT64, times.duration, nullptr));
}

void DeviceMessages::reserve() {
  if (!slots_[0].arrived) {
    const DeviceScope scope(session_);
    allocate();
    std::array<Slot, slot_count> slots;
    for (Slot& slot : slots)
      slot.arrived = session_.device().make_event();
    slots_ = std::move(slots);
  }
  Lock lock(mutex_);
  while (pending_ == slot_count) {
    wait_for_oldest(lock);
    post_arrived(lock);
  }
}

void DeviceMessages::download(const void* device, const Buffer& host) const {
  const int bytes = static_cast<int>(host.size());
  session_.device().download({static_cast<const std::uint8_t*>(device), bytes, 1, bytes},
                             {host.as<std::uint8_t>(), bytes, 1, bytes});
}

void DeviceMessages::read_back(const FrameTimes& times) {
  Slot& slot = slots_[next_];
  slot.arrived->record();
  slot.times = times;
  const Lock lock(mutex_);
  next_ = (next_ + 1) % slot_count;
  ++pending_;
}

void DeviceMessages::post_arrived() {
  Lock lock(mutex_);
  post_arrived(lock);
}

void DeviceMessages::drain() {
  Lock lock(mutex_);
  while (pending_ > 0) {
    wait_for_oldest(lock);
    post_arrived(lock);
  }
  // If a bus sync handler has called drain(), this thread is posting and must not wait for itself.
  posted_.wait(lock, [this] {
    return poster_ == std::thread::id() || poster_ == std::this_thread::get_id();
  });
}

void DeviceMessages::discard() {
  const Lock lock(mutex_);
  pending_ = 0;
  described_.clear();
  discarded();
}

void DeviceMessages::release() {
  discard();
  slots_ = {};
  free_slots();
}

// Waits without the lock, so another thread may post the slot's message meanwhile. The slot stays
// valid, because only the streaming thread, which is waiting here, reuses slots.
void DeviceMessages::wait_for_oldest(Lock& lock) {
  Event& arrived = *slots_[oldest()].arrived;
  lock.unlock();
  {
    const DeviceScope scope(session_);
    arrived.wait();
  }
  lock.lock();
}

bool DeviceMessages::oldest_arrived() {
  const DeviceScope scope(session_);
  return slots_[oldest()].arrived->done();
}

void DeviceMessages::post_arrived(Lock& lock) {
  while (pending_ > 0 && oldest_arrived()) {
    described_.push_back(describe(oldest(), slots_[oldest()].times));
    --pending_;
    post_described(lock);
  }
}

// If another thread is posting, it also posts these messages. If this thread is posting, the call
// comes from a sync handler, and the messages are posted here.
void DeviceMessages::post_described(Lock& lock) {
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
