// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/flight/framepusher.h"

#include <optional>
#include <utility>

namespace cudavision {

FramePusher::FramePusher(GstPad* pad, Complete complete)
    : pad_(pad), complete_(std::move(complete)), task_(pad) {}

void FramePusher::open() {
  const Lock lock(mutex_);
  open_ = true;
}

std::size_t FramePusher::set_limit(std::size_t limit) {
  unsigned run = 0;
  {
    const Lock lock(mutex_);
    if (!open_)
      return 0;
    // Later, memory that runs out would have to be reported for a frame whose work has begun.
    waiting_.reserve(limit);
    if (limit_ == 0)
      flow_ = GST_FLOW_OK;
    limit_ = limit;
    if (limit == 0 || has_thread_)
      return limit;
    has_thread_ = true;
    run = run_;
  }
  try {
    task_.start([pusher = shared_from_this(), run] { return pusher->push_next(run); });
  } catch (...) {
    const Lock lock(mutex_);
    if (run == run_) {
      limit_ = 0;
      has_thread_ = false;
    }
    throw;
  }
  return limit;
}

void FramePusher::stop() noexcept {
  const StreamingTask::Thread thread = task_.request_stop();
  close();
  task_.join(thread);
}

// Lets nobody wait any longer, and drops the frames that wait.
void FramePusher::close() {
  const bool in_own_thread = task_.is_current();
  Lock lock(mutex_);
  open_ = false;
  has_thread_ = false;
  limit_ = 0;
  ++run_;
  changed_.notify_all();
  drop_waiting(lock);
  if (in_own_thread)
    begin_era();
}

void FramePusher::flush() {
  if (!task_.is_current())
    return;
  Lock lock(mutex_);
  flow_ = GST_FLOW_FLUSHING;  // so that the streaming thread adds no more
  drop_waiting(lock);
  begin_era();
}

std::size_t FramePusher::limit() const {
  const Lock lock(mutex_);
  return limit_;
}

GstFlowReturn FramePusher::wait_for_room() {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return limit_ == 0 || flow_ != GST_FLOW_OK || in_flight_ < limit_; });
  return limit_ == 0 ? GST_FLOW_FLUSHING : take_flow(lock);
}

void FramePusher::add(Frame frame) noexcept {
  const Lock lock(mutex_);
  // A frame that is dropped waits for the device after the lock has been released.
  if (limit_ == 0 || (flow_ != GST_FLOW_OK && flow_ != GST_FLOW_NOT_LINKED))
    return;
  waiting_.push_back(std::move(frame));
  ++in_flight_;
  changed_.notify_all();
}

bool FramePusher::idle() const {
  const Lock lock(mutex_);
  return in_flight_ == 0;
}

void FramePusher::drain() {
  Lock lock(mutex_);
  while (in_flight_ > 0) {
    if (waits_for_link())
      drop_waiting(lock);
    changed_.wait(lock, [&] { return in_flight_ == 0 || waits_for_link(); });
  }
}

GstFlowReturn FramePusher::take_flow() {
  Lock lock(mutex_);
  return take_flow(lock);
}

GstFlowReturn FramePusher::take_flow(Lock& lock) {
  // The frames in flight are dropped only as long as the error is known.
  if (flow_ != GST_FLOW_OK) {
    drop_waiting(lock);
    changed_.wait(lock, [&] { return in_flight_ == 0; });
  }
  return std::exchange(flow_, GST_FLOW_OK);
}

void FramePusher::forget_eos() {
  forget_flow(GST_FLOW_EOS);
}

void FramePusher::forget_not_linked() {
  forget_flow(GST_FLOW_NOT_LINKED);
}

void FramePusher::forget_flow(GstFlowReturn flow) {
  const Lock lock(mutex_);
  if (flow == GST_FLOW_NOT_LINKED)
    ++links_;
  if (flow_ == flow)
    flow_ = GST_FLOW_OK;
  changed_.notify_all();
}

FramePusher::Frame FramePusher::take_next() {
  Frame frame = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  return frame;
}

void FramePusher::count_off(unsigned era) {
  if (era == era_)
    --in_flight_;
  changed_.notify_all();
}

void FramePusher::begin_era() {
  ++era_;
  in_flight_ = 0;
  changed_.notify_all();
}

void FramePusher::drop_waiting(Lock& lock) {
  while (!waiting_.empty()) {
    std::optional<Frame> dropped = take_next();
    const unsigned era = era_;
    lock.unlock();
    dropped.reset();
    lock.lock();
    count_off(era);
  }
}

bool FramePusher::is_over(unsigned era) const {
  const Lock lock(mutex_);
  return era != era_;
}

GstFlowReturn FramePusher::push(Frame frame, unsigned era) {
  OwnedBuffer buffer = complete_(std::move(frame));
  if (!buffer)
    return GST_FLOW_ERROR;
  // A handler of the frame's messages may have flushed or stopped the element.
  return is_over(era) ? GST_FLOW_FLUSHING : gst_pad_push(pad_, buffer.release());
}

// Pushes the oldest frame when there is one. Returns false if the run is over.
bool FramePusher::push_next(unsigned run) {
  // A probe or a handler of messages may stop the element in this thread and release it.
  ObjectPtr<GstElement> element;
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return run != run_ || (!waiting_.empty() && !waits_for_link()); });
  if (run != run_)
    return false;
  element.reset(gst_pad_get_parent_element(pad_));
  std::optional<Frame> frame = take_next();
  const bool wanted = flow_ == GST_FLOW_OK;
  const unsigned era = era_, links = links_;
  lock.unlock();
  const GstFlowReturn flow = wanted ? push(std::move(*frame), era) : GST_FLOW_OK;
  frame.reset();
  lock.lock();
  // By now, downstream may be linked again.
  const bool out_of_date = era != era_ || (flow == GST_FLOW_NOT_LINKED && links != links_);
  // Other successes than GST_FLOW_OK must not end the stream.
  if (!out_of_date && flow_ == GST_FLOW_OK && flow < GST_FLOW_OK)
    flow_ = flow;
  count_off(era);
  return run == run_;
}

}  // namespace cudavision
