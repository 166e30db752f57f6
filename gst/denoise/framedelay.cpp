// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/denoise/framedelay.h"

#include "gst/base/framemetas.h"
#include "gst/core/frameinfo.h"

namespace cudavision {

FrameDelay::FrameDelay(const DeviceSession& session, const FrameFormat& in, int frames)
    : window_(session.upload_queue(), session.device(), in.layout, frames),
      uploads_(FrameQueues(session.upload_queue()), session.context(), session.page_locks(), 1) {
  uploads_.set_input(0, in);
}

void FrameDelay::store(GstBuffer* in) {
  finish_upload();  // an error may have left the last upload unfinished
  if (is_missing_frame(in)) {
    waiting_.push_back({OwnedBuffer(gst_buffer_ref(in)), nullptr});
  } else {
    Frame frame{OwnedBuffer(gst_buffer_new()), &stored_};
    copy_metadata(in, frame.buffer.get(), true);
    PendingGpuWork upload = uploads_.map({in}, {});
    window_.store(arrived_, upload.input(0));
    upload.end(true);
    upload_ = std::move(upload);
    waiting_.push_back(std::move(frame));
  }
  ++arrived_;
}

bool FrameDelay::finish_upload() {
  if (!upload_)
    return false;
  upload_.complete();
  return window_.begins_scene();
}

FrameDelay::Frame FrameDelay::take_oldest() {
  number_ = arrived_ - waiting_.size();
  Frame oldest = std::move(waiting_.front());
  waiting_.pop_front();
  return oldest;
}

void FrameDelay::clear() noexcept {
  waiting_.clear();
  window_.clear();
}

void FrameDelay::search() {
  if (upload_.done())
    finish_upload();
  stored_ = window_.centre_on(number_);
}

}  // namespace cudavision
