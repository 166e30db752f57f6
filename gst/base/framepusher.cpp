// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/framepusher.h"

#include <system_error>
#include <utility>

#include "gst/base/elementerror.h"

namespace cudavision {

FramePusher::FramePusher(GstPad* pad, Complete complete)
    : pad_(pad), complete_(std::move(complete)) {}

void FramePusher::start(std::size_t limit) {
  // Later, memory that runs out would have to be reported for a frame whose work has begun.
  waiting_.reserve(limit);
  const Lock lock(mutex_);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& e) {
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                       std::string("The system starts no more threads (") + e.what() +
                           "): end other programs, raise the limit, or set frames-in-flight=1.");
  }
  limit_ = limit;
}

void FramePusher::stop() noexcept {
  std::thread thread;
  {
    const Lock lock(mutex_);
    stopping_ = true;
    thread = std::move(thread_);
  }
  changed_.notify_all();
  if (thread.joinable())
    thread.join();
  const Lock lock(mutex_);
  stopping_ = false;
  flow_ = GST_FLOW_OK;
  limit_ = 0;
}

void FramePusher::wait_for_room() {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return in_flight_ < limit_; });
}

void FramePusher::add(GstBuffer* buffer, std::unique_ptr<FrameInFlight> work) noexcept {
  Entry entry{OwnedBuffer(buffer), std::move(work)};
  {
    const Lock lock(mutex_);
    if (flow_ == GST_FLOW_OK) {
      waiting_.push_back(std::move(entry));
      ++in_flight_;
    }
  }
  if (entry.buffer)
    drop(std::move(entry));
  else
    changed_.notify_all();
}

bool FramePusher::idle() {
  const Lock lock(mutex_);
  return in_flight_ == 0;
}

void FramePusher::drain() {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return in_flight_ == 0; });
}

GstFlowReturn FramePusher::take_flow() {
  Lock lock(mutex_);
  // The thread drops frames only as long as it knows of the error.
  if (flow_ != GST_FLOW_OK)
    changed_.wait(lock, [&] { return in_flight_ == 0; });
  return std::exchange(flow_, GST_FLOW_OK);
}

void FramePusher::forget_eos() {
  const Lock lock(mutex_);
  if (flow_ == GST_FLOW_EOS)
    flow_ = GST_FLOW_OK;
}

void FramePusher::flush() {
  Lock lock(mutex_);
  if (thread_.get_id() != std::this_thread::get_id())
    return;
  flow_ = GST_FLOW_FLUSHING;  // so that the streaming thread adds no more
  while (!waiting_.empty()) {
    Entry entry = take_next();
    lock.unlock();
    drop(std::move(entry));
    lock.lock();
  }
  in_flight_ = 0;
  flushed_ = true;
  changed_.notify_all();
}

FramePusher::Entry FramePusher::take_next() {
  Entry entry = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  return entry;
}

GstFlowReturn FramePusher::push(Entry entry) {
  if (!complete_(std::move(entry.work), true))
    return GST_FLOW_ERROR;
  // A handler of the frame's messages may have flushed.
  return flushed_ ? GST_FLOW_FLUSHING : gst_pad_push(pad_, entry.buffer.release());
}

void FramePusher::drop(Entry entry) {
  complete_(std::move(entry.work), false);
}

void FramePusher::run() {
  Lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty())
      return;
    Entry entry = take_next();
    const bool wanted = flow_ == GST_FLOW_OK && !stopping_;
    flushed_ = false;
    lock.unlock();
    GstFlowReturn flow = GST_FLOW_OK;
    if (wanted)
      flow = push(std::move(entry));
    else
      drop(std::move(entry));
    lock.lock();
    if (flushed_)
      continue;
    --in_flight_;
    // Other successes than GST_FLOW_OK must not end the stream.
    if (flow_ == GST_FLOW_OK && flow < GST_FLOW_OK)
      flow_ = flow;
    changed_.notify_all();
  }
}

}  // namespace cudavision
