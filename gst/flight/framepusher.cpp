// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/flight/framepusher.h"

#include <atomic>

#include "gst/core/elementerror.h"
#include "gst/core/text.h"

namespace cudavision {

/// The pusher's thread from set_limit() to stop(). While it runs, `share` keeps this object alive.
struct FramePusher::Thread {
  explicit Thread(std::shared_ptr<FramePusher> owner)
      : pusher(std::move(owner)),
        pad(GST_PAD_CAST(gst_object_ref(pusher->pad_))),
        task(gst_task_new(run, this, nullptr)) {
    g_rec_mutex_init(&lock);
    gst_task_set_lock(task.get(), &lock);
    gst_task_set_enter_callback(task.get(), enter, this, nullptr);
    gst_task_set_leave_callback(task.get(), leave, this, nullptr);
    // The task's name becomes the thread's name. Linux keeps its first 15 characters.
    const ObjectPtr<GstElement> element(gst_pad_get_parent_element(pad.get()));
    const std::string name = std::string(element ? text_of(GST_OBJECT_NAME(element.get())) : "") +
                             ":" + text_of(GST_OBJECT_NAME(pad.get()));
    gst_object_set_name(GST_OBJECT_CAST(task.get()), name.c_str());
  }
  ~Thread() { g_rec_mutex_clear(&lock); }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  void post_status(GstStreamStatusType type) const {
    // The application may have stopped and released the element in this thread.
    const ObjectPtr<GstElement> element(gst_pad_get_parent_element(pad.get()));
    if (!element)
      return;
    GstMessage* message =
        gst_message_new_stream_status(GST_OBJECT_CAST(pad.get()), type, element.get());
    GValue value = G_VALUE_INIT;
    g_value_init(&value, GST_TYPE_TASK);
    g_value_set_object(&value, task.get());
    gst_message_set_stream_status_object(message, &value);
    g_value_unset(&value);
    gst_element_post_message(element.get(), message);
  }

  static void run(gpointer data) {
    auto* const thread = static_cast<Thread*>(data);
    if (!thread->pusher->push_next(*thread))
      gst_task_stop(thread->task.get());
  }
  static void enter(GstTask*, GThread* id, gpointer data) {
    auto* const thread = static_cast<Thread*>(data);
    // ThreadSanitizer does not track how GLib passes `data` to the thread, but it tracks this load.
    [[maybe_unused]] GThread* const none = thread->id.load();
    thread->id = id;
    thread->post_status(GST_STREAM_STATUS_TYPE_ENTER);
  }
  static void leave(GstTask*, GThread*, gpointer data) {
    // A task that is stopped before its thread starts calls leave() without enter().
    const bool entered = static_cast<Thread*>(data)->id.load() != nullptr;
    const std::shared_ptr<Thread> thread = std::move(static_cast<Thread*>(data)->share);
    if (entered)
      thread->post_status(GST_STREAM_STATUS_TYPE_LEAVE);
    thread->id = nullptr;
  }

  const std::shared_ptr<FramePusher> pusher;
  const ObjectPtr<GstPad> pad;
  GRecMutex lock;  ///< the task's lock
  const ObjectPtr<GstTask> task;
  std::shared_ptr<Thread> share;      ///< owns this object while the task runs
  std::atomic<GThread*> id{nullptr};  ///< the running thread, or nullptr
  std::mutex joining;  ///< serialises gst_task_join(), because a task wakes only one joining thread
  bool stopped = false;  ///< guarded by the pusher's mutex
};

FramePusher::FramePusher(GstPad* pad, Complete complete)
    : pad_(pad), complete_(std::move(complete)) {}

void FramePusher::open() {
  const Lock lock(mutex_);
  open_ = true;
}

std::size_t FramePusher::set_limit(std::size_t limit) {
  std::shared_ptr<Thread> thread, last;  // `last` is destroyed after the unlock
  {
    const Lock lock(mutex_);
    if (!open_)
      return 0;
    waiting_.reserve(limit);  // so that add() cannot throw
    if (limit > 0 && (!thread_ || thread_->stopped)) {
      thread = std::make_shared<Thread>(shared_from_this());
      last = std::exchange(thread_, thread);
    }
    if (limit_ == 0)
      flow_ = GST_FLOW_OK;
    limit_ = limit;
  }
  if (!thread)
    return limit;
  thread->post_status(GST_STREAM_STATUS_TYPE_CREATE);
  const Lock lock(mutex_);
  if (thread->stopped)
    return limit_;
  thread->share = thread;
  thread->id = nullptr;
  if (!gst_task_start(thread->task.get())) {
    // The task pool keeps the task, and thus this Thread, until it can start a system thread.
    gst_task_stop(thread->task.get());
    thread->stopped = true;
    last = std::move(thread_);
    limit_ = 0;
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                       "The system cannot start another thread: end other programs, raise the "
                       "limit (ulimit -u), or set frames-in-flight=1.");
  }
  return limit;
}

// Requires that mutex_ is locked.
bool FramePusher::in_own_thread() const {
  return thread_ && thread_->id == g_thread_self();
}

void FramePusher::stop() noexcept {
  std::shared_ptr<Thread> thread;  // destroyed after the unlock
  Lock lock(mutex_);
  thread = thread_;
  const bool is_own = in_own_thread();
  open_ = false;
  limit_ = 0;
  if (thread) {
    thread->stopped = true;
    gst_task_stop(thread->task.get());
  }
  changed_.notify_all();
  drop_waiting(lock);
  if (is_own)
    begin_generation();
  lock.unlock();
  if (!thread)
    return;
  if (!is_own) {
    const std::lock_guard joining(thread->joining);
    gst_task_join(thread->task.get());
  }
  lock.lock();
  if (thread_ == thread)
    thread_.reset();
}

void FramePusher::flush() {
  Lock lock(mutex_);
  if (!in_own_thread())
    return;
  flow_ = GST_FLOW_FLUSHING;  // add() drops further frames
  drop_waiting(lock);
  begin_generation();
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
  // The caller destroys a dropped frame after the unlock, because the destructor waits for the GPU.
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
  // flow_ stays set during the wait, so that push_next() drops any frame that it takes.
  if (flow_ != GST_FLOW_OK) {
    drop_waiting(lock);
    changed_.wait(lock, [&] { return in_flight_ == 0; });
  }
  return std::exchange(flow_, GST_FLOW_OK);
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

void FramePusher::end_frame(unsigned generation) {
  if (generation == generation_)
    --in_flight_;
  changed_.notify_all();
}

void FramePusher::begin_generation() {
  ++generation_;
  in_flight_ = 0;
  changed_.notify_all();
}

void FramePusher::drop_waiting(Lock& lock) {
  while (!waiting_.empty()) {
    std::optional<Frame> dropped = take_next();
    const unsigned generation = generation_;
    lock.unlock();
    dropped.reset();
    lock.lock();
    end_frame(generation);
  }
}

GstFlowReturn FramePusher::push(Frame frame, unsigned generation) {
  OwnedBuffer buffer = complete_(std::move(frame));
  if (!buffer)
    return GST_FLOW_ERROR;
  // complete_() posts messages, whose handlers may have flushed or stopped the element.
  Lock lock(mutex_);
  const bool is_over = generation != generation_;
  lock.unlock();
  return is_over ? GST_FLOW_FLUSHING : gst_pad_push(pad_, buffer.release());
}

// Waits for a frame and pushes or drops it. Returns false if the thread must end.
bool FramePusher::push_next(const Thread& thread) {
  // Keeps the element alive, because a probe or message handler may stop and release it.
  ObjectPtr<GstElement> element;
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return thread.stopped || (!waiting_.empty() && !waits_for_link()); });
  if (thread.stopped)
    return false;
  element.reset(gst_pad_get_parent_element(pad_));
  std::optional<Frame> frame = take_next();
  const bool wanted = flow_ == GST_FLOW_OK;
  const unsigned generation = generation_, links = links_;
  lock.unlock();
  const GstFlowReturn flow = wanted ? push(std::move(*frame), generation) : GST_FLOW_OK;
  frame.reset();
  lock.lock();
  const bool out_of_date =
      generation != generation_ || (flow == GST_FLOW_NOT_LINKED && links != links_);
  // Values above GST_FLOW_OK are GST_FLOW_CUSTOM_SUCCESS codes.
  if (!out_of_date && flow_ == GST_FLOW_OK && flow < GST_FLOW_OK)
    flow_ = flow;
  end_frame(generation);
  return !thread.stopped;
}

}  // namespace cudavision
