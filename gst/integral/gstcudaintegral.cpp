// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudaintegral
 * @title: cudaintegral
 *
 * Makes integral images (summed-area tables) of the luminance of frames, or pictures that follow
 * from them quickly: the mean or the standard deviation around each pixel, black and white by
 * adaptive thresholds, and denoised or smoothed frames. Works on an NVIDIA GPU or, with the same
 * results to the bit, on the CPU. #GstCudaIntegral:output selects the output:
 *
 * * `sum`, `squared-sum`, `tilted-sum`: tables equal to those of OpenCV's integral, as tensors in
 *   NNStreamer's caps: `other/tensors, format=static, num_tensors=1, dimensions=1:W+1:H+1:1` for
 *   frames of W×H pixels. Rows follow each other without padding. If downstream names
 *   `memory:CUDAMemory` for tensors, they stay on the GPU. If downstream accepts only video, the
 *   output is a gray picture of the table, scaled to the full range.
 * * `mean`, `stddev`: mean and standard deviation of the pixels up to #GstCudaIntegral:radius to
 *   each side, clipped at the edges of the picture. GRAY8; GRAY16_LE for frames of more than 8
 *   bits, whose values occupy the highest of the 16 bits.
 * * `threshold`: black where a pixel is darker than its surroundings, else white, by the rule in
 *   #GstCudaIntegral:threshold-method. GRAY8 or GRAY16_LE.
 * * `denoise`: the frames with each pixel replaced by a weighted mean of the pixels nearby whose
 *   surroundings look alike, equal to OpenCV's fastNlMeansDenoising. With
 *   #GstCudaIntegral:denoise-frames, pixels of the frames before and after count, too, for which
 *   frames wait. With #GstCudaIntegral:post-messages, the element posts an element message named
 *   `cudaintegral` with the noise of the frames and the strengths of the denoising.
 * * `guided`: the frames, smoothed by the guided filter, which keeps edges. It takes its window
 * from #GstCudaIntegral:radius, and from #GstCudaIntegral:guided-epsilon what is an edge.
 *
 * The time for a mean, a standard deviation or a threshold hardly depends on the radius.
 *
 * A change of #GstCudaIntegral:output, #GstCudaIntegral:table-layout or
 * #GstCudaIntegral:element-type takes effect when the element starts again. All other properties
 * except those of the device may change at any time, also through a #GstControlSource.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaintegral output=threshold radius=20 ! videoconvert !
 * autovideosink
 * ]| Shows writing in black on white, even if the sheet is lit unevenly.
 * |[
 * gst-launch-1.0 filesrc location=night.mp4 ! decodebin ! cudaintegral output=denoise
 * denoise-strength=-1 ! videoconvert ! autovideosink
 * ]| Removes the noise from a film, as much as there is.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=320,height=240 !
 * cudaintegral ! filesink location=table.bin
 * ]| Writes the table of a frame: 241 rows of 321 numbers of type uint32.
 *
 * Since: 0.1.0
 */
#include <memory>
#include <optional>

#include "gst/base/elementdescription.h"
#include "gst/base/gstcudavisionfilter.h"
#include "gst/base/properties.h"
#include "gst/core/elementerror.h"
#include "gst/integral/framewindow.h"
#include "gst/integral/integralcaps.h"
#include "gst/integral/integralproperties.h"
#include "gst/integral/integralsettings.h"
#include "gst/integral/integralwork.h"
#include "gst/integral/noisemessages.h"
#include "gst/integral/tensorcaps.h"

GST_DEBUG_CATEGORY_STATIC(cuda_integral_debug);
#define GST_CAT_DEFAULT cuda_integral_debug

using namespace cudavision;

namespace {

/// Everything that configure() builds and release() frees.
struct Operation {
  IntegralOutput output;
  std::unique_ptr<IntegralWork> work;
};

struct State {
  State(GstElement* element, const DeviceSession& session) : messages(element, session) {}

  /// DeviceMessages says which thread may call what.
  NoiseMessages messages;

  // Under the object lock.
  IntegralSettings settings;
  std::optional<OutputForm> form;  ///< as of the last start; nullopt while stopped

  // The following belong to the streaming thread.
  std::optional<Operation> operation;
  int denoise_frames = 1;  ///< as of configure()
  SettingsGuard guard;
  FrameInterval interval;
  bool posts = false;  ///< the current frame posts a message
};

}  // namespace

struct GstCudaIntegral {
  GstCudaVisionFilter parent;
  State* state;
};

struct GstCudaIntegralClass {
  GstCudaVisionFilterClass parent_class;
};

G_DEFINE_TYPE(GstCudaIntegral, gst_cuda_integral, GST_TYPE_CUDA_VISION_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudaintegral, "cudaintegral", GST_RANK_NONE,
                            gst_cuda_integral_get_type())

namespace {

State& state_of(gpointer self) {
  return *static_cast<GstCudaIntegral*>(self)->state;
}

GstBaseTransformClass* base_class() {
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_integral_parent_class);
}

/* Properties and states */

const ElementProperties<IntegralSettings>* properties = nullptr;  // set by class_init

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  properties->set(object, id, value, pspec, state_of(object).settings);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  properties->get(object, id, value, pspec, state_of(object).settings);
}

void finalize(GObject* object) {
  delete static_cast<GstCudaIntegral*>(static_cast<gpointer>(object))->state;
  G_OBJECT_CLASS(gst_cuda_integral_parent_class)->finalize(object);
}

// Returns the form as of the last start. Settings made since then would contradict the negotiated
// caps.
OutputForm form_of(gpointer self) {
  const State& state = state_of(self);
  const ObjectLock lock(self);
  return state.form ? *state.form : state.settings.form();
}

void set_form(gpointer self, bool started) {
  State& state = state_of(self);
  const ObjectLock lock(self);
  state.form.reset();
  if (started)
    state.form = state.settings.form();
}

gboolean start(GstBaseTransform* trans) {
  set_form(trans, true);
  return base_class()->start(trans);
}

gboolean stop(GstBaseTransform* trans) {
  const gboolean stopped = base_class()->stop(trans);
  set_form(trans, false);
  return stopped;
}

/* Caps */

bool has_cuda(gpointer self) {
  return gst_cuda_vision_filter_session(static_cast<GstCudaVisionFilter*>(self)).takes_cuda();
}

GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                        GstCaps* filter) {
  return post_exceptions(trans, static_cast<GstCaps*>(nullptr), [&] {
    return integral_caps_of_other_side(direction, caps, filter, form_of(trans), has_cuda(trans))
        .release();
  });
}

GstCaps* fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                     GstCaps* othercaps) {
  if (direction == GST_PAD_SINK) {
    Caps suggested(othercaps);
    othercaps = post_exceptions(trans, static_cast<GstCaps*>(nullptr), [&] {
      const OutputForm form = form_of(trans);
      // Without a peer, the base class suggests the caps of the input.
      Caps possible = integral_caps_of_other_side(direction, caps, nullptr, form, has_cuda(trans));
      const bool fits = gst_caps_can_intersect(suggested.get(), possible.get());
      return choose_integral_output(std::move(fits ? suggested : possible), caps, form,
                                    GST_BASE_TRANSFORM_SRC_PAD(trans))
          .release();
    });
    if (!othercaps)
      return gst_caps_new_empty();
  }
  return base_class()->fixate_caps(trans, direction, caps, othercaps);
}

gboolean get_unit_size(GstBaseTransform* trans, GstCaps* caps, gsize* size) {
  if (!is_tensor(gst_caps_get_structure(caps, 0)))
    return base_class()->get_unit_size(trans, caps, size);
  try {
    *size = tensor_format_from_caps(caps).size;
    return TRUE;
  } catch (const std::exception& e) {
    GST_WARNING_OBJECT(trans, "%s", e.what());
    return FALSE;
  }
}

repack::UnpackedForm unpacked_form(GstCudaVisionFilter* self) {
  return form_of(self).keeps_format() ? repack::UnpackedForm::channels
                                      : repack::UnpackedForm::luminance;
}

FrameFormat output_format(GstCudaVisionFilter* self, const FrameFormat& in, const GstCaps* caps) {
  return integral_output_format(in, caps, form_of(self));
}

/* Frames */

std::string settings_error(IntegralOutput output, const IntegralSettings& settings) {
  const std::string error = properties->range_error(settings);
  return error.empty() ? validation_error(output, settings) : error;
}

void configure(GstCudaVisionFilter* self, Device& device, const FrameFormat& in,
               const FrameFormat& out) {
  State& state = state_of(self);
  const IntegralSettings settings = current_settings(self, state.settings);
  const OutputForm form = form_of(self);
  state.guard.require(settings_error(form.output, settings));
  state.operation =
      Operation{form.output, make_integral_work(device, in, out, form, settings,
                                                gst_cuda_vision_filter_regions(self),
                                                gst_cuda_vision_filter_arrivals(self))};
  state.denoise_frames = settings.denoise_frames;
}

bool posts_message(State& state, const IntegralSettings& settings, const FrameTimes& times) {
  if (state.operation->output == IntegralOutput::denoise && settings.post_messages)
    return state.interval.selects(times.running_time, settings.message_interval);
  state.interval.reset();
  return false;
}

FrameWork begin_frame(GstCudaVisionFilter* self, const FrameInfo& info) {
  State& state = state_of(self);
  Operation& operation = *state.operation;
  const IntegralSettings settings = current_settings(self, state.settings);
  const bool valid =
      state.guard.allows(GST_ELEMENT_CAST(self), settings_error(operation.output, settings));
  state.posts = posts_message(state, settings, info.times);
  if (state.posts)
    state.messages.reserve();
  const DeviceScope scope(gst_cuda_vision_filter_session(self));
  if (valid)
    operation.work->apply(settings);
  if (operation.work->begin_frame(info))
    return FrameWork::transform;
  return state.posts ? FrameWork::inspect : FrameWork::nothing;
}

void process(GstCudaVisionFilter* self, const ConstFrame& in, const Frame* out,
             const FrameInfo& info) {
  State& state = state_of(self);
  if (out)
    state.operation->work->run(in, *out);
  if (state.posts)
    state.operation->work->report_noise(in, info.times, state.messages);
}

void frame_done(GstCudaVisionFilter* self) {
  state_of(self).messages.post_arrived();
}

// A message is posted before its frame goes downstream.
bool needs_frame_done(GstCudaVisionFilter* self) {
  return state_of(self).posts;
}

void restart(State& state) {
  if (state.operation)
    state.operation->work->restart();
}

void drain(GstCudaVisionFilter* self) {
  State& state = state_of(self);
  state.messages.drain();
  restart(state);
}

void discard(GstCudaVisionFilter* self) {
  State& state = state_of(self);
  state.interval.reset();
  restart(state);
  state.messages.discard();
}

/* Frames that are searched together */

FrameWindow* window_of(GstCudaVisionFilter* self) {
  const auto& operation = state_of(self).operation;
  return operation ? operation->work->window() : nullptr;
}

std::size_t frames_ahead(GstCudaVisionFilter* self) {
  const FrameWindow* window = window_of(self);
  return window ? static_cast<std::size_t>(window->reach()) : 0;
}

void remember(GstCudaVisionFilter* self, guint64 number, const ConstFrame& in) {
  window_of(self)->remember(number, in);
}

bool arrived(GstCudaVisionFilter* self) {
  return window_of(self)->arrived();
}

ConstFrame remembered(GstCudaVisionFilter* self, guint64 number) {
  return window_of(self)->centre_on(number);
}

void forget_remembered(GstCudaVisionFilter* self) {
  if (FrameWindow* window = window_of(self))
    window->forget();
}

// A value that is not valid is reported when the next frame begins.
bool is_outdated(GstCudaVisionFilter* self) {
  State& state = state_of(self);
  const IntegralSettings settings = current_settings(self, state.settings);
  return state.operation->output == IntegralOutput::denoise &&
         settings.denoise_frames != state.denoise_frames &&
         settings_error(state.operation->output, settings).empty();
}

void release(GstCudaVisionFilter* self) {
  State& state = state_of(self);
  state.messages.release();
  state.operation.reset();
}

void install_properties(GObjectClass* klass) {
  static ElementProperties<IntegralSettings> all(klass);
  add_integral_properties(all);
  properties = &all;
}

}  // namespace

static void gst_cuda_integral_class_init(GstCudaIntegralClass* klass) {
  GST_DEBUG_CATEGORY_INIT(cuda_integral_debug, "cudaintegral", 0, "Integral images");
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_properties(object_class);

  describe_element(
      GST_ELEMENT_CLASS(klass), "cudaintegral", "CUDA integral image",
      "Filter/Analyzer/Effect/Converter/Video/Hardware",
      "Integral images (summed-area tables), local means and deviations, adaptive thresholds, "
      "denoising by non-local means and edge-preserving smoothing, on an NVIDIA GPU or the CPU");

  set_memory_advice(GST_ELEMENT_CLASS(klass),
                    "smaller frames, element-type=uint32 for tables, or a smaller denoise-frames");

  GstBaseTransformClass* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->start = GST_DEBUG_FUNCPTR(start);
  transform_class->stop = GST_DEBUG_FUNCPTR(stop);
  transform_class->transform_caps = GST_DEBUG_FUNCPTR(transform_caps);
  transform_class->fixate_caps = GST_DEBUG_FUNCPTR(fixate_caps);
  transform_class->get_unit_size = GST_DEBUG_FUNCPTR(get_unit_size);

  GstCudaVisionFilterClass* filter_class = &klass->parent_class;
  gst_cuda_vision_filter_class_add_pad_templates(filter_class, integral_src_template());
  filter_class->debug_category = cuda_integral_debug;
  filter_class->output_format = GST_DEBUG_FUNCPTR(output_format);
  filter_class->unpacked_form = GST_DEBUG_FUNCPTR(unpacked_form);
  filter_class->configure = GST_DEBUG_FUNCPTR(configure);
  filter_class->begin_frame = GST_DEBUG_FUNCPTR(begin_frame);
  filter_class->process = GST_DEBUG_FUNCPTR(process);
  filter_class->frame_done = GST_DEBUG_FUNCPTR(frame_done);
  filter_class->needs_frame_done = GST_DEBUG_FUNCPTR(needs_frame_done);
  filter_class->drain = GST_DEBUG_FUNCPTR(drain);
  filter_class->discard = GST_DEBUG_FUNCPTR(discard);
  filter_class->frames_ahead = GST_DEBUG_FUNCPTR(frames_ahead);
  filter_class->remember = GST_DEBUG_FUNCPTR(remember);
  filter_class->arrived = GST_DEBUG_FUNCPTR(arrived);
  filter_class->remembered = GST_DEBUG_FUNCPTR(remembered);
  filter_class->forget_remembered = GST_DEBUG_FUNCPTR(forget_remembered);
  filter_class->is_outdated = GST_DEBUG_FUNCPTR(is_outdated);
  filter_class->release = GST_DEBUG_FUNCPTR(release);
}

static void gst_cuda_integral_init(GstCudaIntegral* self) {
  self->state = new State(GST_ELEMENT_CAST(self), gst_cuda_vision_filter_session(&self->parent));
}
