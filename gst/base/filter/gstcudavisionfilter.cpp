// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/filter/gstcudavisionfilter.h"

#include <algorithm>

#include "gst/base/allocationquery.h"
#include "gst/base/capsdiagnostics.h"
#include "gst/base/filter/filterstate.h"
#include "gst/core/caps.h"
#include "gst/flight/flightlimit.h"
#include "gst/memory/streamorder.h"

using namespace cudavision;

G_DEFINE_ABSTRACT_TYPE(GstCudaVisionFilter, gst_cuda_vision_filter, GST_TYPE_BASE_TRANSFORM)

#define parent_class gst_cuda_vision_filter_parent_class

namespace {

// Sets the pusher's limit. No frame may be in flight. Returns the limit on frames in flight.
std::size_t limit_frames_in_flight(gpointer self, const FrameFormat& in, const FrameFormat& out) {
  const FilterState& state = state_of(self);
  std::size_t limit = state.requested_in_flight;
  if (limit == 0)
    limit = automatic_frames_in_flight(FlightUnit::frame, state.session.device().kind(),
                                       order_is_known(in) && order_is_known(out),
                                       state.session.pipelines_on_gpu());
  return std::max<std::size_t>(state.pusher->set_limit(limit > 1 && !is_pulled(self) ? limit : 0),
                               1);
}

const ElementProperties<FilterSettings>* properties = nullptr;  // set by class_init

void set_property(GObject* object, guint id, const GValue* value, GParamSpec*) {
  properties->set(object, id, value, state_of(object).settings);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec*) {
  properties->get(object, id, value, state_of(object).settings);
}

void finalize(GObject* object) {
  delete filter(object)->state;
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  return state_of(element).session.change_state(transition, GST_ELEMENT_CLASS(parent_class));
}

void set_context(GstElement* element, GstContext* context) {
  state_of(element).session.set_context(context, GST_ELEMENT_CLASS(parent_class));
}

// start() and stop() hold the stream lock, because FLUSH_STOP may arrive even on an inactive pad.
gboolean start(GstBaseTransform* trans) {
  return post_exceptions(trans, FALSE, [&]() -> gboolean {
    const StreamLock streaming(GST_BASE_TRANSFORM_SINK_PAD(trans));
    FilterState& state = state_of(trans);
    state.forget_refusal();
    state.skipped = false;
    state.reports = false;
    state.pushed = 0;
    state.pending_flow = GST_FLOW_OK;
    state.regions.start();
    const int requested = current_settings(trans, state.settings).frames_in_flight;
    SettingsGuard().require(number_error("frames-in-flight", requested, frames_in_flight_range));
    state.requested_in_flight = static_cast<std::size_t>(requested);
    state.session.start();
    state.pusher->open();
    // With frames-in-flight=0, the number of frames depends on the caps, which are not known yet.
    const bool may_wait = !is_pulled(trans) && state.requested_in_flight != 1 &&
                          (state.requested_in_flight > 1 || state.session.on_cuda());
    const ObjectLock lock(trans);
    state.latency = 0;
    state.buffered = may_wait ? GST_CLOCK_TIME_NONE : 0;
    return TRUE;
  });
}

// Always succeeds, because an element that fails to stop after an error cannot be restarted.
gboolean stop(GstBaseTransform* trans) {
  // Stops the pusher first, because a seek in the pusher's thread may wait for the stream lock.
  state_of(trans).pusher->stop();
  const StreamLock streaming(GST_BASE_TRANSFORM_SINK_PAD(trans));
  post_first_exception(trans, false, [&] {
    drain_filter(trans);
    return true;
  });
  post_exceptions(trans, false, [&] {
    release_filter(trans);
    return true;
  });
  state_of(trans).session.stop();
  return TRUE;
}

// When the source pad is deactivated, GstBaseTransform waits for the streaming thread. That thread
// may wait for the pusher or, in pull mode, for upstream, so this function first ends these waits.
gboolean activate_src(GstPad* pad, GstObject* parent, GstPadMode mode, gboolean active) {
  const FilterState& state = state_of(parent);
  if (!active && mode == GST_PAD_MODE_PUSH)
    state.pusher->stop();
  if (!active && mode == GST_PAD_MODE_PULL) {
    gst_pad_activate_mode(GST_BASE_TRANSFORM_SINK_PAD(parent), mode, FALSE);
    const StreamLock pulling(pad);
  }
  return state.activate_src_of_parent(pad, parent, mode, active);
}

// Corrects GstBaseTransform's QOS messages, which count only frames that it pushes itself.
gboolean post_message(GstElement* element, GstMessage* message) {
  FilterState& state = state_of(element);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_QOS) {
    // Posts the messages about earlier frames first.
    if (state.reports)
      post_exceptions(element, false, [&] { return wait_for_frames(element); });
    GstFormat format = GST_FORMAT_UNDEFINED;
    guint64 processed = 0, dropped = 0;
    gst_message_parse_qos_stats(message, &format, &processed, &dropped);
    gst_message_set_qos_stats(message, format, processed + state.pushed, dropped);
  }
  return GST_ELEMENT_CLASS(parent_class)->post_message(element, message);
}

GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection, GstCaps* caps, GstCaps* filter) {
  return post_exceptions(trans, static_cast<GstCaps*>(nullptr), [&] {
    return caps_of_other_side(caps, filter, state_of(trans).session.takes_cuda()).release();
  });
}

GstCaps* fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                     GstCaps* othercaps) {
  if (direction == GST_PAD_SINK)
    othercaps = choose_memory(Caps(othercaps), GST_BASE_TRANSFORM_SRC_PAD(trans)).release();
  return GST_BASE_TRANSFORM_CLASS(parent_class)->fixate_caps(trans, direction, caps, othercaps);
}

gboolean get_unit_size(GstBaseTransform* trans, GstCaps* caps, gsize* size) {
  try {
    *size = frame_format_from_caps(caps).size;
    return TRUE;
  } catch (const std::exception& e) {
    GST_CAT_WARNING_OBJECT(category_of(trans), trans, "%s", e.what());
    return FALSE;
  }
}

gboolean set_caps(GstBaseTransform* trans, GstCaps* in_caps, GstCaps* out_caps) {
  FilterState& state = state_of(trans);
  return post_first_exception(trans, FALSE, [&]() -> gboolean {
    if (!state.session.started())
      return FALSE;
    try {
      drain_filter(trans);
      if (!state.session.started())
        return FALSE;
      const FrameFormat in = frame_format_from_caps(in_caps, class_of(trans)->unpacked_form);
      const FrameFormat out = class_of(trans)->output_format(filter(trans), in, out_caps);
      GST_CAT_INFO_OBJECT(category_of(trans), trans,
                          "%" GST_PTR_FORMAT " to %" GST_PTR_FORMAT " on %s", in_caps, out_caps,
                          state.session.on_cuda() ? "CUDA" : "the CPU");
      configure_filter(trans, in, out, gst_caps_is_equal(in_caps, out_caps));
      state.forget_refusal();
      return TRUE;
    } catch (const std::exception& e) {
      // Posts only one error, even if upstream sends the same caps again. A failed device may cause
      // a different error each time.
      const bool repeated = state.refusal == e.what();
      const bool by_device = dynamic_cast<const Error*>(&e) != nullptr;
      const bool known = repeated || (by_device && state.device_failed);
      state.refusal = e.what();
      state.device_failed = by_device;
      if (known)
        return FALSE;
      throw;
    }
  });
}

gboolean propose_allocation(GstBaseTransform* trans, GstQuery*, GstQuery* query) {
  return post_exceptions(trans, FALSE, [&]() -> gboolean {
    // An element that delays frames copies them, so it holds none of upstream's buffers.
    const FilterState& state = state_of(trans);
    return propose_pool(query, state.session, state.latency_frames ? 0 : state.pusher->limit());
  });
}

// Switches to the stream of downstream's pool, so that neither element has to wait for an event of
// another stream. propose_allocation() offers the same stream to upstream.
void follow_stream(GstBaseTransform* trans, GstQuery* query) {
  FilterState& state = state_of(trans);
  GstBufferPool* parsed = nullptr;
  gst_query_parse_nth_allocation_pool(query, 0, &parsed, nullptr, nullptr, nullptr);
  const ObjectPtr<GstBufferPool> pool(parsed);
  const Structure config(gst_buffer_pool_get_config(pool.get()));
  const SharedStream stream = stream_named_in(config.get());
  if (stream && stream.handle() != state.session.stream().handle())
    rebuild_filter(trans, [&] { state.session.work_on(stream); });
}

gboolean decide_allocation(GstBaseTransform* trans, GstQuery* query) {
  return post_exceptions(trans, FALSE, [&]() -> gboolean {
    FilterState& state = state_of(trans);
    if (!state.slots)
      return FALSE;
    decide_pool(query, state.session, state.out());
    follow_stream(trans, query);
    state.padding_allowed = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
    return TRUE;
  });
}

}  // namespace

namespace cudavision {

GstBaseTransformClass* filter_parent_class() {
  return GST_BASE_TRANSFORM_CLASS(parent_class);
}

void release_filter(gpointer self) {
  FilterState& state = state_of(self);
  const ReleaseScope scope(state.session.context());
  if (class_of(self)->release)
    class_of(self)->release(filter(self));
  state.slots.reset();
}

bool is_pulled(gpointer self) {
  return GST_PAD_MODE(GST_BASE_TRANSFORM_SRC_PAD(self)) == GST_PAD_MODE_PULL;
}

void configure_filter(gpointer self, const FrameFormat& in, const FrameFormat& out,
                      bool same_caps) {
  FilterState& state = state_of(self);
  release_filter(self);
  bool latency_changed = false;
  try {
    const DeviceScope scope(state.session);
    state.regions.set_video(in.info);
    state.latency_frames = 0;
    class_of(self)->configure(filter(self), state.session.device(), in, out);
    const std::size_t maximum = limit_frames_in_flight(self, in, out);
    state.slots.emplace(state.session.queues(maximum), state.session.context(),
                        state.session.page_locks(), maximum);
    state.slots->set_input(0, in);
    state.slots->set_output(0, out);
    state.same_caps = same_caps;
    state.padding_allowed = false;
    const ObjectLock lock(self);
    const bool known = maximum == 1 || in.info.fps_n > 0;
    state.buffered = known ? duration_of(maximum - 1, in.info) : GST_CLOCK_TIME_NONE;
    const GstClockTime latency =
        std::min<GstClockTime>(duration_of(state.latency_frames, in.info), 3600 * GST_SECOND);
    latency_changed = std::exchange(state.latency, latency) != latency;
  } catch (...) {
    release_filter(self);
    throw;
  }
  if (latency_changed)
    gst_element_post_message(GST_ELEMENT_CAST(self),
                             gst_message_new_latency(GST_OBJECT_CAST(self)));
}

}  // namespace cudavision

static void gst_cuda_vision_filter_class_init(GstCudaVisionFilterClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  static ElementProperties<FilterSettings> all(object_class);
  add_device_properties(
      all, +[](gpointer self) -> DeviceSession& { return state_of(self).session; });
  all.add(
      {"frames-in-flight", "Frames in flight",
       "Number of frames that are transferred and processed at the same time (0 = automatic, at "
       "present 3 on CUDA, 1 on the CPU, and also 1 if more than 8 pipelines use the GPU or if all "
       "frames are in CUDA memory that carries a stream)",
       PropertyChange::when_ready},
      &FilterSettings::frames_in_flight, frames_in_flight_range);
  properties = &all;

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = GST_DEBUG_FUNCPTR(change_state);
  element_class->set_context = GST_DEBUG_FUNCPTR(set_context);
  element_class->post_message = GST_DEBUG_FUNCPTR(post_message);

  GstBaseTransformClass* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->passthrough_on_same_caps = FALSE;
  transform_class->start = GST_DEBUG_FUNCPTR(start);
  transform_class->stop = GST_DEBUG_FUNCPTR(stop);
  transform_class->transform_caps = GST_DEBUG_FUNCPTR(transform_caps);
  transform_class->fixate_caps = GST_DEBUG_FUNCPTR(fixate_caps);
  transform_class->get_unit_size = GST_DEBUG_FUNCPTR(get_unit_size);
  transform_class->set_caps = GST_DEBUG_FUNCPTR(set_caps);
  transform_class->propose_allocation = GST_DEBUG_FUNCPTR(propose_allocation);
  transform_class->decide_allocation = GST_DEBUG_FUNCPTR(decide_allocation);
  install_frames(transform_class);
  install_events(transform_class);

  klass->unpacked_form = repack::UnpackedForm::channels;
  klass->output_format = [](GstCudaVisionFilter*, const FrameFormat& in, const GstCaps* caps) {
    return frame_format_from_caps(caps, in.form);
  };

  gst_type_mark_as_plugin_api(GST_TYPE_CUDA_VISION_FILTER, static_cast<GstPluginAPIFlags>(0));
}

static void gst_cuda_vision_filter_init(GstCudaVisionFilter* self) {
  self->state = new FilterState(GST_ELEMENT_CAST(self), [self](FramePusher::Frame frame) {
    return complete_frame(self, std::move(frame));
  });
  GstPad* const src = GST_BASE_TRANSFORM_SRC_PAD(self);
  self->state->activate_src_of_parent = GST_PAD_ACTIVATEMODEFUNC(src);
  gst_pad_set_activatemode_function(src, activate_src);
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM_CAST(self), TRUE);
  // Frames with the GAP flag are processed and keep the flag.
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM_CAST(self), TRUE);
  add_caps_diagnostics(GST_BASE_TRANSFORM_SINK_PAD(self), self->state->session);
}

DeviceSession& gst_cuda_vision_filter_session(GstCudaVisionFilter* self) {
  return self->state->session;
}

RegionFinder& gst_cuda_vision_filter_regions(GstCudaVisionFilter* self) {
  return self->state->regions;
}

void gst_cuda_vision_filter_set_latency(GstCudaVisionFilter* self, std::size_t frames) {
  self->state->latency_frames = frames;
}

void gst_cuda_vision_filter_reconfigure(GstCudaVisionFilter* self) {
  post_first_exception(self, false, [&] {
    if (self->state->slots)
      rebuild_filter(self, [] {});
    return true;
  });
}

void gst_cuda_vision_filter_class_add_pad_templates(GstCudaVisionFilterClass* klass,
                                                    const Caps& src) {
  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  const Caps sink = video_template_caps();
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink.get()));
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, src.get()));
}
