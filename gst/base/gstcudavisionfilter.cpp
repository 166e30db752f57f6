// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/gstcudavisionfilter.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "gst/base/caps.h"
#include "gst/base/elementerror.h"
#include "gst/base/filterframes.h"
#include "gst/base/framemetas.h"
#include "gst/base/framepusher.h"
#include "gst/base/properties.h"
#include "gst/base/refusedcaps.h"
#include "gst/base/scoped.h"
#include "gst/memory/allocationquery.h"

using namespace cudavision;

namespace cudavision {

struct FilterState {
  FilterState(GstElement* element, FramePusher::Complete complete)
      : session(element), pusher(GST_BASE_TRANSFORM_SRC_PAD(element), std::move(complete)) {}

  DeviceSession session;

  // The next two are under the object lock.
  int frames_in_flight = 0;                     ///< the property
  GstClockTime buffered = GST_CLOCK_TIME_NONE;  ///< duration of the frames that wait in the element

  std::atomic<bool> frame_failed{false};    ///< the work on a frame in flight has failed
  std::atomic<guint64> in_flight_total{0};  ///< frames since the start or the last flush

  FramePusher pusher;  ///< not started if each frame goes downstream before the next starts

  // The following belong to the streaming thread.
  std::unique_ptr<FrameInFlight> started;  ///< the work that transform() has enqueued
  bool skipped = false;                    ///< QoS has dropped the last frame
  std::optional<FilterFrames> frames;      ///< set while the caps are known
  std::string refusal;         ///< why the last caps were refused; upstream may send them again
  bool device_failed = false;  ///< that was because of the device

  FrameInfo info;  ///< of the current frame
  FrameWork work = FrameWork::nothing;
};

}  // namespace cudavision

G_DEFINE_ABSTRACT_TYPE(GstCudaVisionFilter, gst_cuda_vision_filter, GST_TYPE_BASE_TRANSFORM)

#define parent_class gst_cuda_vision_filter_parent_class

namespace {

constexpr guint first_property = 1;
constexpr guint frames_in_flight_property = first_property + DeviceSession::property_count;
constexpr int max_frames_in_flight = 16;
/// On CUDA, unless the property says otherwise.
constexpr std::size_t default_frames_in_flight = 3;

GstCudaVisionFilter* filter(gpointer self) {
  return static_cast<GstCudaVisionFilter*>(self);
}

FilterState& state_of(gpointer self) {
  return *filter(self)->state;
}

GstCudaVisionFilterClass* class_of(gpointer self) {
  return G_TYPE_INSTANCE_GET_CLASS(self, GST_TYPE_CUDA_VISION_FILTER, GstCudaVisionFilterClass);
}

GstDebugCategory* category_of(gpointer self) {
  return class_of(self)->debug_category;
}

/* Properties and states */

bool is_session_property(guint id) {
  return id >= first_property && id < first_property + DeviceSession::property_count;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  if (id == frames_in_flight_property) {
    const ObjectLock lock(object);
    state_of(object).frames_in_flight = g_value_get_int(value);
    return;
  }
  if (!is_session_property(id)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    return;
  }
  state_of(object).session.set_property(static_cast<DeviceSession::Property>(id - first_property),
                                        value);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  if (id == frames_in_flight_property) {
    const ObjectLock lock(object);
    g_value_set_int(value, state_of(object).frames_in_flight);
    return;
  }
  if (!is_session_property(id)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    return;
  }
  state_of(object).session.get_property(static_cast<DeviceSession::Property>(id - first_property),
                                        value);
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

void forget_refusal(FilterState& state) {
  state.refusal.clear();
  state.device_failed = false;
}

void discard(gpointer self) {
  if (class_of(self)->discard)
    class_of(self)->discard(filter(self));
}

// Waits until all frames have gone downstream. If the work on one has failed, gives up what is
// still to come of it and of earlier frames, and returns false; its error has been posted.
bool wait_for_frames(gpointer self) {
  FilterState& state = state_of(self);
  state.pusher.drain();
  if (!state.frame_failed.exchange(false))
    return true;
  discard(self);
  return false;
}

// Runs the part of a virtual function that frames may make fail. Those in flight then go downstream
// before the error is posted; if one of them fails itself, its error is the only one. What is still
// to come of earlier frames is given up: waiting for that, at the latest in stop(), would fail as
// well and post a second error.
template <class Result, class Body>
Result post_first_exception(gpointer self, Result on_error, Body&& body,
                            const SourceLocation& location = SourceLocation::current()) {
  return post_exceptions(
      self, on_error,
      [&]() -> Result {
        try {
          return body();
        } catch (...) {
          if (!wait_for_frames(self))
            return on_error;
          discard(self);
          throw;
        }
      },
      location);
}

void drain(gpointer self) {
  wait_for_frames(self);
  if (class_of(self)->drain)
    class_of(self)->drain(filter(self));
}

// Waits for the device, and frees the frame in the session's context.
void drop_frame(gpointer self, std::unique_ptr<FrameInFlight> work) {
  const ReleaseScope scope(state_of(self).session);
  work.reset();
}

// Waits for the device. No context is current when frame_done() runs.
void finish_frame(gpointer self, std::unique_ptr<FrameInFlight> work) {
  try {
    if (work) {
      const DeviceScope scope(state_of(self).session);
      work->complete();
      work.reset();
    }
  } catch (...) {
    drop_frame(self, std::move(work));
    throw;
  }
  if (class_of(self)->frame_done)
    class_of(self)->frame_done(filter(self));
}

// Completes a frame that was in flight, see FramePusher::Complete.
bool complete_frame(gpointer self, std::unique_ptr<FrameInFlight> work, bool wanted) {
  if (!wanted) {
    drop_frame(self, std::move(work));
    return false;
  }
  return post_exceptions(self, false, [&] {
    try {
      finish_frame(self, std::move(work));
    } catch (...) {
      state_of(self).frame_failed = true;
      throw;
    }
    return true;
  });
}

// Returns the property. Throws ElementError if it is out of range.
std::size_t requested_frames_in_flight(gpointer self) {
  int number = 0;
  {
    const ObjectLock lock(self);
    number = state_of(self).frames_in_flight;
  }
  const std::string error = number_error("frames-in-flight", number, 0, max_frames_in_flight);
  if (!error.empty())
    throw ElementError(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, error);
  return static_cast<std::size_t>(number);
}

void start_pusher(GstBaseTransform* trans, std::size_t requested) {
  FilterState& state = state_of(trans);
  // Who pulls frames gets each one as a return value.
  if (GST_PAD_MODE(GST_BASE_TRANSFORM_SRC_PAD(trans)) == GST_PAD_MODE_PULL)
    return;
  if (requested == 0)
    requested = state.session.on_cuda() ? default_frames_in_flight : 1;
  if (requested > 1)
    state.pusher.start(requested);
}

gboolean start(GstBaseTransform* trans) {
  return post_exceptions(trans, FALSE, [&]() -> gboolean {
    FilterState& state = state_of(trans);
    forget_refusal(state);
    state.skipped = false;
    state.in_flight_total = 0;
    const std::size_t frames_in_flight = requested_frames_in_flight(trans);
    state.session.start();
    try {
      start_pusher(trans, frames_in_flight);
    } catch (...) {
      state.session.stop();
      throw;
    }
    return TRUE;
  });
}

// Frees everything that lives in the session's context.
void release(gpointer self) {
  FilterState& state = state_of(self);
  const ReleaseScope scope(state.session);
  if (class_of(self)->release)
    class_of(self)->release(filter(self));
  state.frames.reset();
}

// Always succeeds: an element that could not stop after an error could not be started again either.
gboolean stop(GstBaseTransform* trans) {
  state_of(trans).pusher.stop();
  post_first_exception(trans, false, [&] {
    drain(trans);
    return true;
  });
  post_exceptions(trans, false, [&] {
    release(trans);
    return true;
  });
  state_of(trans).session.stop();
  return TRUE;
}

/* Caps and memory */

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

// Builds, or rebuilds, the operation for known formats in the session's context.
void configure(gpointer self, const FrameFormat& in, const FrameFormat& out, bool same_caps) {
  FilterState& state = state_of(self);
  const DeviceSession& session = state.session;
  release(self);
  const DeviceScope scope(session);
  class_of(self)->configure(filter(self), session.device(), in, out);
  const std::size_t most = std::max<std::size_t>(state.pusher.limit(), 1);
  state.frames.emplace(filter(self), session, in, out, same_caps, most);
  const ObjectLock lock(self);
  state.buffered = in.info.fps_n > 0 ? gst_util_uint64_scale((most - 1) * GST_SECOND, in.info.fps_d,
                                                             in.info.fps_n)
                                     : GST_CLOCK_TIME_NONE;
}

gboolean set_caps(GstBaseTransform* trans, GstCaps* in_caps, GstCaps* out_caps) {
  FilterState& state = state_of(trans);
  return post_first_exception(trans, FALSE, [&]() -> gboolean {
    if (!state.session.started())
      return FALSE;
    try {
      drain(trans);
      const FrameFormat in =
          frame_format_from_caps(in_caps, class_of(trans)->unpacked_form(filter(trans)));
      const FrameFormat out = class_of(trans)->output_format(filter(trans), in, out_caps);
      GST_CAT_INFO_OBJECT(category_of(trans), trans,
                          "%" GST_PTR_FORMAT " to %" GST_PTR_FORMAT " on %s", in_caps, out_caps,
                          state.session.on_cuda() ? "CUDA" : "the CPU");
      configure(trans, in, out, gst_caps_is_equal(in_caps, out_caps));
      forget_refusal(state);
      return TRUE;
    } catch (const std::exception& e) {
      // One message is enough, however often upstream tries the same caps. A device that has failed
      // may fail in another call each time.
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

repack::Form form_of_channels(GstCudaVisionFilter*) {
  return repack::Form::channels;
}

FrameFormat video_output_format(GstCudaVisionFilter*, const FrameFormat& in, const GstCaps* caps) {
  return frame_format_from_caps(caps, in.form);
}

gboolean propose_allocation(GstBaseTransform* trans, GstQuery*, GstQuery* query) {
  return post_exceptions(
      trans, FALSE, [&]() -> gboolean { return propose_pool(query, state_of(trans).session); });
}

gboolean decide_allocation(GstBaseTransform* trans, GstQuery* query) {
  return post_exceptions(trans, FALSE, [&]() -> gboolean {
    FilterState& state = state_of(trans);
    if (!state.frames)
      return FALSE;
    state.frames->allow_padding(
        gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr));
    decide_pool(query, state.session, state.frames->out());
    return TRUE;
  });
}

// A frame goes downstream as soon as it is ready, so frames in flight add nothing to the least
// latency. But like a queue, the element can hold back frames of a live source.
void add_latency(gpointer self, GstQuery* query) {
  gboolean live = FALSE;
  GstClockTime least = 0, most = 0;
  gst_query_parse_latency(query, &live, &least, &most);
  const ObjectLock lock(self);
  const GstClockTime buffered = state_of(self).buffered;
  if (GST_CLOCK_TIME_IS_VALID(most) && GST_CLOCK_TIME_IS_VALID(buffered))
    gst_query_set_latency(query, live, least, most + buffered);
}

gboolean query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) {
  return post_exceptions(trans, FALSE, [&]() -> gboolean {
    if (GST_QUERY_IS_SERIALIZED(query) && direction == GST_PAD_SINK)
      wait_for_frames(trans);
    if (state_of(trans).session.handle_context_query(query))
      return TRUE;
    if (!GST_BASE_TRANSFORM_CLASS(parent_class)->query(trans, direction, query))
      return FALSE;
    if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY)
      add_latency(trans, query);
    return TRUE;
  });
}

/* Frames */

GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean is_discont, GstBuffer* in) {
  FilterState& state = state_of(trans);
  if (state.pusher.started()) {
    // Before all else, so that what is decided about the frame is not out of date when it starts.
    state.pusher.wait_for_room();
    const GstFlowReturn flow = state.pusher.take_flow();
    if (flow != GST_FLOW_OK) {
      wait_for_frames(trans);
      gst_buffer_unref(in);
      return flow;
    }
    // New caps and a new pool are negotiated behind the frames in flight.
    if (gst_pad_needs_reconfigure(GST_BASE_TRANSFORM_SRC_PAD(trans)))
      wait_for_frames(trans);
    // GstBaseTransform marks the first frame after one that QoS has dropped when it pushes it.
    if (state.skipped) {
      in = gst_buffer_make_writable(in);
      GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_DISCONT);
      state.info.buffer = in;
    }
  }
  const GstFlowReturn flow =
      GST_BASE_TRANSFORM_CLASS(parent_class)->submit_input_buffer(trans, is_discont, in);
  state.skipped = flow == GST_BASE_TRANSFORM_FLOW_DROPPED;
  return flow;
}

// If frames arrive in another CUDA context, moves everything there, the output pool included.
void follow_context(GstBaseTransform* trans, GstBuffer* buffer) {
  FilterState& state = state_of(trans);
  GstMemory* memory = cuda_memory_of(buffer);
  if (!state.frames || !state.session.should_move_to(memory))
    return;
  drain(trans);
  const FrameFormat in = state.frames->in();
  const FrameFormat out = state.frames->out();
  const bool same_caps = state.frames->same_caps();
  release(trans);
  state.session.move_to(memory);
  configure(trans, in, out, same_caps);
  gst_base_transform_reconfigure_src(trans);
}

void before_transform(GstBaseTransform* trans, GstBuffer* buffer) {
  post_first_exception(trans, false, [&] {
    FilterState& state = state_of(trans);
    state.info.buffer = buffer;
    state.info.times = frame_times(trans->segment, buffer);
    state.info.interlaced = state.frames && is_interlaced(state.frames->in().info, buffer);
    if (GST_CLOCK_TIME_IS_VALID(state.info.times.stream_time))
      gst_object_sync_values(GST_OBJECT(trans), state.info.times.stream_time);
    follow_context(trans, buffer);
    return true;
  });
}

// Takes a buffer from the pool. GstBaseTransform itself posts nothing if the pool has none left,
// and an error that does not say why if the pool cannot even allocate its first ones.
GstFlowReturn acquire_output(GstBaseTransform* trans, GstBuffer* in, GstBuffer** out) {
  const ObjectPtr<GstBufferPool> pool(gst_base_transform_get_buffer_pool(trans));
  GstFlowReturn flow = GST_FLOW_ERROR;
  if (!pool || gst_buffer_pool_set_active(pool.get(), TRUE))
    flow = GST_BASE_TRANSFORM_CLASS(parent_class)->prepare_output_buffer(trans, in, out);
  if (flow == GST_FLOW_ERROR && pool)
    refuse_output(state_of(trans).frames->out());
  return flow;
}

GstFlowReturn prepare_output_buffer(GstBaseTransform* trans, GstBuffer* in, GstBuffer** out) {
  return post_first_exception(trans, GST_FLOW_ERROR, [&] {
    FilterState& state = state_of(trans);
    if (!state.frames)
      return GST_FLOW_ERROR;
    if (is_missing_frame(in)) {
      state.work = FrameWork::nothing;
      *out = in;
      return GST_FLOW_OK;
    }
    state.work = class_of(trans)->begin_frame(filter(trans), state.info);
    if (state.work != FrameWork::transform && state.frames->may_reuse(in)) {
      *out = in;
      return GST_FLOW_OK;
    }
    return acquire_output(trans, in, out);
  });
}

// Describes, for the debug log, how a frame is processed.
const char* description(FrameWork work, GstBuffer* in, GstBuffer* out) {
  switch (work) {
    case FrameWork::nothing:
      if (is_missing_frame(in))
        return "a gap, handed on";
      return in == out ? "handed on unchanged" : "copied unchanged";
    case FrameWork::inspect:
      return in == out ? "inspected and handed on" : "inspected and copied";
    case FrameWork::transform:
      break;
  }
  return "a new frame is made";
}

GstFlowReturn transform(GstBaseTransform* trans, GstBuffer* in, GstBuffer* out) {
  return post_first_exception(trans, GST_FLOW_ERROR, [&] {
    FilterState& state = state_of(trans);
    GST_CAT_LOG_OBJECT(category_of(trans), trans, "frame %" GST_TIME_FORMAT ": %s",
                       GST_TIME_ARGS(GST_BUFFER_PTS(in)), description(state.work, in, out));
    if (in != out || state.work == FrameWork::inspect) {
      const DeviceScope scope(state.session);
      state.started = state.frames->start(in, out, state.work, state.info);
    }
    if (!state.pusher.started())
      finish_frame(trans, std::move(state.started));
    return GST_FLOW_OK;
  });
}

// Returns the time at which a frame ends.
GstClockTime end_of(GstBuffer* frame) {
  if (!GST_BUFFER_PTS_IS_VALID(frame) || !GST_BUFFER_DURATION_IS_VALID(frame))
    return GST_BUFFER_PTS(frame);
  return GST_BUFFER_PTS(frame) + GST_BUFFER_DURATION(frame);
}

// With frames in flight, starts the work on a frame and returns none.
GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** out) {
  const auto of_parent = GST_BASE_TRANSFORM_CLASS(parent_class)->generate_output;
  FilterState& state = state_of(trans);
  if (!state.pusher.started() || !trans->queued_buf)
    return of_parent(trans, out);
  const GstClockTime end = end_of(trans->queued_buf);
  const GstFlowReturn flow = of_parent(trans, out);
  if (flow != GST_FLOW_OK || !*out)
    return flow;
  // GstBaseTransform does this for the frames that it pushes itself; it answers POSITION queries.
  if (GST_CLOCK_TIME_IS_VALID(end) && trans->segment.format == GST_FORMAT_TIME)
    trans->segment.position = end;
  ++state.in_flight_total;
  state.pusher.add(*out, std::move(state.started));
  *out = nullptr;
  return GST_FLOW_OK;
}

// GstBaseTransform counts only the frames that it pushes itself.
gboolean post_message(GstElement* element, GstMessage* message) {
  const guint64 in_flight_total = state_of(element).in_flight_total;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_QOS && in_flight_total > 0) {
    GstFormat format = GST_FORMAT_UNDEFINED;
    guint64 processed = 0, dropped = 0;
    gst_message_parse_qos_stats(message, &format, &processed, &dropped);
    gst_message_set_qos_stats(message, format, processed + in_flight_total, dropped);
  }
  return GST_ELEMENT_CLASS(parent_class)->post_message(element, message);
}

gboolean transform_meta(GstBaseTransform* trans, GstBuffer*, GstMeta* meta, GstBuffer*) {
  const auto& frames = state_of(trans).frames;
  const bool same_size = frames && frames->in().layout.width == frames->out().layout.width &&
                         frames->in().layout.height == frames->out().layout.height;
  return applies_to_output(meta, same_size);
}

// What a flush has made void.
void forget_frames(gpointer self) {
  FilterState& state = state_of(self);
  forget_refusal(state);
  state.pusher.take_flow();
  state.skipped = false;
  state.in_flight_total = 0;
  discard(self);
}

gboolean sink_event(GstBaseTransform* trans, GstEvent* event) {
  post_first_exception(trans, false, [&] {
    FramePusher& pusher = state_of(trans).pusher;
    if (GST_EVENT_IS_SERIALIZED(event))
      wait_for_frames(trans);
    switch (GST_EVENT_TYPE(event)) {
      case GST_EVENT_STREAM_START:
        pusher.forget_eos();
        break;
      case GST_EVENT_SEGMENT:
        pusher.forget_eos();
        drain(trans);
        break;
      case GST_EVENT_EOS:
      case GST_EVENT_CAPS:
        drain(trans);
        break;
      case GST_EVENT_FLUSH_STOP:
        forget_frames(trans);
        break;
      default:
        break;
    }
    return true;
  });
  const bool flush_starts = GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START;
  const gboolean handled = GST_BASE_TRANSFORM_CLASS(parent_class)->sink_event(trans, event);
  // Only now does the pad refuse an event that the streaming thread may have kept back until the
  // frames in flight had gone.
  if (flush_starts)
    state_of(trans).pusher.flush();
  return handled;
}

}  // namespace

static void gst_cuda_vision_filter_class_init(GstCudaVisionFilterClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  DeviceSession::install_properties(object_class, first_property);
  g_object_class_install_property(
      object_class, frames_in_flight_property,
      number_spec({"frames-in-flight", "Frames in flight",
                   "Number of frames that are transferred and processed at the same time (1 = one "
                   "after the other, 0 = automatic: 3 on CUDA, 1 on the CPU)"},
                  0, max_frames_in_flight, 0,
                  static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                           GST_PARAM_MUTABLE_READY)));

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
  transform_class->query = GST_DEBUG_FUNCPTR(query);
  transform_class->before_transform = GST_DEBUG_FUNCPTR(before_transform);
  transform_class->prepare_output_buffer = GST_DEBUG_FUNCPTR(prepare_output_buffer);
  transform_class->transform = GST_DEBUG_FUNCPTR(transform);
  transform_class->submit_input_buffer = GST_DEBUG_FUNCPTR(submit_input_buffer);
  transform_class->generate_output = GST_DEBUG_FUNCPTR(generate_output);
  transform_class->transform_meta = GST_DEBUG_FUNCPTR(transform_meta);
  transform_class->sink_event = GST_DEBUG_FUNCPTR(sink_event);

  klass->unpacked_form = GST_DEBUG_FUNCPTR(form_of_channels);
  klass->output_format = GST_DEBUG_FUNCPTR(video_output_format);

  gst_type_mark_as_plugin_api(GST_TYPE_CUDA_VISION_FILTER, static_cast<GstPluginAPIFlags>(0));
}

static void gst_cuda_vision_filter_init(GstCudaVisionFilter* self) {
  self->state = new FilterState(GST_ELEMENT_CAST(self),
                                [self](std::unique_ptr<FrameInFlight> work, bool wanted) {
                                  return complete_frame(self, std::move(work), wanted);
                                });
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM_CAST(self), TRUE);
  // Frames with the GAP flag are processed like all others, and keep the flag.
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM_CAST(self), TRUE);
  explain_refused_caps(GST_BASE_TRANSFORM_SINK_PAD(self), self->state->session);
}

DeviceSession& gst_cuda_vision_filter_session(GstCudaVisionFilter* self) {
  return self->state->session;
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
