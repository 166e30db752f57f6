// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/flight/streamingtask.h"

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "gst/core/elementerror.h"
#include "gst/core/text.h"

namespace cudavision {

/// The state that the thread uses. Its share ends with leave(), before join() returns: later, it
/// only releases the task.
struct StreamingTask::Run {
  Run(GstPad* p, std::function<bool()> i)
      : pad(GST_PAD_CAST(gst_object_ref(p))), iterate(std::move(i)) {
    g_rec_mutex_init(&lock);
  }
  ~Run() { g_rec_mutex_clear(&lock); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const ObjectPtr<GstPad> pad;
  const std::function<bool()> iterate;
  GRecMutex lock;                ///< a GstTask needs one
  std::shared_ptr<Run> threads;  ///< the thread's share
  /// Stored before the thread begins, and loaded in it before all else: ThreadSanitizer does not
  /// see how GLib hands data to a thread.
  std::atomic<GThread*> thread{nullptr};
  GstTask* task = nullptr;
  std::mutex joining;  ///< a GstTask wakes only one of those who wait for it
};

void StreamingTask::post_status(const Run& run, GstStreamStatusType type, GstTask* task) {
  // There is none if the thread stopped the element, and the application has released it.
  const ObjectPtr<GstElement> element(gst_pad_get_parent_element(run.pad.get()));
  if (!element)
    return;
  GstMessage* message =
      gst_message_new_stream_status(GST_OBJECT_CAST(run.pad.get()), type, element.get());
  GValue value = G_VALUE_INIT;
  g_value_init(&value, GST_TYPE_TASK);
  g_value_set_object(&value, task);
  gst_message_set_stream_status_object(message, &value);
  g_value_unset(&value);
  gst_element_post_message(element.get(), message);
}

void StreamingTask::enter(GstTask* task, GThread* thread, gpointer data) {
  Run& run = *static_cast<Run*>(data);
  [[maybe_unused]] GThread* const none = run.thread.load();
  run.thread = thread;
  post_status(run, GST_STREAM_STATUS_TYPE_ENTER, task);
}

void StreamingTask::leave(GstTask* task, GThread*, gpointer data) {
  Run& run = *static_cast<Run*>(data);
  // A task that was stopped before its thread began leaves without having entered.
  const bool entered = run.thread.load() != nullptr;
  const std::shared_ptr<Run> share = std::move(run.threads);
  if (entered)
    post_status(run, GST_STREAM_STATUS_TYPE_LEAVE, task);
  run.thread = nullptr;
}

void StreamingTask::start(std::function<bool()> iterate) {
  const auto run = std::make_shared<Run>(pad_, std::move(iterate));
  const auto function = [](gpointer data) {
    const Run& current = *static_cast<Run*>(data);
    if (!current.iterate())
      gst_task_stop(current.task);
  };
  ObjectPtr<GstTask> task(gst_task_new(function, run.get(), nullptr));
  run->task = task.get();
  gst_task_set_lock(task.get(), &run->lock);
  gst_task_set_enter_callback(task.get(), enter, run.get(), nullptr);
  gst_task_set_leave_callback(task.get(), leave, run.get(), nullptr);
  // Its thread has the name of the task, of which Linux keeps the first 15 letters.
  const ObjectPtr<GstElement> element(gst_pad_get_parent_element(pad_));
  const std::string name = std::string(element ? text_of(GST_OBJECT_NAME(element.get())) : "") +
                           ":" + text_of(GST_OBJECT_NAME(pad_));
  gst_object_set_name(GST_OBJECT_CAST(task.get()), name.c_str());
  post_status(*run, GST_STREAM_STATUS_TYPE_CREATE, task.get());

  const std::lock_guard lock(mutex_);
  run->threads = run;
  run->thread = nullptr;
  if (!gst_task_start(task.get())) {
    // The pool keeps the task, with its share, for a thread that it may have later.
    gst_task_stop(task.get());
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                       "The system starts no more threads: end other programs, raise the limit, or "
                       "set frames-in-flight=1.");
  }
  started_ = {run, std::move(task)};
}

StreamingTask::Thread StreamingTask::current() const noexcept {
  const std::lock_guard lock(mutex_);
  GstTask* const task = started_.task.get();
  return {started_.run, ObjectPtr<GstTask>(task ? GST_TASK_CAST(gst_object_ref(task)) : nullptr)};
}

StreamingTask::Thread StreamingTask::request_stop() noexcept {
  Thread thread = current();
  if (thread.task)
    gst_task_stop(thread.task.get());
  return thread;
}

void StreamingTask::join(const Thread& thread) noexcept {
  if (!thread.task)
    return;
  // GstTask refuses to wait for itself.
  if (thread.run->thread != g_thread_self()) {
    const std::lock_guard joining(thread.run->joining);
    gst_task_join(thread.task.get());
  }
  Thread ended;  // is freed without the lock
  const std::lock_guard lock(mutex_);
  if (started_.task == thread.task)
    ended = std::exchange(started_, {});
}

bool StreamingTask::is_current() const noexcept {
  const std::lock_guard lock(mutex_);
  return started_.run && started_.run->thread == g_thread_self();
}

}  // namespace cudavision
