// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudasgmstereo
 * @title: cudasgmstereo
 *
 * Finds, for each pixel of a left picture, how far to the left the same point of the scene lies in
 * the right one, by Semi-Global Matching. From that disparity follows the distance. Works on an
 * NVIDIA GPU or, with the same results to the bit, on the CPU.
 *
 * The pictures must be rectified: a point of the scene lies in the same row of both. They come from
 * two cameras on `sink_left` and `sink_right`, in any formats, of equal width, height and bits per
 * sample; or both in one frame, side by side or one above the other, on `sink_left`, while
 * `sink_right` stays unlinked. Frames pair by their running times, #GstCudaSgmStereo:max-skew apart
 * at most; frames without a partner are dropped and counted.
 *
 * #GstCudaSgmStereo:output says what comes out, and for disparities the caps that downstream takes:
 *
 * * `disparity` as GRAY16_LE: int16 in two's complement, #GstCudaSgmStereo:disparity-scale to a
 *   pixel, #GstCudaSgmStereo:invalid-value where nothing is known, as OpenCV has it
 * * `disparity` as GRAY8: 0 where nothing is known, else from 1 for the smallest to 255
 * * `disparity` as RGB, RGBA or BGRx: the same in colours, see #GstCudaSgmStereo:colormap
 * * `depth` as GRAY16_LE: millimetres, or what #GstCudaSgmStereo:depth-unit says; 0 where nothing
 * is known. Needs #GstCudaSgmStereo:focal-length and #GstCudaSgmStereo:baseline.
 * * `confidence` as GRAY8: from 0, not known, to 255
 *
 * What caps and memory follow from (from #GstCudaSgmStereo:num-disparities to
 * #GstCudaSgmStereo:compatibility, #GstCudaSgmStereo:output and #GstCudaSgmStereo:frame-packing) is
 * in force from the element's next start on. All others but those of the device may change at any
 * time, also by a #GstControlSource.
 *
 * ## Examples
 * |[
 * gst-launch-1.0 cudasgmstereo name=stereo ! video/x-raw,format=RGB ! videoconvert ! autovideosink
 * v4l2src device=/dev/video0 ! videoconvert ! queue ! stereo.sink_left
 * v4l2src device=/dev/video2 ! videoconvert ! queue ! stereo.sink_right
 * ]| Two cameras; what is near is red.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudasgmstereo frame-packing=side-by-side output=depth
 * focal-length=700 baseline=120 ! appsink
 * ]| A stereo camera; distances in millimetres for an application.
 * |[
 * gst-launch-1.0 cudasgmstereo name=stereo fill-holes=true ! videoconvert !
 * video/x-raw,format=GRAY16_BE ! pngenc ! filesink location=disparity.png
 * filesrc location=left.png ! decodebin ! videoconvert ! stereo.sink_left
 * filesrc location=right.png ! decodebin ! videoconvert ! stereo.sink_right
 * ]| Two photographs; a PNG of 16 bits.
 */
#include "gst/sgmstereo/gstcudasgmstereo.h"

#include "gst/base/elementerror.h"
#include "gst/memory/allocationquery.h"
#include "gst/memory/libgstcuda.h"
#include "gst/sgmstereo/stereoaggregate.h"
#include "gst/sgmstereo/stereocaps.h"
#include "gst/sgmstereo/stereoevents.h"
#include "gst/sgmstereo/stereopads.h"
#include "gst/sgmstereo/stereoproperties.h"

GST_DEBUG_CATEGORY_STATIC(cuda_sgm_stereo_debug);
#define GST_CAT_DEFAULT cuda_sgm_stereo_debug

using namespace cudavision;

struct GstCudaSgmStereoClass {
  GstAggregatorClass parent_class;
};

G_DEFINE_TYPE(GstCudaSgmStereo, gst_cuda_sgm_stereo, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE(cudasgmstereo, "cudasgmstereo", GST_RANK_NONE, GST_TYPE_CUDA_SGM_STEREO)

namespace cudavision {

StereoSettings stereo_settings(gpointer self) {
  const StereoState& state = stereo_state(self);
  GST_OBJECT_LOCK(self);
  const StereoSettings settings =
      state.started ? state.settings.since_start(*state.started) : state.settings;
  GST_OBJECT_UNLOCK(self);
  return settings;
}

bool stereo_takes_cuda(gpointer self) {
  return stereo_state(self).session.active_backend() != DeviceKind::cpu;
}

}  // namespace cudavision

namespace {

GstAggregatorClass* base_class() {
  return GST_AGGREGATOR_CLASS(gst_cuda_sgm_stereo_parent_class);
}

/* Properties */

const ElementProperties<StereoSettings>* properties = nullptr;  // from class_init on

guint first_session_property() {
  return properties->count() + 1;
}

guint first_report() {
  return first_session_property() + DeviceSession::property_count;
}

bool is_session_property(guint id) {
  return id >= first_session_property() && id < first_report();
}

sgm::DisparityScale scale_now(gpointer self) {
  return sgm::disparity_scale(sgm_parameters(stereo_settings(self)));
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  StereoState& state = stereo_state(object);
  if (is_session_property(id)) {
    state.session.set_property(static_cast<DeviceSession::Property>(id - first_session_property()),
                               value);
    return;
  }
  const sgm::DisparityScale before = scale_now(object);
  properties->set(object, id, value, pspec, state.settings);
  const sgm::DisparityScale after = scale_now(object);
  if (after.invalid != before.invalid)
    g_object_notify(object, "invalid-value");
  if (after.per_pixel != before.per_pixel)
    g_object_notify(object, "disparity-scale");
}

guint64 dropped_by(gpointer self, const StereoInput& input) {
  GST_OBJECT_LOCK(self);
  const guint64 dropped = input.dropped;
  GST_OBJECT_UNLOCK(self);
  return dropped;
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  const StereoState& state = stereo_state(object);
  if (is_session_property(id))
    state.session.get_property(static_cast<DeviceSession::Property>(id - first_session_property()),
                               value);
  else if (id == first_report() + report_invalid_value)
    g_value_set_uint(value, scale_now(object).invalid);
  else if (id == first_report() + report_disparity_scale)
    g_value_set_int(value, scale_now(object).per_pixel);
  else if (id == first_report() + report_dropped_left)
    g_value_set_uint64(value, dropped_by(object, state.left));
  else if (id == first_report() + report_dropped_right)
    g_value_set_uint64(value, dropped_by(object, state.right));
  else
    properties->get(object, id, value, pspec, state.settings);
}

/* Life */

void forget_stream(gpointer self) {
  StereoState& state = stereo_state(self);
  state.packing = {};
  state.out.reset();
  state.discont = true;
  state.announced = false;
  state.ended = false;
  state.renegotiate = false;
  state.flushed = false;
  state.arrives_packed = false;
  state.unlinked->reset();
  for (StereoInput* input : {&state.left, &state.right}) {
    input->in_force.reset();
    input->format.reset();
  }
  GST_OBJECT_LOCK(self);
  state.lateness.reset();
  for (StereoInput* input : {&state.left, &state.right}) {
    gst_clear_caps(&input->caps);
    input->unacceptable.clear();
  }
  GST_OBJECT_UNLOCK(self);
}

void finalize(GObject* object) {
  StereoState& state = stereo_state(object);
  gst_clear_caps(&state.left.caps);
  gst_clear_caps(&state.right.caps);
  delete &state;
  G_OBJECT_CLASS(gst_cuda_sgm_stereo_parent_class)->finalize(object);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  return stereo_state(element).session.change_state(
      transition, GST_ELEMENT_CLASS(gst_cuda_sgm_stereo_parent_class));
}

void set_context(GstElement* element, GstContext* context) {
  stereo_state(element).session.set_context(context,
                                            GST_ELEMENT_CLASS(gst_cuda_sgm_stereo_parent_class));
}

gboolean start(GstAggregator* self) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    StereoState& state = stereo_state(self);
    const StereoSettings settings = current_settings(self, state.settings);
    state.rule.require(validation_error(settings));
    forget_stream(self);
    state.session.start();
    GST_OBJECT_LOCK(self);
    state.started = settings;
    state.left.dropped = 0;
    state.right.dropped = 0;
    GST_OBJECT_UNLOCK(self);
    return TRUE;
  });
}

gboolean stop(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  state.alarm.cancel();
  const gboolean released = post_exceptions(self, FALSE, [&]() -> gboolean {
    stereo_release(self);
    return TRUE;
  });
  state.session.stop();
  forget_stream(self);
  GST_OBJECT_LOCK(self);
  state.started.reset();
  GST_OBJECT_UNLOCK(self);
  return released;
}

/* Events and queries */

GstFlowReturn sink_event_pre_queue(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event) {
  const bool arrived = post_exceptions(self, false, [&] {
    stereo_event_arrives(self, pad, event);
    return true;
  });
  if (arrived)
    return base_class()->sink_event_pre_queue(self, pad, event);
  gst_event_unref(event);
  return GST_FLOW_NOT_NEGOTIATED;
}

gboolean sink_flush(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event) {
  gst_event_ref(event);
  const gboolean handled = base_class()->sink_event(self, pad, event);
  stereo_flush_arrived(self, pad, event);
  gst_event_unref(event);
  return handled;
}

gboolean sink_event(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START ||
      GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    return sink_flush(self, pad, event);
  gst_event_ref(event);
  const gboolean handled = post_exceptions(self, FALSE, [&]() -> gboolean {
    stereo_event_comes(self, pad, event);
    const gboolean done = base_class()->sink_event(self, pad, gst_event_ref(event));
    stereo_event_came(self, pad, event);
    return done;
  });
  gst_event_unref(event);
  gst_event_unref(event);
  return handled;
}

gboolean src_event(GstAggregator* self, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) {
    GST_OBJECT_LOCK(self);
    stereo_state(self).lateness.take(event);
    GST_OBJECT_UNLOCK(self);
  }
  return base_class()->src_event(self, event);
}

// Between two lives of the aggregating thread.
GstFlowReturn flush(GstAggregator* self) {
  StereoState& state = stereo_state(self);
  GST_OBJECT_LOCK(self);
  state.lateness.forget_request();
  GST_OBJECT_UNLOCK(self);
  state.ended = false;
  if (state.renegotiate)
    gst_pad_mark_reconfigure(self->srcpad);
  return GST_FLOW_OK;
}

gboolean sink_query(GstAggregator* self, GstAggregatorPad* pad, GstQuery* query) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    return stereo_answer_upstream(self, pad, query) || base_class()->sink_query(self, pad, query);
  });
}

gboolean src_query(GstAggregator* self, GstQuery* query) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    return stereo_answer_downstream(self, query) || base_class()->src_query(self, query);
  });
}

/* Negotiation */

GstFlowReturn update_src_caps(GstAggregator* self, GstCaps* downstream, GstCaps** result) {
  return post_exceptions(self, GST_FLOW_NOT_NEGOTIATED, [&] {
    StereoState& state = stereo_state(self);
    state.renegotiate = state.ended;
    if (state.ended || !state.left.format || (!state.packing.packed() && !state.right.format))
      return GST_AGGREGATOR_FLOW_NEED_DATA;
    const Caps possible(stereo_src_caps_for(state.left.in_force.get(), state.packing,
                                            stereo_settings(self).output, stereo_takes_cuda(self)));
    *result = gst_caps_intersect_full(possible.get(), downstream, GST_CAPS_INTERSECT_FIRST);
    return GST_FLOW_OK;
  });
}

GstCaps* fixate_src_caps(GstAggregator* self, GstCaps* caps) {
  return choose_stereo_output(caps, self->srcpad);
}

gboolean negotiated_src_caps(GstAggregator* self, GstCaps* caps) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    stereo_release(self);
    stereo_state(self).out = frame_format_from_caps(caps);
    return TRUE;
  });
}

gboolean decide_allocation(GstAggregator* self, GstQuery* query) {
  return post_exceptions(self, FALSE, [&]() -> gboolean {
    decide_pool(query, stereo_state(self).session, *stereo_state(self).out);
    return TRUE;
  });
}

gboolean propose_allocation(GstAggregator* self, GstAggregatorPad*, GstQuery*, GstQuery* query) {
  return post_exceptions(
      self, FALSE, [&]() -> gboolean { return propose_pool(query, stereo_state(self).session); });
}

/* Frames */

GstFlowReturn aggregate(GstAggregator* self, gboolean timeout) {
  return post_exceptions(self, GST_FLOW_ERROR, [&] { return stereo_aggregate(self, timeout); });
}

GstClockTime get_next_time(GstAggregator* self) {
  return stereo_next_time(self);
}

GstSample* peek_next_sample(GstAggregator*, GstAggregatorPad* pad) {
  GstBuffer* buffer = gst_aggregator_pad_peek_buffer(pad);
  if (!buffer)
    return nullptr;
  const GstSegment segment = segment_of(pad);
  GstCaps* caps = gst_pad_get_current_caps(GST_PAD_CAST(pad));
  GstSample* sample = gst_sample_new(buffer, caps, &segment, nullptr);
  gst_clear_caps(&caps);
  gst_buffer_unref(buffer);
  return sample;
}

void add_templates(GstElementClass* klass) {
  const Caps sink(video_template_caps());
  const Caps src(stereo_src_template());
  const auto add = [&](const char* name, GstPadDirection direction, GstCaps* caps) {
    gst_element_class_add_pad_template(
        klass, gst_pad_template_new_with_gtype(name, direction, GST_PAD_ALWAYS, caps,
                                               GST_TYPE_AGGREGATOR_PAD));
  };
  add("sink_left", GST_PAD_SINK, sink.get());
  add("sink_right", GST_PAD_SINK, sink.get());
  add("src", GST_PAD_SRC, src.get());
}

}  // namespace

static void gst_cuda_sgm_stereo_class_init(GstCudaSgmStereoClass* klass) {
  GST_DEBUG_CATEGORY_INIT(cuda_sgm_stereo_debug, "cudasgmstereo", 0, "Semi-Global Matching");
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  properties = &install_stereo_properties(object_class);
  DeviceSession::install_properties(object_class, first_session_property());
  install_stereo_reports(object_class, first_report());

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = change_state;
  element_class->set_context = set_context;
  gst_element_class_set_static_metadata(
      element_class, "CUDA stereo matching", "Filter/Analyzer/Video/Hardware",
      "Dense disparity and depth from two rectified cameras by Semi-Global Matching, on an NVIDIA "
      "GPU or the CPU",
      "The gst-cudavision developers");
  add_templates(element_class);

  GstAggregatorClass* aggregator_class = GST_AGGREGATOR_CLASS(klass);
  aggregator_class->start = start;
  aggregator_class->stop = stop;
  aggregator_class->flush = flush;
  aggregator_class->sink_event_pre_queue = sink_event_pre_queue;
  aggregator_class->sink_event = sink_event;
  aggregator_class->sink_query = sink_query;
  aggregator_class->src_event = src_event;
  aggregator_class->src_query = src_query;
  aggregator_class->update_src_caps = update_src_caps;
  aggregator_class->fixate_src_caps = fixate_src_caps;
  aggregator_class->negotiated_src_caps = negotiated_src_caps;
  aggregator_class->decide_allocation = decide_allocation;
  aggregator_class->propose_allocation = propose_allocation;
  aggregator_class->aggregate = aggregate;
  aggregator_class->get_next_time = get_next_time;
  aggregator_class->peek_next_sample = peek_next_sample;
}

static void gst_cuda_sgm_stereo_init(GstCudaSgmStereo* self) {
  auto* element = GST_ELEMENT_CAST(self);
  self->state = new StereoState(element);
  StereoState& state = *self->state;
  state.left.pad = add_sink_pad(element, "sink_left");
  state.right.pad = add_sink_pad(element, "sink_right");
  state.unlinked.emplace(GST_PAD_CAST(state.right.pad));
}
