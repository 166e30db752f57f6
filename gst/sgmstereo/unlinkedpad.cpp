// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/unlinkedpad.h"

#include <string>

#include "gst/base/elementerror.h"

namespace cudavision {
namespace {

constexpr GstClockTime patience = 5 * GST_SECOND;

gboolean warn(GstClock*, GstClockTime, GstClockID, gpointer data) {
  auto* pad = static_cast<GstPad*>(data);
  GstElement* element = gst_pad_get_parent_element(pad);
  // Without a parent the element is being thrown away.
  if (element && GST_PAD_IS_ACTIVE(pad) && !gst_pad_is_linked(pad))
    post_warning(element, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                 "Frames have been waiting for 5 s for partners from " +
                     std::string(GST_PAD_NAME(pad)) +
                     ", to which nothing is linked: link the other camera to it. Where each frame "
                     "holds both pictures, link it to sink_left and set frame-packing=side-by-side "
                     "or frame-packing=top-bottom.");
  if (element)
    gst_object_unref(element);
  return TRUE;
}

}  // namespace

void UnlinkedStream::reset() noexcept {
  started_ = false;
  ended_ = false;
}

void UnlinkedStream::start() {
  gchar* id = g_strdup_printf("unlinked-%08x", g_random_int());
  gst_pad_send_event(pad_, gst_event_new_stream_start(id));
  g_free(id);
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

void UnlinkedStream::go_on() {
  if (ended_)
    start();
}

void UnlinkedStream::flush(GstEvent* event) {
  gst_pad_send_event(pad_, gst_event_ref(event));
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    ended_ = false;
}

void LinkAlarm::set(GstPad* pad) {
  const std::lock_guard lock(mutex_);
  if (id_)
    return;
  GstClock* clock = gst_system_clock_obtain();
  id_ = gst_clock_new_single_shot_id(clock, gst_clock_get_time(clock) + patience);
  gst_clock_id_wait_async(id_, warn, gst_object_ref(pad), gst_object_unref);
  gst_object_unref(clock);
}

void LinkAlarm::cancel() {
  const std::lock_guard lock(mutex_);
  if (!id_)
    return;
  gst_clock_id_unschedule(id_);
  gst_clock_id_unref(id_);
  id_ = nullptr;
}

}  // namespace cudavision
