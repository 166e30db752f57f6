// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pads/unlinkedpad.h"

#include "gst/base/warningtimeout.h"
#include "gst/core/elementerror.h"
#include "gst/core/scoped.h"
#include "gst/core/text.h"

namespace cudavision {

void UnlinkedStream::start() {
  const std::string id = take_gstring(g_strdup_printf("unlinked-%08x", g_random_int()));
  gst_pad_send_event(pad_, gst_event_new_stream_start(id.c_str()));
  started_ = true;
  ended_ = false;
}

void UnlinkedStream::end(GstEvent* segment) {
  if (!started_)
    start();
  if (ended_)
    return;
  GstEvent* eos = gst_event_new_eos();
  if (segment) {
    gst_event_set_seqnum(eos, gst_event_get_seqnum(segment));
    gst_pad_send_event(pad_, gst_event_ref(segment));
  } else {
    GstSegment whole;
    gst_segment_init(&whole, GST_FORMAT_TIME);
    gst_pad_send_event(pad_, gst_event_new_segment(&whole));
  }
  gst_pad_send_event(pad_, eos);
  ended_ = true;
}

void UnlinkedStream::resume() {
  if (ended_)
    start();
}

void UnlinkedStream::flush(GstEvent* event) {
  gst_pad_send_event(pad_, gst_event_ref(event));
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    ended_ = false;
}

void PadAlarm::set(GstPad* pad) {
  const std::lock_guard lock(mutex_);
  if (id_ && kind_ == Kind::waiting)
    return;
  forget();
  const ObjectPtr<GstClock> clock(gst_system_clock_obtain());
  id_ = gst_clock_new_single_shot_id(
      clock.get(), gst_clock_get_time(clock.get()) + warning_timeouts::waiting_pad.time);
  gst_clock_id_wait_async(id_, report_, gst_object_ref(pad), gst_object_unref);
}

void PadAlarm::cancel() {
  const std::lock_guard lock(mutex_);
  forget();
}

void PadAlarm::forget() {
  if (!id_)
    return;
  gst_clock_id_unschedule(id_);
  gst_clock_id_unref(id_);
  id_ = nullptr;
}

void require_unlinked(GstPad* sink_right) {
  if (gst_pad_is_linked(sink_right))
    refuse_stream(
        "Frames on sink_left hold both pictures, but sink_right is linked, too: unlink sink_right "
        "or, if each frame holds one picture, set frame-packing=mono.");
}

}  // namespace cudavision
