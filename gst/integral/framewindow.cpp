// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/framewindow.h"

#include <utility>

namespace cudavision {

FrameWindow::FrameWindow(Device& device, const FrameLayout& layout, int frames)
    : device_(device), layout_(layout), frames_(frames) {}

void FrameWindow::remember(guint64 number, const ConstFrame& in) {
  if (!cuts_)
    cuts_.emplace(device_, layout_);
  if (!std::exchange(continues_, true))
    cuts_->restart();
  Slot& to = slot(number);
  to.number.reset();  // until all has worked
  const Frame& copy = to.memory.allocated(device_, layout_);
  for (int p = 0; p < layout_.plane_count; ++p)
    device_.copy(in.planes[p], copy.planes[p]);
  to.frame = copy;
  scene_ += cuts_->begins_scene(in) ? 1 : 0;
  to.scene = scene_;
  to.number = number;
}

void FrameWindow::forget() noexcept {
  continues_ = false;
  for (Slot& one : slots_)
    one.number.reset();
}

ConstFrame FrameWindow::centre_on(guint64 number) {
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
