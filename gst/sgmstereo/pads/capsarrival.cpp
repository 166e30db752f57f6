// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pads/capsarrival.h"

#include "gst/base/patience.h"

namespace cudavision {

void CapsArrival::wait(const std::function<bool()>& arrived) {
  std::unique_lock lock(mutex_);
  if (waiting_ || stopped_)
    return;
  if (!deadline_)
    deadline_ =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience::other_caps.time);
  waiting_ = true;
  changed_.wait_until(lock, *deadline_, [&] { return stopped_ || arrived(); });
  waiting_ = false;
}

void CapsArrival::notify() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void CapsArrival::reset() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();
  stopped_ = false;
}

void CapsArrival::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace cudavision
