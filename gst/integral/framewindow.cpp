// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/framewindow.h"

#include <utility>

namespace cudavision {

FrameWindow::FrameWindow(Device& arrivals, Device& device, const FrameLayout& layout, int frames)
    : arrivals_(arrivals), layout_(layout), frames_(frames) {
  for (auto& event : searched_)
    event = device.make_event();
}

void FrameWindow::remember(guint64 number, const ConstFrame& in) {
  judge();
  if (!cuts_)
    cuts_.emplace(arrivals_, layout_);
  if (!last_)
    cuts_->restart();
  Slot& to = slot(number);
  to.number.reset();  // until all has worked
  const Frame& copy = to.memory.allocated(arrivals_, layout_);
  // The frame that was there may still be searched, but if numbers follow one another, not around
  // the last two centres.
  if (!last_ || number != *last_ + 1)
    for (const auto& event : searched_)
      event->record();
  Event& searched = *searched_[number % searched_.size()];
  arrivals_.wait_event(searched);
  searched.record();
  for (int p = 0; p < layout_.plane_count; ++p)
    arrivals_.copy(in.planes[p], copy.planes[p]);
  cuts_->compare(in);
  to.frame = copy;
  to.number = number;
  last_ = number;
  judged_ = false;
}

// Finds out the scene of the last frame, once that has arrived.
void FrameWindow::judge() {
  if (std::exchange(judged_, true))
    return;
  scene_ += cuts_->found_cut() ? 1 : 0;
  slot(*last_).scene = scene_;
}

void FrameWindow::forget() noexcept {
  last_.reset();
  judged_ = true;
  for (Slot& one : slots_)
    one.number.reset();
}

ConstFrame FrameWindow::centre_on(guint64 number) {
  judge();
  const Slot& centre = slot(number);
  count_ = 0;
  for (const Slot& other : slots_)
    if (&other != &centre && other.number && other.scene == centre.scene &&
        *other.number + static_cast<guint64>(reach()) >= number &&
        *other.number <= number + static_cast<guint64>(reach()))
      neighbours_[count_++] = other.frame;
  return centre.frame;
}

}  // namespace cudavision
