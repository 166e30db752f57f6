// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests wait for conditions. Sleeps only give faults time to show, or vary the timing of races.
#pragma once

#include <gst/check/gstharness.h>
#include <sys/types.h>

#include <functional>

namespace check {

/// The limit of each wait, in seconds. Only a hang reaches it, however busy the machine is.
inline constexpr int watchdog_seconds = 600;
inline constexpr GstClockTime watchdog = watchdog_seconds * GST_SECOND;

/// Polls until the condition holds. Returns false if the watchdog ends the wait.
bool comes_true(const std::function<bool()>& condition);

/// Like comes_true(), but fails the test if the watchdog ends the wait.
void wait_until(const std::function<bool()>& condition, const char* what);

/// Return the next buffer or event, or nullptr after the watchdog's time.
GstBuffer* wait_for_buffer(GstHarness* harness);
GstEvent* wait_for_event(GstHarness* harness);
/// Returns the next buffer, or nullptr after EOS. Fails the test if the watchdog ends the wait.
GstBuffer* wait_for_buffer_or_eos(GstHarness* harness);

/// The calling thread's id for wait_until_blocked().
pid_t this_thread();

/// Waits until several samples find the thread asleep. A brief sleep may be mistaken for blocking,
/// and then a race is less likely to show.
void wait_until_blocked(pid_t thread);

/// Sleeps so that a test can check that nothing happens. A busy machine may hide a fault.
void let_time_pass(int milliseconds);

/// Bounds the rounds of a race test by time, with at least three rounds:
/// for (RoundsInTime rounds(250); rounds.next();)
class RoundsInTime {
 public:
  explicit RoundsInTime(int milliseconds);
  bool next();
  int number() const { return number_; }

 private:
  const long long end_;
  int number_ = -1;
};

}  // namespace check
