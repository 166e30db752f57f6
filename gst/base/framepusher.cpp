// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/framepusher.h"

#include <utility>

namespace cudavision {

FramePusher::FramePusher(GstPad* pad, std::size_t limit, Complete complete)
    : pad_(pad), limit_(limit), complete_(std::move(complete)) {}

FramePusher::~FramePusher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void FramePusher::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return in_flight_ < limit_; });
}

void FramePusher::add(GstBuffer* buffer, std::unique_ptr<FrameInFlight> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({buffer, std::move(work)});
    ++in_flight_;
    if (!thread_.joinable())
      thread_ = std::thread([this] { run(); });
  }
  changed_.notify_all();
}

void FramePusher::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return in_flight_ == 0; });
}

GstFlowReturn FramePusher::take_flow() {
  const std::lock_guard lock(mutex_);
  return std::exchange(flow_, GST_FLOW_OK);
}

GstFlowReturn FramePusher::push(Entry entry) {
  if (complete_(std::move(entry.work), true))
    return gst_pad_push(pad_, entry.buffer);
  gst_buffer_unref(entry.buffer);
  return GST_FLOW_ERROR;
}

void FramePusher::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty())
      return;
    Entry entry = std::move(waiting_.front());
    waiting_.pop_front();
    const bool wanted = flow_ == GST_FLOW_OK && !stopping_;
    lock.unlock();
    GstFlowReturn flow = GST_FLOW_OK;
    if (wanted) {
      flow = push(std::move(entry));
    } else {
      complete_(std::move(entry.work), false);
      gst_buffer_unref(entry.buffer);
    }
    lock.lock();
    --in_flight_;
    if (flow_ == GST_FLOW_OK)
      flow_ = flow;
    changed_.notify_all();
  }
}

}  // namespace cudavision
