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
 * at a scene cut, with this frame or one since the last message
 * * `bin-count` (#guint): number of possible luminances, 2^bits
 * * `bins` (#GBytes): the luminance histogram, `bin-count` numbers of type #guint64 in native byte
 *   order
 *
 * Since: 0.1.0
 */
#include "gst/histequalize/gstcudahistequalize.h"

#include <cmath>
#include <memory>
#include <optional>

#include "cuda/clahe/smoothedclahe.h"
#include "cuda/histequalize/regionhistogram.h"
#include "cuda/histequalize/smoothedequalize.h"
#include "gst/base/frameregions.h"
#include "gst/base/gstcudavisionfilter.h"
#include "gst/base/properties.h"
#include "gst/histequalize/frameclock.h"
#include "gst/histequalize/histogrammessages.h"

GST_DEBUG_CATEGORY_STATIC(cuda_hist_equalize_debug);
#define GST_CAT_DEFAULT cuda_hist_equalize_debug

using namespace cudavision;

namespace {

constexpr char message_name[] = "cudahistequalize";

enum Method { method_global, method_clahe };
enum Channels { channels_luma, channels_rgb };
enum StatisticsRegion { statistics_of_frame, statistics_of_regions };

GType method_type() {
  static const GEnumValue values[] = {
      {method_global, "Flatten the histogram of the whole picture with one table", "equalize"},
      {method_clahe,
       "Flatten the histograms of tiles, with limited contrast, and interpolate between them",
       "clahe"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaHistEqualizeMethod", values);
  return type;
}

GType channels_type() {
  static const GEnumValue values[] = {
      {channels_luma,
       "Equalise the luminance; in RGB frames, its change is added to red, green and blue alike",
       "luma"},
      {channels_rgb, "Equalise red, green and blue independently (RGB formats of 8 bits only)",
       "rgb"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaHistEqualizeChannels", values);
  return type;
}

GType statistics_region_type() {
  static const GEnumValue values[] = {
      {statistics_of_frame, "All pixels of the frame", "frame"},
      {statistics_of_regions, "The pixels of the regions, where the frame is limited to regions",
       "regions"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaHistEqualizeStatisticsRegion", values);
  return type;
}

/// The values of the properties.
struct Settings : RegionSettings {
  Method method = method_global;
  double clip_limit = 2.0;
  int tiles_x = clahe::Tiles().columns;
  int tiles_y = clahe::Tiles().rows;
  Channels channels = channels_luma;
  double strength = 1.0;
  guint64 smoothing_time = 0;
  double scene_cut_threshold = 0.25;
  StatisticsRegion statistics_region = statistics_of_frame;
  bool post_messages = false;
  GstClockTime message_interval = 0;

  /// Returns true if only the pixels of regions count.
  bool counts_regions() const noexcept {
    return statistics_region == statistics_of_regions && in_regions();
  }
};

const ElementProperties<Settings>* properties = nullptr;  // set by class_init

int blend_of(const Settings& settings) {
  return static_cast<int>(std::lrint(256 * settings.strength));
}

/// The operation of a method. It is made when the first settings need it, because its tables can be
/// large.
template <class Operation, class Parameters>
struct Equalizer {
  std::optional<Operation> operation{};
  Parameters parameters{};  ///< in force

  /// Applies parameters. The constructor of the operation also takes the layout and geometry.
  template <class... Geometry>
  void update(const Parameters& set, const DeviceSession& session, const FrameLayout& layout,
              const Geometry&... geometry) {
    if (operation && set == parameters)
      return;
    const DeviceScope scope(session);
    if (operation)
      operation->set_parameters(set);
    else
      operation.emplace(session.device(), layout, geometry..., set);
    parameters = set;
  }
};

/// Everything that configure() builds and release() frees.
struct Operation {
  FrameFormat format;
  Settings settings;  ///< in force: the last valid ones
  clahe::Tiles tiles;
  histequalize::Histogram histogram;
  FrameRegions regions;
  FrameClock clock;  ///< of smoothed frames
  Equalizer<histequalize::HistogramEqualize, histequalize::Parameters> single{};
  Equalizer<histequalize::SmoothedEqualize, histequalize::Parameters> smoothed{};
  Equalizer<clahe::Clahe, clahe::Parameters> adaptive{};
  Equalizer<clahe::SmoothedClahe, clahe::Parameters> smoothed_adaptive{};
  /// Created with the first frame of which only regions count.
  std::optional<histequalize::RegionHistogram> region_histogram{};
  /// Of the current frame. None if it is equalised by itself.
  std::optional<histogramaverage::Parameters> smoothing{};
  std::optional<HistogramMessages> messages{};  ///< created with the first message
};

/// Returns an empty string, or what is wrong with the settings for these frames.
std::string validation_error(const Settings& settings, const FrameFormat& format) {
  if (settings.channels == channels_rgb && format.layout.find(Role::red) < 0)
    return std::string("channels=rgb needs RGB frames") +
           (GST_VIDEO_INFO_IS_RGB(&format.info) ? " of 8 bits" : "") + ", but these are " +
           format.description() +
           ": set channels=luma, or convert to an RGB format (videoconvert ! "
           "video/x-raw,format=RGBx) before the element.";
  const std::string error = properties->range_error(settings);
  return error.empty() ? settings.regions.error() : error;
}

template <class Parameters>
Parameters parameters_of(const Settings& settings, const FrameFormat& format) {
  Parameters parameters;
  parameters.channels = settings.channels == channels_rgb ? Parameters::Channels::each
                                                          : Parameters::Channels::luminance;
  parameters.low = format.low;
  parameters.high = format.high;
  parameters.blend = blend_of(settings);
  return parameters;
}

/// Applies valid settings.
void update_operation(Operation& operation, const DeviceSession& session,
                      const Settings& settings) {
  const FrameFormat& format = operation.format;
  const auto parameters = parameters_of<histequalize::Parameters>(settings, format);
  if (settings.method == method_clahe) {
    auto tiled = parameters_of<clahe::Parameters>(settings, format);
    tiled.clip_limit = settings.clip_limit;
    if (settings.smoothing_time > 0)
      operation.smoothed_adaptive.update(tiled, session, format.layout, operation.tiles);
    else
      operation.adaptive.update(tiled, session, format.layout, operation.tiles);
  } else if (settings.smoothing_time > 0 || settings.counts_regions()) {
    operation.smoothed.update(parameters, session, format.layout);
  } else {
    operation.single.update(parameters, session, format.layout);
  }
  operation.regions.set_settings(settings);
  operation.settings = settings;
}

struct State {
  Settings settings;  ///< under the object lock

  // The following belong to the streaming thread.
  std::unique_ptr<Operation> operation;
  FrameInterval interval;
  SettingsGuard guard;
  bool posts = false;  ///< the current frame posts a message
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
                            GST_TYPE_CUDA_HIST_EQUALIZE)

namespace {

State& state_of(gpointer self) {
  return *static_cast<GstCudaHistEqualize*>(self)->state;
}

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

repack::Form unpacked_form(GstCudaVisionFilter*) {
  return repack::Form::adjustable_luminance;
}

void configure(GstCudaVisionFilter* self, Device& device, const FrameFormat& in,
               const FrameFormat&) {
  State& state = state_of(self);
  const Settings settings = current_settings(self, state.settings);
  state.guard.require(validation_error(settings, in));
  std::unique_ptr<Operation> operation(new Operation{in,
                                                     settings,
                                                     {settings.tiles_x, settings.tiles_y},
                                                     histequalize::Histogram(device, in.layout),
                                                     FrameRegions(device, in.layout, settings),
                                                     FrameClock(in.info)});
  update_operation(*operation, gst_cuda_vision_filter_session(self), settings);
  state.operation = std::move(operation);
}

// Applies the settings, unless they do not fit the frames.
void update_parameters(GstCudaVisionFilter* self, const Settings& settings) {
  State& state = state_of(self);
  Operation& operation = *state.operation;
  if (state.guard.allows(GST_ELEMENT_CAST(self), validation_error(settings, operation.format)))
    update_operation(operation, gst_cuda_vision_filter_session(self), settings);
}

template <class SmoothedEqualizer>
void restart(SmoothedEqualizer& equalizer) {
  if (equalizer.operation)
    equalizer.operation->restart();
}

// The next frame begins a new average.
void restart_smoothing(Operation& operation) {
  restart(operation.smoothed);
  restart(operation.smoothed_adaptive);
  operation.clock.reset();
}

// Decides whether and how the frame takes part in an average.
void update_smoothing(Operation& operation, const FrameInfo& info) {
  const Settings& settings = operation.settings;
  operation.smoothing.reset();
  if (settings.smoothing_time == 0)
    return restart_smoothing(operation);
  // An average must not go on where it ended before the method changed.
  if (settings.method == method_clahe)
    restart(operation.smoothed);
  else
    restart(operation.smoothed_adaptive);
  operation.smoothing.emplace();
  operation.smoothing->weight =
      histogramaverage::weight_of(operation.clock.elapsed(info.times), settings.smoothing_time);
  operation.smoothing->cut_threshold =
      static_cast<int>(std::lrint(histogramaverage::whole_weight * settings.scene_cut_threshold));
}

// Prepares the count of the frame's regions, if only they count. Called in the session's context.
void update_region_histogram(Operation& operation, Device& device) {
  if (!operation.settings.counts_regions())
    return;
  if (operation.region_histogram)
    operation.region_histogram->set_parameters(operation.regions.parameters());
  else
    operation.region_histogram.emplace(device, operation.format.layout,
                                       operation.regions.parameters());
}

FrameWork begin_frame(GstCudaVisionFilter* self, const FrameInfo& info) {
  State& state = state_of(self);
  Operation& operation = *state.operation;
  const DeviceSession& session = gst_cuda_vision_filter_session(self);
  const Settings settings = current_settings(self, state.settings);
  update_parameters(self, settings);

  if (!settings.post_messages)
    state.interval.reset();
  state.posts = settings.post_messages &&
                state.interval.selects(info.times.running_time, settings.message_interval);
  if (state.posts) {
    if (!operation.messages) {
      const DeviceScope scope(session);
      operation.messages.emplace(GST_ELEMENT_CAST(self), session, message_name,
                                 operation.format.layout.bits);
    }
    operation.messages->reserve();
  }
  const DeviceScope scope(session);
  const bool selected = operation.regions.select(info.buffer);
  update_region_histogram(operation, session.device());
  if (selected && blend_of(operation.settings) != 0) {
    update_smoothing(operation, info);
    return FrameWork::transform;
  }
  return state.posts ? FrameWork::inspect : FrameWork::nothing;
}

void process(GstCudaVisionFilter* self, const ConstFrame& in, const Frame* out,
             const FrameInfo& info) {
  State& state = state_of(self);
  Operation& operation = *state.operation;
  const View<std::uint32_t> bins = state.posts ? operation.messages->bins() : View<std::uint32_t>{};
  const bool adaptive = operation.settings.method == method_clahe;
  histequalize::RegionHistogram* const counted =
      operation.settings.counts_regions() ? &*operation.region_histogram : nullptr;
  if (out)
    operation.regions.run(
        in, *out, [&](const ConstFrame& from, const Frame& to, const regions::ActiveCells*) {
          if (adaptive && operation.smoothing)
            operation.smoothed_adaptive.operation->run(from, to, *operation.smoothing);
          else if (adaptive)
            operation.adaptive.operation->run(from, to);
          else if (operation.smoothing || counted)
            // Without smoothing, each frame begins a new average.
            operation.smoothed.operation->run(
                from, to, operation.smoothing.value_or(histogramaverage::Parameters()), bins,
                counted);
          else
            operation.single.operation->run(from, to, bins);
        });
  if (bins && (!out || adaptive)) {
    if (counted)
      counted->run(in, bins);
    else
      operation.histogram.run(in, bins);
  }
  const histogramaverage::Status* status = nullptr;
  if (out && operation.smoothing)
    status = adaptive ? operation.smoothed_adaptive.operation->status()
                      : operation.smoothed.operation->status();
  if (state.posts)
    operation.messages->read_back(info.times, status);
}

HistogramMessages* messages_of(GstCudaVisionFilter* self) {
  const State& state = state_of(self);
  return state.operation && state.operation->messages ? &*state.operation->messages : nullptr;
}

void frame_done(GstCudaVisionFilter* self) {
  if (HistogramMessages* messages = messages_of(self))
    messages->post_arrived();
}

void drain(GstCudaVisionFilter* self) {
  if (HistogramMessages* messages = messages_of(self))
    messages->drain();
  if (Operation* operation = state_of(self).operation.get())
    restart_smoothing(*operation);
}

void discard(GstCudaVisionFilter* self) {
  state_of(self).interval.reset();
  if (Operation* operation = state_of(self).operation.get())
    restart_smoothing(*operation);
  if (HistogramMessages* messages = messages_of(self))
    messages->discard();
}

void release(GstCudaVisionFilter* self) {
  state_of(self).operation.reset();
}

void install_properties(GObjectClass* klass) {
  static ElementProperties<Settings> all(klass);
  constexpr PropertyChange ready = PropertyChange::when_ready;
  all.add({"method", "Method", "Method by which the contrast is raised"}, &Settings::method,
          method_type());
  all.add(
      {"channels", "Channels",
       "Channels that are equalised; rgb needs RGB frames of 8 bits and is an error with others"},
      &Settings::channels, channels_type());
  all.add(
      {"clip-limit", "Clip limit",
       "With method=clahe, the largest rise of the contrast: how many times its mean a bin of a "
       "tile's histogram may hold (0 = unlimited)"},
      &Settings::clip_limit, 0, 65536);
  all.add({"tiles-x", "Tiles across", "With method=clahe, the number of tiles in a row", ready},
          &Settings::tiles_x, 1, clahe::Tiles::most);
  all.add({"tiles-y", "Tiles down", "With method=clahe, the number of tiles in a column", ready},
          &Settings::tiles_y, 1, clahe::Tiles::most);
  all.add({"strength", "Strength",
           "Weight of the equalised picture in the output (0 = the input, 1 = fully equalised)"},
          &Settings::strength, 0, 1);
  all.add({"smoothing-time", "Smoothing time",
           "Time constant of the average of the histograms in ns of running time, against flicker "
           "in videos (0 = each frame by itself)"},
          &Settings::smoothing_time);
  all.add({"scene-cut-threshold", "Scene cut threshold",
           "Share of the pixels whose levels must change for a scene cut, where the average begins "
           "anew (1 = there are none)"},
          &Settings::scene_cut_threshold, 0, 1);
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

  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "CUDA histogram equaliser", "Filter/Effect/Video/Hardware",
      "Raises contrast by global or adaptive (CLAHE) histogram equalisation and reports luminance "
      "statistics, on an NVIDIA GPU or the CPU",
      "The gst-cudavision developers");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), GST_ELEMENT_METADATA_DOC_URI,
                                        DOC_URI "/elements/cudahistequalize.md");

  GstCudaVisionFilterClass* filter_class = &klass->parent_class;
  gst_cuda_vision_filter_class_add_pad_templates(filter_class, video_template_caps());
  filter_class->debug_category = cuda_hist_equalize_debug;
  filter_class->unpacked_form = GST_DEBUG_FUNCPTR(unpacked_form);
  filter_class->configure = GST_DEBUG_FUNCPTR(configure);
  filter_class->begin_frame = GST_DEBUG_FUNCPTR(begin_frame);
  filter_class->process = GST_DEBUG_FUNCPTR(process);
  filter_class->frame_done = GST_DEBUG_FUNCPTR(frame_done);
  filter_class->drain = GST_DEBUG_FUNCPTR(drain);
  filter_class->discard = GST_DEBUG_FUNCPTR(discard);
  filter_class->release = GST_DEBUG_FUNCPTR(release);
}

static void gst_cuda_hist_equalize_init(GstCudaHistEqualize* self) {
  self->state = new State;
}
