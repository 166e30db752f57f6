// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pairing/unlinkedpad.h"

#include <gst/base/gstaggregator.h>

#include <cstring>
#include <string>

#include "gst/base/patience.h"
#include "gst/core/elementerror.h"
#include "gst/core/scoped.h"
#include "gst/core/text.h"

namespace cudavision {
namespace {

/// Returns the element of a pad that should be linked and is not.
ObjectPtr<GstElement> element_lacking(GstPad* pad) {
  // Without a parent the element is being disposed of.
  ObjectPtr<GstElement> element(gst_pad_get_parent_element(pad));
  if (!GST_PAD_IS_ACTIVE(pad) || gst_pad_is_linked(pad))
    element.reset();
  return element;
}

/// Returns true if EOS has arrived on the other sink pad, but frames before it still wait.
bool other_has_ended(GstElement* element, GstPad* pad) {
  const bool is_left = std::strcmp(text_of(GST_PAD_NAME(pad)), "sink_left") == 0;
  const ObjectPtr<GstPad> other(
      gst_element_get_static_pad(element, is_left ? "sink_right" : "sink_left"));
  return GST_PAD_IS_EOS(other.get()) &&
         !gst_aggregator_pad_is_eos(GST_AGGREGATOR_PAD_CAST(other.get()));
}

gboolean warn_of_waiting(GstClock*, GstClockTime, GstClockID, gpointer data) {
  auto* pad = static_cast<GstPad*>(data);
  const ObjectPtr<GstElement> element = element_lacking(pad);
  if (element && !other_has_ended(element.get(), pad))
    post_warning(element.get(), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                 "Frames have waited 5 s for partners because nothing is linked to " +
                     std::string(text_of(GST_PAD_NAME(pad))) +
                     ": link the other camera to it. If each frame holds both pictures, link it to "
                     "sink_left and set frame-packing=side-by-side or frame-packing=top-bottom.");
  return TRUE;
}

gboolean refuse_end(GstClock*, GstClockTime, GstClockID, gpointer data) {
  auto* pad = static_cast<GstPad*>(data);
  const ObjectPtr<GstElement> element = element_lacking(pad);
  if (element && other_has_ended(element.get(), pad))
    post_exceptions(element.get(), 0, [&]() -> int {
      throw ElementError(
          GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
          "One camera has ended, but nothing is linked to " +
              std::string(text_of(GST_PAD_NAME(pad))) +
              ", so that its frames have no partners: link the other camera to it. If each frame "
              "holds both pictures, link it to sink_left and set frame-packing=side-by-side or "
              "frame-packing=top-bottom.");
    });
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

void UnlinkedStream::resume() {
  if (ended_)
    start();
}

void UnlinkedStream::flush(GstEvent* event) {
  gst_pad_send_event(pad_, gst_event_ref(event));
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    ended_ = false;
}

void UnlinkedPadAlarm::set(GstPad* pad) {
  const std::lock_guard lock(mutex_);
  if (id_ && kind_ == Kind::waiting)
    return;
  forget();
  const ObjectPtr<GstClock> clock(gst_system_clock_obtain());
  id_ = gst_clock_new_single_shot_id(clock.get(),
                                     gst_clock_get_time(clock.get()) + patience::unlinked_pad.time);
  gst_clock_id_wait_async(id_, kind_ == Kind::waiting ? warn_of_waiting : refuse_end,
                          gst_object_ref(pad), gst_object_unref);
}

void UnlinkedPadAlarm::cancel() {
  const std::lock_guard lock(mutex_);
  forget();
}

void UnlinkedPadAlarm::forget() {
  if (!id_)
    return;
  gst_clock_id_unschedule(id_);
  gst_clock_id_unref(id_);
  id_ = nullptr;
}

void require_unlinked(GstPad* sink_right) {
  if (gst_pad_is_linked(sink_right))
    refuse_stream(
        "The frames on sink_left hold both pictures, but sink_right is linked too: "
        "unlink sink_right or, if the frames are those of one camera, set "
        "frame-packing=mono.");
}

}  // namespace cudavision
