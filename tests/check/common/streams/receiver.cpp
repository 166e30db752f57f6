// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/streams/receiver.h"

namespace check {

namespace {

std::string number_of(GstBuffer* buffer) {
  return GST_BUFFER_PTS_IS_VALID(buffer) ? std::to_string(GST_BUFFER_PTS(buffer) / frame_duration)
                                         : "-";
}

}  // namespace

Receiver::Receiver(FilterHarness& filter) : filter_(filter) {
  gst_pad_set_chain_function_full(
      filter.sink_pad(),
      +[](GstPad* pad, GstObject*, GstBuffer* buffer) {
        return static_cast<Receiver*>(pad->chaindata)->receive(Owned<GstBuffer>(buffer));
      },
      this, nullptr);
  const auto on_event_or_query = +[](GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* self = static_cast<Receiver*>(data);
    if ((info->type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM) != 0) {
      const GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
      if (gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED)
        self->note(GST_QUERY_TYPE_NAME(query));
      return GST_PAD_PROBE_OK;
    }
    GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START)
      self->set_flushing(true);
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
      self->set_flushing(false);
    self->note(GST_EVENT_TYPE_NAME(event));
    return GST_PAD_PROBE_OK;
  };
  probe_ = gst_pad_add_probe(
      filter.sink_pad(),
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                   GST_PAD_PROBE_TYPE_EVENT_FLUSH |
                                   GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH),
      on_event_or_query, this, nullptr);
}

Receiver::~Receiver() {
  stop();
  gst_element_set_state(filter_.element(), GST_STATE_NULL);
  gst_pad_remove_probe(filter_.sink_pad(), probe_);
}

void Receiver::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

void Receiver::open() {
  const std::lock_guard lock(mutex_);
  closed_ = false;
  changed_.notify_all();
}

void Receiver::set_delay(gulong microseconds) {
  const std::lock_guard lock(mutex_);
  delay_ = microseconds;
}

void Receiver::answer(guint64 number, GstFlowReturn flow) {
  const std::lock_guard lock(mutex_);
  answers_[number] = flow;
}

void Receiver::on_arrival(Look look) {
  const std::lock_guard lock(mutex_);
  look_ = std::move(look);
}

void Receiver::keep_no_frames() {
  const std::lock_guard lock(mutex_);
  keeps_frames_ = false;
}

void Receiver::stop() {
  set_flushing(true);
  gst_pad_set_active(filter_.sink_pad(), FALSE);
}

void Receiver::start() {
  set_flushing(false);
  gst_pad_set_active(filter_.sink_pad(), TRUE);
}

std::string Receiver::arrivals() {
  const std::lock_guard lock(mutex_);
  return arrivals_;
}

std::size_t Receiver::frame_count() {
  const std::lock_guard lock(mutex_);
  return frame_count_;
}

bool Receiver::holds_frame() {
  const std::lock_guard lock(mutex_);
  return holds_frame_;
}

std::vector<Owned<GstBuffer>> Receiver::take_frames() {
  const std::lock_guard lock(mutex_);
  return std::move(frames_);
}

void Receiver::forget() {
  const std::lock_guard lock(mutex_);
  arrivals_.clear();
  frames_.clear();
  frame_count_ = 0;
}

void Receiver::set_flushing(bool flushing) {
  const std::lock_guard lock(mutex_);
  flushing_ = flushing;
  changed_.notify_all();
}

void Receiver::note(const std::string& what) {
  Look look;
  {
    const std::lock_guard lock(mutex_);
    arrivals_ += (arrivals_.empty() ? "" : " ") + what;
    look = look_;
  }
  if (look)
    look(what);
}

GstFlowReturn Receiver::receive(Owned<GstBuffer> buffer) {
  const std::string number = number_of(buffer);
  const guint64 key = GST_BUFFER_PTS(buffer.get()) / frame_duration;
  GstFlowReturn flow = GST_FLOW_OK;
  {
    std::unique_lock lock(mutex_);
    const auto pass = [&] { return !closed_ || flushing_; };
    holds_frame_ = true;
    changed_.wait(lock, pass);
    if (delay_ > 0)
      changed_.wait_for(lock, std::chrono::microseconds(delay_), [&] { return flushing_; });
    holds_frame_ = false;
    if (flushing_)
      return GST_FLOW_FLUSHING;
    ++frame_count_;
    if (keeps_frames_)
      frames_.push_back(std::move(buffer));
    const auto answer = answers_.find(key);
    if (answer != answers_.end())
      flow = answer->second;
  }
  note(number);
  return flow;
}

Feeder::Feeder(FilterHarness& filter, guint64 first, guint64 count, const MakeFrame& make_frame)
    : thread_([this, &filter, first, count, make_frame] {
        kernel_id_promise_.set_value(this_thread());
        for (guint64 i = first; i < first + count && flow_ == GST_FLOW_OK; ++i) {
          flow_ = filter.push(make_frame(i));
          ++pushed_;
        }
        ended_ = true;
      }) {}

GstFlowReturn Feeder::finish() {
  if (thread_.joinable())
    thread_.join();
  return flow_;
}

}  // namespace check
