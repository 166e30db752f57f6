// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudahistequalize
 * @title: cudahistequalize
 *
 * Raises the contrast of pictures by histogram equalisation, and reports the statistics of their
 * luminance. Works on an NVIDIA GPU or, with the same results to the bit, on the CPU.
 * #GstCudaHistEqualize:method selects the method:
 *
 * * `equalize`: one table for the whole picture, equal to OpenCV's equalizeHist
 * * `clahe`: a table for each tile of a grid, with limited contrast, and interpolation between
 *   them; equal to OpenCV's CLAHE
 *
 * A change of #GstCudaHistEqualize:tiles-x or #GstCudaHistEqualize:tiles-y takes effect at the
 * next start or with the next caps. All other properties except those of the device may change at
 * any time, also through a #GstControlSource.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahistequalize ! videoconvert ! autovideosink
 * ]| Equalises the pictures of a camera.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahistequalize method=clahe clip-limit=3 !
 * videoconvert ! autovideosink
 * ]| Does so locally, without turning noise into contrast.
 *
 * ## Messages
 * With #GstCudaHistEqualize:post-messages, the element posts an element message named
 * `cudahistequalize` for each frame, or one per #GstCudaHistEqualize:message-interval. It describes
 * the input frame or, with #GstCudaHistEqualize:statistics-region, its regions:
 *
 * * `timestamp`, `stream-time`, `running-time`, `duration` (#guint64): as in messages of the level
 *   element
 * * `mean`, `stddev` (#gdouble), `minimum`, `maximum` (#guint): of the luminance
 * * `entropy` (#gdouble): of the luminance, in bits
 * * `percentile-1`, `percentile-5`, `percentile-50`, `percentile-95`, `percentile-99` (#guint): the
 *   smallest luminance that at least this percentage of the pixels does not exceed
 * * `scene-cut` (#gboolean): with #GstCudaHistEqualize:smoothing-time, the average has begun anew
 *   at a scene cut, with this frame or one since the last message
 * * `bin-count` (#guint): number of possible luminances, 2^bits
 * * `bins` (#GBytes): the luminance histogram, `bin-count` numbers of type #guint64 in native byte
 *   order
 *
 * Since: 0.1.0
 */
#include <algorithm>
#include <memory>
#include <utility>

#include "gst/base/elementdescription.h"
#include "gst/base/gstcudavisionfilter.h"
#include "gst/base/properties.h"
#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/histequalize/equalizesettings.h"
#include "gst/histequalize/equalizework.h"
#include "gst/histequalize/histogrammessages.h"

GST_DEBUG_CATEGORY_STATIC(cuda_hist_equalize_debug);
#define GST_CAT_DEFAULT cuda_hist_equalize_debug

using namespace cudavision;

namespace {

GType method_type() {
  static const GEnumValue values[] = {
      enum_value(EqualizeMethod::equalize,
                 "Flatten the histogram of the whole picture with one table", "equalize"),
      enum_value(
          EqualizeMethod::clahe,
          "Flatten the histograms of tiles, with limited contrast, and interpolate between them",
          "clahe"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaHistEqualizeMethod", values);
  return type;
}

GType channels_type() {
  static const GEnumValue values[] = {
      enum_value(
          EqualizeChannels::luma,
          "Equalise the luminance; in RGB frames, its change is added to red, green and blue alike",
          "luma"),
      enum_value(EqualizeChannels::rgb,
                 "Equalise red, green and blue independently (RGB formats of 8 bits only)", "rgb"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaHistEqualizeChannels", values);
  return type;
}

GType statistics_region_type() {
  static const GEnumValue values[] = {
      enum_value(StatisticsRegion::frame, "All pixels of the frame", "frame"),
      enum_value(StatisticsRegion::regions,
                 "The pixels of the regions, where the frame is limited to regions", "regions"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaHistEqualizeStatisticsRegion", values);
  return type;
}

struct State {
  State(GstElement* element, const DeviceSession& session)
      : messages(element, session, "cudahistequalize") {}

  EqualizeSettings settings;  ///< under the object lock

  /// Its header says which thread may call what.
  HistogramMessages messages;

  // The following belong to the streaming thread.
  std::unique_ptr<EqualizeWork> work;
  FrameInterval interval;
  SettingsGuard guard;
  EqualizeChannels channels = EqualizeChannels::luma;  ///< for which the caps were negotiated
  bool awaits_rgb = false;  ///< upstream has been asked for RGB, and can give it
  bool posts = false;       ///< the current frame posts a message
};

}  // namespace

struct GstCudaHistEqualize {
  GstCudaVisionFilter parent;
  State* state;
};

struct GstCudaHistEqualizeClass {
  GstCudaVisionFilterClass parent_class;
};

G_DEFINE_TYPE(GstCudaHistEqualize, gst_cuda_hist_equalize, GST_TYPE_CUDA_VISION_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudahistequalize, "cudahistequalize", GST_RANK_NONE,
                            gst_cuda_hist_equalize_get_type())

namespace {

State& state_of(gpointer self) {
  return *static_cast<GstCudaHistEqualize*>(self)->state;
}

/* Properties */

const ElementProperties<EqualizeSettings>* properties = nullptr;  // set by class_init

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  properties->set(object, id, value, pspec, state_of(object).settings);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  properties->get(object, id, value, pspec, state_of(object).settings);
}

void finalize(GObject* object) {
  delete static_cast<GstCudaHistEqualize*>(static_cast<gpointer>(object))->state;
  G_OBJECT_CLASS(gst_cuda_hist_equalize_parent_class)->finalize(object);
}

std::string settings_error(const EqualizeSettings& settings, const FrameFormat& format) {
  const std::string error = properties->range_error(settings);
  return error.empty() ? validation_error(settings, format) : error;
}

/* Caps */

// Returns those of the caps that describe RGB frames of 8 bits.
Caps rgb_caps_of(const GstCaps* caps) {
  Caps rgb(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    Structure structure(gst_structure_copy(gst_caps_get_structure(caps, i)));
    Formats formats = formats_of(structure.get());
    formats.erase(std::remove_if(formats.begin(), formats.end(),
                                 [](GstVideoFormat format) {
                                   const auto* info = gst_video_format_get_info(format);
                                   return !GST_VIDEO_FORMAT_INFO_IS_RGB(info) ||
                                          depth_of(format) != 8;
                                 }),
                  formats.end());
    if (formats.empty())
      continue;
    set_formats(structure.get(), formats);
    gst_caps_append_structure_full(rgb.get(), structure.release(),
                                   gst_caps_features_copy(gst_caps_get_features(caps, i)));
  }
  return rgb;
}

// With channels=rgb, upstream is asked for RGB if it can give that, so that videoconvert converts.
// Otherwise its frames are accepted and configure() explains what is wrong with them.
GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                        GstCaps* filter) {
  GstCaps* possible = GST_BASE_TRANSFORM_CLASS(gst_cuda_hist_equalize_parent_class)
                          ->transform_caps(trans, direction, caps, filter);
  // The filter is what upstream can give.
  if (!possible || !filter || direction != GST_PAD_SRC ||
      current_settings(trans, state_of(trans).settings).channels != EqualizeChannels::rgb)
    return possible;
  return post_exceptions(trans, possible, [&] {
    Caps rgb = rgb_caps_of(possible);
    if (gst_caps_is_empty(rgb.get()))
      return possible;
    gst_caps_unref(possible);
    return rgb.release();
  });
}

// An upstream element that claims to give any caps, such as appsrc, is not expected to convert.
bool upstream_can_give_rgb(GstBaseTransform* trans) {
  GstPad* sink = GST_BASE_TRANSFORM_SINK_PAD(trans);
  const Caps taken(gst_pad_get_pad_template_caps(sink));
  const Caps given = peer_caps(sink, nullptr);
  return !gst_caps_is_any(given.get()) &&
         gst_caps_can_intersect(given.get(), rgb_caps_of(taken.get()).get());
}

// Lets upstream look for the caps that suit the channels. Its frames with the old caps are no
// reason to warn if others are going to follow.
void renegotiate_for_channels(State& state, GstBaseTransform* trans) {
  gst_base_transform_reconfigure_sink(trans);
  state.awaits_rgb = state.channels == EqualizeChannels::rgb && upstream_can_give_rgb(trans);
}

/* Frames */

repack::UnpackedForm unpacked_form(GstCudaVisionFilter*) {
  return repack::UnpackedForm::adjustable_luminance;
}

void configure(GstCudaVisionFilter* self, Device& device, const FrameFormat& in,
               const FrameFormat&) {
  State& state = state_of(self);
  const EqualizeSettings settings = current_settings(self, state.settings);
  state.guard.require(settings_error(settings, in));
  state.work =
      std::make_unique<EqualizeWork>(device, in, settings, gst_cuda_vision_filter_regions(self));
  state.channels = settings.channels;
  state.awaits_rgb = false;
}

bool posts_message(State& state, const EqualizeSettings& settings, const FrameTimes& times) {
  if (settings.post_messages)
    return state.interval.selects(times.running_time, settings.message_interval);
  state.interval.reset();
  return false;
}

FrameWork begin_frame(GstCudaVisionFilter* self, const FrameInfo& info) {
  State& state = state_of(self);
  EqualizeWork& work = *state.work;
  const EqualizeSettings settings = current_settings(self, state.settings);
  if (std::exchange(state.channels, settings.channels) != settings.channels)
    renegotiate_for_channels(state, GST_BASE_TRANSFORM_CAST(self));
  const std::string error = settings_error(settings, work.format());
  const bool valid =
      (error.empty() || !state.awaits_rgb) && state.guard.allows(GST_ELEMENT_CAST(self), error);
  state.posts = posts_message(state, settings, info.times);
  if (state.posts)
    state.messages.reserve(work.format().layout.bits);

  const DeviceScope scope(gst_cuda_vision_filter_session(self));
  if (valid)
    work.apply(settings);
  if (work.begin_frame(info))
    return FrameWork::transform;
  return state.posts ? FrameWork::inspect : FrameWork::nothing;
}

void process(GstCudaVisionFilter* self, const ConstFrame& in, const Frame* out,
             const FrameInfo& info) {
  State& state = state_of(self);
  if (!state.posts) {
    state.work->run(in, out, {});
    return;
  }
  const LuminanceNoise noise = state.work->measure_noise(in);
  state.messages.read_back(info.times, state.work->run(in, out, state.messages.bins()), noise);
}

void frame_done(GstCudaVisionFilter* self) {
  state_of(self).messages.post_arrived();
}

// A message is posted before its frame goes downstream.
bool needs_frame_done(GstCudaVisionFilter* self) {
  return state_of(self).posts;
}

void restart_average(State& state) {
  if (state.work)
    state.work->restart_average();
}

void drain(GstCudaVisionFilter* self) {
  State& state = state_of(self);
  state.messages.drain();
  restart_average(state);
}

void discard(GstCudaVisionFilter* self) {
  State& state = state_of(self);
  state.interval.reset();
  restart_average(state);
  state.messages.discard();
}

void release(GstCudaVisionFilter* self) {
  State& state = state_of(self);
  state.messages.release();
  state.work.reset();
}

void install_properties(GObjectClass* klass) {
  static ElementProperties<EqualizeSettings> all(klass);
  using Settings = EqualizeSettings;
  constexpr PropertyChange ready = PropertyChange::when_ready;
  all.add({"method", "Method", "Method by which the contrast is raised"}, &Settings::method,
          method_type());
  all.add(
      {"channels", "Channels",
       "Channels that are equalised; rgb needs RGB frames of 8 bits, to which videoconvert before "
       "the element converts, and is an error with others"},
      &Settings::channels, channels_type());
  all.add(
      {"clip-limit", "Clip limit",
       "With method=clahe, the largest rise of the contrast: how many times its mean a bin of a "
       "tile's histogram may hold (0 = unlimited)"},
      &Settings::clip_limit, {0, 65536});
  all.add({"tiles-x", "Tiles across", "With method=clahe, the number of tiles in a row", ready},
          &Settings::tiles_x, clahe::Tiles::range);
  all.add({"tiles-y", "Tiles down", "With method=clahe, the number of tiles in a column", ready},
          &Settings::tiles_y, clahe::Tiles::range);
  all.add({"strength", "Strength",
           "Weight of the equalised picture in the output (0 = the input, 1 = fully equalised)"},
          &Settings::strength, {0, 1});
  all.add({"smoothing-time", "Smoothing time",
           "Time constant of the average of the histograms in ns of running time, against flicker "
           "in videos (0 = each frame by itself)"},
          &Settings::smoothing_time);
  all.add({"scene-cut-threshold", "Scene cut threshold",
           "Share of the pixels whose levels must change, or change of the areas, for a scene cut, "
           "where the average begins anew (1 = there are none)"},
          &Settings::scene_cut_threshold, {0, 1});
  all.add({"statistics-region", "Statistics region",
           "Pixels whose histogram makes the table and goes into messages: those of the frame, or "
           "those of the regions (with method=clahe, in messages only)"},
          &Settings::statistics_region, statistics_region_type());
  all.add({"post-messages", "Post messages",
           "Post an element message with the luminance histogram and statistics of the input"},
          &Settings::post_messages);
  all.add({"message-interval", "Message interval",
           "Running time between two messages in ns (0 = one message for each frame)"},
          &Settings::message_interval);
  add_region_properties(all);
  properties = &all;
}

}  // namespace

static void gst_cuda_hist_equalize_class_init(GstCudaHistEqualizeClass* klass) {
  GST_DEBUG_CATEGORY_INIT(cuda_hist_equalize_debug, "cudahistequalize", 0,
                          "Histogram equalisation");
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_properties(object_class);

  set_memory_advice(GST_ELEMENT_CLASS(klass),
                    "smaller frames or, with method=clahe, smaller tiles-x and tiles-y");
  describe_element(
      GST_ELEMENT_CLASS(klass), "cudahistequalize", "CUDA histogram equaliser",
      "Filter/Effect/Video/Hardware",
      "Raises contrast by global or adaptive (CLAHE) histogram equalisation and reports luminance "
      "statistics, on an NVIDIA GPU or the CPU");

  GST_BASE_TRANSFORM_CLASS(klass)->transform_caps = GST_DEBUG_FUNCPTR(transform_caps);

  GstCudaVisionFilterClass* filter_class = &klass->parent_class;
  gst_cuda_vision_filter_class_add_pad_templates(filter_class, video_template_caps());
  filter_class->debug_category = cuda_hist_equalize_debug;
  filter_class->unpacked_form = GST_DEBUG_FUNCPTR(unpacked_form);
  filter_class->configure = GST_DEBUG_FUNCPTR(configure);
  filter_class->begin_frame = GST_DEBUG_FUNCPTR(begin_frame);
  filter_class->process = GST_DEBUG_FUNCPTR(process);
  filter_class->frame_done = GST_DEBUG_FUNCPTR(frame_done);
  filter_class->needs_frame_done = GST_DEBUG_FUNCPTR(needs_frame_done);
  filter_class->drain = GST_DEBUG_FUNCPTR(drain);
  filter_class->discard = GST_DEBUG_FUNCPTR(discard);
  filter_class->release = GST_DEBUG_FUNCPTR(release);
}

static void gst_cuda_hist_equalize_init(GstCudaHistEqualize* self) {
  self->state = new State(GST_ELEMENT_CAST(self), gst_cuda_vision_filter_session(&self->parent));
}
