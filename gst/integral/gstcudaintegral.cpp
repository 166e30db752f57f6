// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudaintegral
 * @title: cudaintegral
 *
 * Makes integral images (summed-area tables) of the luminance of frames, or pictures that are quick
 * to make by them: means and standard deviations of the surroundings of each pixel, black and white
 * by adaptive thresholds, and denoised frames. Works on an NVIDIA GPU or, with the same results to
 * the bit, on the CPU. #GstCudaIntegral:output says what comes out:
 *
 * * `sum`, `squared-sum`, `tilted-sum`: tables as OpenCV's integral makes them, as tensors in the
 *   caps of NNStreamer: `other/tensors, format=static, num_tensors=1, dimensions=1:W+1:H+1:1` for
 *   frames of W×H pixels. Rows follow each other without a gap. Where downstream takes only video,
 *   a gray picture of the table comes out instead, brought into the full range.
 * * `mean`, `stddev`: of the pixels around each pixel, up to #GstCudaIntegral:radius to each side,
 *   as far as the picture reaches. GRAY8; GRAY16_LE for frames of more than 8 bits, whose values
 *   are moved to the top of the 16.
 * * `threshold`: white, and black where a pixel is darker than its surroundings, by the rule of
 *   #GstCudaIntegral:threshold-method. GRAY8 or GRAY16_LE.
 * * `denoise`: the frames themselves, each pixel the mean of those nearby whose surroundings look
 *   the same, as OpenCV's fastNlMeansDenoising computes it.
 *
 * The time for a mean, a deviation or a threshold does not depend on the radius.
 *
 * #GstCudaIntegral:output, #GstCudaIntegral:table-layout and #GstCudaIntegral:element-type are in
 * force from the element's next start on. All other properties but those of the device may change
 * at any time, also by a #GstControlSource.
 *
 * ## Examples
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaintegral output=threshold radius=20 ! videoconvert !
 * autovideosink
 * ]| Writing in black on white, however unevenly the sheet before the camera is lit.
 * |[
 * gst-launch-1.0 filesrc location=night.mp4 ! decodebin ! cudaintegral output=denoise
 * denoise-strength=6 ! videoconvert ! autovideosink
 * ]| Takes the noise out of a film.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=320,height=240 !
 * cudaintegral ! filesink location=table.bin
 * ]| Writes the table of a frame: 241 rows of 321 numbers of type uint32.
 */
#include "gst/integral/gstcudaintegral.h"

#include <memory>
#include <optional>

#include "gst/base/elementerror.h"
#include "gst/base/gstcudavisionfilter.h"
#include "gst/base/properties.h"
#include "gst/integral/integralcaps.h"
#include "gst/integral/integralsettings.h"
#include "gst/integral/integralwork.h"
#include "gst/integral/tensorcaps.h"

GST_DEBUG_CATEGORY_STATIC(cuda_integral_debug);
#define GST_CAT_DEFAULT cuda_integral_debug

using namespace cudavision;

namespace {

template <class Enum>
constexpr GEnumValue value(Enum number, const char* words, const char* nick) {
  return {static_cast<gint>(number), words, nick};
}

GType output_type() {
  static const GEnumValue values[] = {
      value(IntegralOutput::sum, "Table of the sums of all pixels above and to the left", "sum"),
      value(IntegralOutput::squared_sum, "The same of their squares", "squared-sum"),
      value(IntegralOutput::tilted_sum, "Table of sums over triangles, rotated by 45 degrees",
            "tilted-sum"),
      value(IntegralOutput::mean, "Mean around each pixel", "mean"),
      value(IntegralOutput::deviation, "Standard deviation around each pixel", "stddev"),
      value(IntegralOutput::threshold, "Black where a pixel is darker than what is around it",
            "threshold"),
      value(IntegralOutput::denoise, "The frame without its noise", "denoise"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaIntegralOutput", values);
  return type;
}

GType table_layout_type() {
  static const GEnumValue values[] = {
      value(TableLayout::padded, "A row and a column of zeros first: (W+1)×(H+1) elements",
            "padded"),
      value(TableLayout::same_size, "As large as the frame, without them", "same-size"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaIntegralTableLayout", values);
  return type;
}

GType element_type_type() {
  static const GEnumValue values[] = {
      value(ElementType::exact, "uint32 where no sum can be too large for it, else uint64", "auto"),
      value(ElementType::uint32, "Sums modulo 2^32", "uint32"),
      value(ElementType::uint64, "64-bit integers", "uint64"),
      value(ElementType::float32, "Floating point of 32 bits, rounded once", "float32"),
      value(ElementType::float64, "Floating point of 64 bits, rounded once", "float64"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaIntegralElementType", values);
  return type;
}

GType threshold_method_type() {
  static const GEnumValue values[] = {
      value(ThresholdMethod::bradley, "Darker than the mean by threshold-ratio", "bradley"),
      value(ThresholdMethod::sauvola, "Sauvola's rule, by mean and standard deviation", "sauvola"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaIntegralThresholdMethod", values);
  return type;
}

/// What configure() makes and release() frees.
struct Operation {
  IntegralOutput output;
  std::unique_ptr<IntegralWork> work;
};

struct State {
  // Under the object lock.
  IntegralSettings settings;
  std::optional<OutputForm> form;  ///< as of the last start; none before it

  // From here on the streaming thread's.
  std::optional<Operation> operation;
  SettingsGuard rule;
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
GST_ELEMENT_REGISTER_DEFINE(cudaintegral, "cudaintegral", GST_RANK_NONE, GST_TYPE_CUDA_INTEGRAL)

namespace {

State& state_of(gpointer self) {
  return *static_cast<GstCudaIntegral*>(self)->state;
}

GstBaseTransformClass* base_class() {
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_integral_parent_class);
}

/* Properties and life */

const ElementProperties<IntegralSettings>* properties = nullptr;  // from class_init on

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

// What was set meanwhile would contradict the caps that are agreed upon; it has to wait.
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
  return gst_cuda_vision_filter_session(static_cast<GstCudaVisionFilter*>(self)).active_backend() !=
         DeviceKind::cpu;
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

FrameFormat output_format(GstCudaVisionFilter* self, const FrameFormat& in, const GstCaps* caps) {
  return integral_output_format(in, caps, form_of(self));
}

/* Frames */

void configure(GstCudaVisionFilter* self, Device& device, const FrameFormat& in,
               const FrameFormat& out) {
  State& state = state_of(self);
  const IntegralSettings settings = current_settings(self, state.settings);
  const OutputForm form = form_of(self);
  state.rule.require(validation_error(form.output, settings));
  state.operation.reset();
  state.operation = Operation{form.output, make_integral_work(device, in, out, form, settings)};
}

FrameWork begin_frame(GstCudaVisionFilter* self, const FrameInfo&) {
  State& state = state_of(self);
  Operation& operation = *state.operation;
  const IntegralSettings settings = current_settings(self, state.settings);
  if (state.rule.allows(GST_ELEMENT_CAST(self), validation_error(operation.output, settings))) {
    const DeviceScope scope(gst_cuda_vision_filter_session(self));
    operation.work->apply(settings);
  }
  return operation.work->identity() ? FrameWork::nothing : FrameWork::transform;
}

void process(GstCudaVisionFilter* self, const ConstFrame& in, const Frame* out, const FrameInfo&) {
  state_of(self).operation->work->run(in, *out);
}

void release(GstCudaVisionFilter* self) {
  state_of(self).operation.reset();
}

void install_properties(GObjectClass* klass) {
  static ElementProperties<IntegralSettings> all(klass);
  using Settings = IntegralSettings;
  constexpr PropertyChange ready = PropertyChange::when_ready;
  all.add({"output", "Output", "What is made of each frame", ready}, &Settings::output,
          output_type());
  all.add({"table-layout", "Table layout", "How many elements the tables of sums have", ready},
          &Settings::table_layout, table_layout_type());
  all.add({"element-type", "Element type", "Type of the elements of tables of sums", ready},
          &Settings::element_type, element_type_type());
  all.add({"radius", "Radius",
           "How far around each pixel mean, stddev and threshold look, in pixels to each side"},
          &Settings::radius, 0, 65535);
  all.add({"threshold-method", "Threshold method", "By which rule output=threshold decides"},
          &Settings::threshold_method, threshold_method_type());
  all.add({"threshold-ratio", "Threshold ratio",
           "How far below the mean black begins with threshold-method=bradley, as a part of it"},
          &Settings::threshold_ratio, 0, 1);
  all.add({"threshold-k", "Threshold k",
           "How much the standard deviation counts with threshold-method=sauvola"},
          &Settings::threshold_k, 0, 1);
  all.add({"threshold-range", "Threshold range",
           "Standard deviation at which the threshold is the mean with threshold-method=sauvola "
           "(0 = half of the range of the samples, 128 for 8 bits)"},
          &Settings::threshold_range, 0, 65535);
  all.add({"search-size", "Search size",
           "Side of the area in which denoise looks for pixels that are alike, an odd number"},
          &Settings::search_size, 1, 101);
  all.add({"patch-size", "Patch size",
           "Side of the surroundings by which denoise compares pixels, an odd number"},
          &Settings::patch_size, 1, 31);
  all.add(
      {"denoise-strength", "Denoise strength",
       "How unlike surroundings may be, in grey levels of 8 bits (0 = frames stay as they are)"},
      &Settings::denoise_strength, 0, 255);
  properties = &all;
}

void add_templates(GstElementClass* klass) {
  const Caps sink = video_template_caps();
  const Caps src = integral_src_template();
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink.get()));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, src.get()));
}

}  // namespace

static void gst_cuda_integral_class_init(GstCudaIntegralClass* klass) {
  GST_DEBUG_CATEGORY_INIT(cuda_integral_debug, "cudaintegral", 0, "Integral images");
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_properties(object_class);

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element_class, "CUDA integral image", "Filter/Analyzer/Effect/Converter/Video/Hardware",
      "Integral images (summed-area tables), local means and deviations, adaptive thresholds and "
      "denoising by non-local means, on an NVIDIA GPU or the CPU",
      "The gst-cudavision developers");
  add_templates(element_class);

  GstBaseTransformClass* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->start = start;
  transform_class->stop = stop;
  transform_class->transform_caps = transform_caps;
  transform_class->fixate_caps = fixate_caps;
  transform_class->get_unit_size = get_unit_size;

  GstCudaVisionFilterClass* filter_class = &klass->parent_class;
  filter_class->output_format = output_format;
  filter_class->configure = configure;
  filter_class->begin_frame = begin_frame;
  filter_class->process = process;
  filter_class->release = release;
}

static void gst_cuda_integral_init(GstCudaIntegral* self) {
  self->state = new State;
}
