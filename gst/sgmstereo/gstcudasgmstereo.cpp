// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudasgmstereo
 * @title: cudasgmstereo
 *
 * Computes the disparity of each pixel of the left picture by Semi-Global Matching: the number of
 * pixels by which the same point is further left in the right picture. Runs on an NVIDIA GPU or,
 * with bit-identical results, on the CPU.
 *
 * The pictures must be rectified: each point of the scene is in the same row of both. With
 * #GstCudaSgmStereo:calibration the element rectifies them. `auto` needs no file: it aligns the
 * rows of cameras that are mounted roughly parallel.
 *
 * The pictures come from two cameras on `sink_left` and `sink_right`, in any formats of equal
 * width, height and bit depth. Alternatively, each frame on `sink_left` holds both pictures, side
 * by side or one above the other, and `sink_right` is unlinked. A frame pairs with the other
 * camera's nearest frame if the running times differ by at most #GstCudaSgmStereo:max-skew. Frames
 * without a partner are dropped and counted.
 *
 * #GstCudaSgmStereo:output and the caps that downstream accepts choose the output:
 *
 * * `disparity` as GRAY16_LE: int16 in two's complement, #GstCudaSgmStereo:disparity-scale counts
 *   per pixel, #GstCudaSgmStereo:invalid-value if unknown, as in OpenCV
 * * `depth` as GRAY16_LE: counts of #GstCudaSgmStereo:depth-unit millimetres, 0 if unknown. Needs
 *   #GstCudaSgmStereo:focal-length and #GstCudaSgmStereo:baseline, or a calibration file.
 * * `confidence` as GRAY8: from 0 (unknown) to 255
 * * all three as GRAY8, RGB, RGBA or BGRx for viewing; see #GstCudaSgmStereo:colormap
 *
 * The pads `depth`, `confidence`, `rectified` and `points` exist on request. `depth` and
 * `confidence` carry the output with their name. `rectified` carries the left picture that is
 * matched, in the format of the left frames or GRAY8. `points` carries X, Y and Z of each pixel in
 * millimetres, as other/tensors of float32. All outputs come from the same match. `src` may be
 * unlinked.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 cudasgmstereo name=stereo ! video/x-raw,format=RGB ! videoconvert ! autovideosink
 * v4l2src device=/dev/video0 ! videoconvert ! queue ! stereo.sink_left
 * v4l2src device=/dev/video2 ! videoconvert ! queue ! stereo.sink_right
 * ]| Two cameras; near points are red.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudasgmstereo frame-packing=side-by-side output=depth
 * focal-length=700 baseline=120 ! appsink
 * ]| A stereo camera; distances in millimetres for an application.
 *
 * ## Messages
 * Every #GstCudaSgmStereo:diagnostics-interval, the element inspects a pair and posts an element
 * message named `cudasgmstereo`. docs/elements/cudasgmstereo.md lists its fields. The element also
 * posts warnings if the cameras are swapped, the pictures are not rectified, or properties do not
 * suit the pictures.
 *
 * Since: 0.2.0
 */
#include "gst/base/capsdiagnostics.h"
#include "gst/base/elementdescription.h"
#include "gst/core/elementerror.h"
#include "gst/sgmstereo/pads/padqueries.h"
#include "gst/sgmstereo/pads/requestpads.h"
#include "gst/sgmstereo/pads/sinkpadstate.h"
#include "gst/sgmstereo/pads/stereocaps.h"
#include "gst/sgmstereo/pipeline/stereostream.h"
#include "gst/sgmstereo/stereoproperties.h"

GST_DEBUG_CATEGORY(cuda_sgm_stereo_debug);

using namespace cudavision;

/// README.md lists the threads that use each member.
struct GstCudaSgmStereo {
  GstAggregator parent;
  StereoState* state;
  SinkPadState* sinks;
  StereoStream* stream;
};

struct GstCudaSgmStereoClass {
  GstAggregatorClass parent_class;
};

G_DEFINE_TYPE(GstCudaSgmStereo, gst_cuda_sgm_stereo, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE(cudasgmstereo, "cudasgmstereo", GST_RANK_NONE,
                            gst_cuda_sgm_stereo_get_type())

static GstCudaSgmStereo* element_of(gpointer self) {
  return static_cast<GstCudaSgmStereo*>(self);
}

StereoState& cudavision::stereo_state(gpointer self) {
  return *element_of(self)->state;
}

/// Wraps a function of the aggregating thread, or flush, during which the thread is stopped.
template <auto function>
struct InAggregatingThread;
template <class Result, class... Arguments, Result (*function)(StereoStream&, Arguments...)>
struct InAggregatingThread<function> {
  static Result call(GstAggregator* self, Arguments... arguments) {
    return function(*element_of(self)->stream, arguments...);
  }
};

static GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  return stereo_state(element).session.change_state(transition,
                                                    GST_ELEMENT_CLASS(stereo_parent_class()));
}

static void set_context(GstElement* element, GstContext* context) {
  stereo_state(element).session.set_context(context, GST_ELEMENT_CLASS(stereo_parent_class()));
}

static GstFlowReturn chain(GstPad* pad, GstObject* self, GstBuffer* buffer) {
  return stereo_chain(*element_of(self)->sinks, pad, buffer);
}

static GstFlowReturn sink_event_pre_queue(GstAggregator* self, GstAggregatorPad* pad,
                                          GstEvent* event) {
  return stereo_sink_event_pre_queue(*element_of(self)->sinks, pad, event);
}

static gboolean sink_event(GstAggregator* self, GstAggregatorPad* pad, GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_FLUSH_START || type == GST_EVENT_FLUSH_STOP)
    return stereo_sink_flush_event(*element_of(self)->sinks, pad, event);
  return stereo_sink_event(*element_of(self)->stream, pad, event);
}

static gboolean sink_query(GstAggregator* self, GstAggregatorPad* pad, GstQuery* query) {
  return (gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED)
             ? stereo_serialized_sink_query(*element_of(self)->stream, pad, query)
             : stereo_sink_query(self, pad, query);
}

static gboolean start(GstAggregator* self) {
  element_of(self)->sinks->reset();
  return stereo_start(*element_of(self)->stream);
}

static gboolean stop(GstAggregator* self) {
  const gboolean stopped = stereo_stop(*element_of(self)->stream);
  element_of(self)->sinks->reset();
  return stopped;
}

static void add_pad_templates(GstElementClass* klass) {
  const Caps sink(video_template_caps());
  const Caps src = stereo_src_template();
  const auto add = [&](const char* name, GstPadDirection direction, const Caps& caps) {
    gst_element_class_add_pad_template(
        klass, gst_pad_template_new_with_gtype(name, direction, GST_PAD_ALWAYS, caps.get(),
                                               GST_TYPE_AGGREGATOR_PAD));
  };
  add("sink_left", GST_PAD_SINK, sink);
  add("sink_right", GST_PAD_SINK, sink);
  add("src", GST_PAD_SRC, src);
  add_request_pad_templates(klass);
}

// GstAggregator creates sink pads only on request, but sink_left and sink_right always exist.
static GstAggregatorPad* add_sink_pad(GstElement* element, const char* name) {
  GstPadTemplate* pad_template =
      gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(element), name);
  auto* pad = static_cast<GstPad*>(g_object_new(GST_TYPE_AGGREGATOR_PAD, "name", name, "direction",
                                                GST_PAD_SINK, "template", pad_template, nullptr));
  g_signal_connect(pad, "unlinked", G_CALLBACK(stereo_pad_unlinked), element);
  gst_element_add_pad(element, pad);
  return GST_AGGREGATOR_PAD_CAST(pad);
}

static void gst_cuda_sgm_stereo_finalize(GObject* object) {
  auto* self = element_of(object);
  delete self->stream;
  delete self->sinks;
  delete self->state;
  G_OBJECT_CLASS(gst_cuda_sgm_stereo_parent_class)->finalize(object);
}

static void gst_cuda_sgm_stereo_class_init(GstCudaSgmStereoClass* klass) {
  GST_DEBUG_CATEGORY_INIT(cuda_sgm_stereo_debug, "cudasgmstereo", 0, "Semi-Global Matching");
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = stereo_set_property;
  object_class->get_property = stereo_get_property;
  object_class->finalize = gst_cuda_sgm_stereo_finalize;
  install_stereo_properties(object_class);

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = GST_DEBUG_FUNCPTR(change_state);
  element_class->set_context = GST_DEBUG_FUNCPTR(set_context);
  element_class->request_new_pad = GST_DEBUG_FUNCPTR(stereo_request_new_pad);
  element_class->release_pad = GST_DEBUG_FUNCPTR(stereo_release_pad);
  describe_element(
      element_class, "cudasgmstereo", "CUDA stereo matching", "Filter/Analyzer/Video/Hardware",
      "Dense disparity and depth from two rectified cameras by Semi-Global Matching, on an NVIDIA "
      "GPU or the CPU");
  set_memory_advice(element_class, "smaller frames, num-disparities or, on CUDA, memory-budget");
  add_pad_templates(element_class);

  GstAggregatorClass* aggregator_class = GST_AGGREGATOR_CLASS(klass);
  aggregator_class->start = GST_DEBUG_FUNCPTR(start);
  aggregator_class->stop = GST_DEBUG_FUNCPTR(stop);
  aggregator_class->flush = GST_DEBUG_FUNCPTR(InAggregatingThread<stereo_flush>::call);
  aggregator_class->sink_event_pre_queue = GST_DEBUG_FUNCPTR(sink_event_pre_queue);
  aggregator_class->sink_event = GST_DEBUG_FUNCPTR(sink_event);
  aggregator_class->src_event = GST_DEBUG_FUNCPTR(stereo_src_event);
  aggregator_class->sink_query = GST_DEBUG_FUNCPTR(sink_query);
  aggregator_class->src_query = GST_DEBUG_FUNCPTR(stereo_src_query);
  aggregator_class->negotiate = GST_DEBUG_FUNCPTR(InAggregatingThread<stereo_negotiate>::call);
  aggregator_class->update_src_caps =
      GST_DEBUG_FUNCPTR(InAggregatingThread<stereo_update_src_caps>::call);
  aggregator_class->fixate_src_caps = GST_DEBUG_FUNCPTR(stereo_fixate_src_caps);
  aggregator_class->negotiated_src_caps =
      GST_DEBUG_FUNCPTR(InAggregatingThread<stereo_negotiated_src_caps>::call);
  aggregator_class->decide_allocation =
      GST_DEBUG_FUNCPTR(InAggregatingThread<stereo_decide_allocation>::call);
  aggregator_class->propose_allocation = GST_DEBUG_FUNCPTR(stereo_propose_allocation);
  aggregator_class->aggregate = GST_DEBUG_FUNCPTR(InAggregatingThread<stereo_aggregate>::call);
  aggregator_class->get_next_time =
      GST_DEBUG_FUNCPTR(InAggregatingThread<stereo_get_next_time>::call);
  aggregator_class->peek_next_sample =
      GST_DEBUG_FUNCPTR(InAggregatingThread<stereo_peek_next_sample>::call);
}

static void gst_cuda_sgm_stereo_init(GstCudaSgmStereo* self) {
  auto* element = GST_ELEMENT_CAST(self);
  self->state = new StereoState(element, warn_of_waiting, refuse_end);
  StereoState& state = *self->state;
  state.left.pad = add_sink_pad(element, "sink_left");
  state.right.pad = add_sink_pad(element, "sink_right");
  self->stream = new StereoStream(&self->parent, state);
  self->sinks = new SinkPadState(&self->parent, state);
  for (const StereoSinkPad* sink : {&state.left, &state.right}) {
    auto* pad = GST_PAD_CAST(sink->pad);
    self->sinks->chain_of_parent = GST_PAD_CHAINFUNC(pad);
    gst_pad_set_chain_function(pad, chain);
    add_caps_diagnostics(pad, state.session);
  }
  gst_pad_add_probe(self->parent.srcpad,
                    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                 GST_PAD_PROBE_TYPE_EVENT_FLUSH),
                    stereo_follow_src, element, nullptr);
  g_signal_connect(element, "pad-removed", G_CALLBACK(stereo_pad_removed), nullptr);
}
