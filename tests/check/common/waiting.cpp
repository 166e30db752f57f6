// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/waiting.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "tests/check/common/gstcheck.h"

namespace check {

namespace {

bool sleeps(pid_t thread) {
  gchar* text = nullptr;
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  if (!g_file_get_contents(path.c_str(), &text, nullptr, nullptr))
    return false;
  const std::string line(text);
  g_free(text);
  const std::size_t end = line.rfind(") ");
  return end != line.npos && line[end + 2] == 'S';
}

}  // namespace

bool comes_true(const std::function<bool()>& condition) {
  const gint64 end = g_get_monotonic_time() + watchdog_seconds * G_USEC_PER_SEC;
  while (!condition()) {
    if (g_get_monotonic_time() > end)
      return false;
    g_usleep(500);
  }
  return true;
}

void wait_until(const std::function<bool()>& condition, const char* what) {
  if (!comes_true(condition))
    ck_abort_msg("timed out while waiting for %s", what);
}

GstBuffer* wait_for_buffer(GstHarness* harness) {
  GstBuffer* buffer = nullptr;
  for (int minute = 0; minute < watchdog_seconds / 60 && buffer == nullptr; ++minute)
    buffer = gst_harness_pull(harness);
  return buffer;
}

GstEvent* wait_for_event(GstHarness* harness) {
  GstEvent* event = nullptr;
  for (int minute = 0; minute < watchdog_seconds / 60 && event == nullptr; ++minute)
    event = gst_harness_pull_event(harness);
  return event;
}

GstBuffer* wait_for_buffer_or_eos(GstHarness* harness) {
  GstBuffer* buffer = nullptr;
  for (int minute = 0; minute < watchdog_seconds / 60; ++minute)
    if (gst_harness_pull_until_eos(harness, &buffer))
      return buffer;
  ck_abort_msg("timed out while waiting for a buffer or EOS");
  return nullptr;
}

pid_t this_thread() {
  return static_cast<pid_t>(syscall(SYS_gettid));
}

void wait_until_blocked(pid_t thread) {
  int in_a_row = 0;
  wait_until([&] { return (in_a_row = sleeps(thread) ? in_a_row + 1 : 0) == 5; },
             "a thread to be blocked");
}

void let_time_pass(int milliseconds) {
  g_usleep(static_cast<gulong>(milliseconds) * 1000);
}

RoundsInTime::RoundsInTime(int milliseconds)
    : end_(g_get_monotonic_time() + milliseconds * 1000LL) {}

bool RoundsInTime::next() {
  return ++number_ < 3 || g_get_monotonic_time() < end_;
}

}  // namespace check
