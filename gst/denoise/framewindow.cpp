// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/denoise/framewindow.h"

namespace cudavision {

FrameWindow::FrameWindow(Device& upload_queue, Device& device, const FrameLayout& layout,
                         int frames)
    : upload_queue_(upload_queue),
      device_(device),
      layout_(layout),
      frames_(frames),
      copied_(upload_queue.make_event()),
      searched_(device.make_event()) {}

void FrameWindow::store(guint64 number, const ConstFrame& in) {
  if (!cuts_)
    cuts_.emplace(upload_queue_, layout_);
  if (!last_)
    cuts_->restart();
  Slot& to = slot(number);
  to.number.reset();  // set again when the frame is complete
  const Frame& copy = to.memory.allocated(upload_queue_, layout_);
  // Earlier searches may still read this slot. The last search reads the slot only if the frame
  // numbers are not consecutive.
  if (!last_ || number != *last_ + 1)
    searched_->record();
  upload_queue_.wait_event(*searched_);
  searched_->record();
  for (int p = 0; p < layout_.plane_count; ++p)
    upload_queue_.copy(in.planes[p], copy.planes[p]);
  cuts_->compare(in);
  copied_->record();
  cuts_->read_back();
  to.frame = copy;
  to.scene = scene_;
  to.number = number;
  last_ = number;
}

bool FrameWindow::begins_scene() {
  if (!last_ || !cuts_->found_cut())
    return false;
  slot(*last_).scene = ++scene_;
  return true;
}

void FrameWindow::clear() noexcept {
  last_.reset();
  for (Slot& one : slots_)
    one.number.reset();
}

ConstFrame FrameWindow::centre_on(guint64 number) {
  device_.wait_event(*copied_);
  const Slot& centre = slot(number);
  count_ = 0;
  for (const Slot& other : slots_)
    if (&other != &centre && other.number && other.scene == centre.scene &&
        *other.number + static_cast<guint64>(radius()) >= number &&
        *other.number <= number + static_cast<guint64>(radius()))
      neighbours_[count_++] = other.frame;
  return centre.frame;
}

}  // namespace cudavision
