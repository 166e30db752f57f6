// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudagaussblur
 * @title: cudagaussblur
 *
 * Blurs pictures with a Gaussian, or sharpens them. Works on an NVIDIA GPU or, with the same
 * results to the bit, on the CPU; 8- and 16-bit samples come out as OpenCV's GaussianBlur makes
 * them.
 *
 * #GstCudaGaussBlur:sigma alone is enough: the size of the kernel follows from it. A negative sigma
 * sharpens: the picture is moved away from its blur as far as the blur would have moved it. Where
 * sigma and the sizes are 0, frames go on untouched, at no cost.
 *
 * Subsampled chroma is blurred by the sigma of its sampling, so that the blur looks the same in all
 * planes. Alpha is taken as straight: colours and alpha are blurred independently of each other.
 * The fields of interlaced frames are blurred each on its own.
 *
 * All properties but those of the device may change at any time, also by a #GstControlSource, from
 * one frame to the next and at no cost.
 *
 * ## Examples
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudagaussblur sigma=4 ! videoconvert ! autovideosink
 * ]| Blurs the pictures of a camera.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudagaussblur sigma=-1.5 ! videoconvert ! autovideosink
 * ]| Sharpens them.
 * |[
 * gst-launch-1.0 videotestsrc ! cudagaussblur sigma=0 kernel-size=31 kernel-size-y=1 ! ximagesink
 * ]| Smears sideways over 31 pixels.
 */
#include "gst/gaussblur/gstcudagaussblur.h"

#include <cmath>
#include <memory>

#include "cuda/gaussblur/gaussblur.h"
#include "cuda/gaussblur/gausskernel.h"
#include "gst/base/gstcudavisionfilter.h"
#include "gst/base/properties.h"
#include "gst/gaussblur/colorsamples.h"

GST_DEBUG_CATEGORY_STATIC(cuda_gauss_blur_debug);
#define GST_CAT_DEFAULT cuda_gauss_blur_debug

using namespace cudavision;

namespace {

constexpr double largest_sigma = 127;

GType border_type() {
  static const GEnumValue values[] = {
      {static_cast<gint>(Border::reflect_101), "Mirrored at the outermost pixel: dcb|abcd|cba",
       "reflect-101"},
      {static_cast<gint>(Border::replicate), "The outermost pixel goes on: aaa|abcd|ddd",
       "replicate"},
      {static_cast<gint>(Border::reflect), "Mirrored at the edge: cba|abcd|dcb", "reflect"},
      {static_cast<gint>(Border::wrap), "The opposite side follows: bcd|abcd|abc", "wrap"},
      {static_cast<gint>(Border::constant), "All of one colour, border-color", "constant"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaGaussBlurBorder", values);
  return type;
}

/// The properties.
struct Settings {
  double sigma = 1.2;
  double sigma_y = 0;
  int kernel_size = 0;
  int kernel_size_y = 0;
  Border border = Border::reflect_101;
  guint border_color = 0xff000000;  ///< ARGB
  bool blur_alpha = true;
  bool fine = false;
};

/// What configure() makes and release() frees.
struct Operation {
  FrameFormat format;
  gaussblur::Parameters parameters;  ///< the last valid ones
  gaussblur::GaussBlur blur;
};

std::string size_objection(const char* property, int size) {
  if (size % 2 != 0 || size == 0)
    return {};
  return std::string(property) + "=" + std::to_string(size) +
         " is even, but a kernel has a middle and as many samples on either side: set " + property +
         "=" + std::to_string(size - 1) + " or " + property + "=" + std::to_string(size + 1) +
         " (or 0 for a size that follows from sigma).";
}

/// Empty, or what is wrong with the settings.
std::string validation_error(const Settings& settings) {
  const std::string wrong = size_objection("kernel-size", settings.kernel_size);
  return wrong.empty() ? size_objection("kernel-size-y", settings.kernel_size_y) : wrong;
}

gaussblur::Parameters parameters_of(const Settings& settings, const FrameFormat& format) {
  gaussblur::Parameters parameters;
  parameters.sigma_x = std::abs(settings.sigma);
  parameters.sigma_y = settings.sigma_y > 0 ? settings.sigma_y : parameters.sigma_x;
  parameters.size_x = settings.kernel_size;
  parameters.size_y = settings.kernel_size_y;
  if (parameters.size_y == 0 && parameters.sigma_y == 0)
    parameters.size_y = parameters.size_x;
  parameters.sharpen = settings.sigma < 0;
  parameters.border = settings.border;
  if (settings.border == Border::constant)
    parameters.border_values = color_samples(format, settings.border_color);
  parameters.blur_alpha = settings.blur_alpha;
  parameters.fine = settings.fine;
  return parameters;
}

struct State {
  Settings settings;  ///< under the object lock

  // From here on the streaming thread's.
  std::unique_ptr<Operation> operation;
  SettingsGuard rule;
};

}  // namespace

struct GstCudaGaussBlur {
  GstCudaVisionFilter parent;
  State* state;
};

struct GstCudaGaussBlurClass {
  GstCudaVisionFilterClass parent_class;
};

G_DEFINE_TYPE(GstCudaGaussBlur, gst_cuda_gauss_blur, GST_TYPE_CUDA_VISION_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudagaussblur, "cudagaussblur", GST_RANK_NONE, GST_TYPE_CUDA_GAUSS_BLUR)

namespace {

State& state_of(gpointer self) {
  return *static_cast<GstCudaGaussBlur*>(self)->state;
}

const ElementProperties<Settings>* properties = nullptr;  // from class_init on

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  properties->set(object, id, value, pspec, state_of(object).settings);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  properties->get(object, id, value, pspec, state_of(object).settings);
}

void finalize(GObject* object) {
  delete static_cast<GstCudaGaussBlur*>(static_cast<gpointer>(object))->state;
  G_OBJECT_CLASS(gst_cuda_gauss_blur_parent_class)->finalize(object);
}

void configure(GstCudaVisionFilter* self, Device& device, const FrameFormat& in,
               const FrameFormat&) {
  State& state = state_of(self);
  const Settings settings = current_settings(self, state.settings);
  state.rule.require(validation_error(settings));
  const gaussblur::Parameters parameters = parameters_of(settings, in);
  state.operation.reset();
  state.operation.reset(
      new Operation{in, parameters, gaussblur::GaussBlur(device, in.layout, parameters)});
}

FrameWork begin_frame(GstCudaVisionFilter* self, const FrameInfo& info) {
  State& state = state_of(self);
  Operation& operation = *state.operation;
  const Settings settings = current_settings(self, state.settings);
  gaussblur::Parameters parameters =
      state.rule.allows(GST_ELEMENT_CAST(self), validation_error(settings))
          ? parameters_of(settings, operation.format)
          : operation.parameters;
  parameters.fields = info.interlaced;
  if (parameters != operation.parameters) {
    const DeviceScope scope(gst_cuda_vision_filter_session(self));
    operation.blur.set_parameters(parameters);
    operation.parameters = parameters;
  }
  return operation.blur.identity() ? FrameWork::nothing : FrameWork::transform;
}

void process(GstCudaVisionFilter* self, const ConstFrame& in, const Frame* out, const FrameInfo&) {
  state_of(self).operation->blur.run(in, *out);
}

void release(GstCudaVisionFilter* self) {
  state_of(self).operation.reset();
}

void install_properties(GObjectClass* klass) {
  static ElementProperties<Settings> all(klass);
  all.add({"sigma", "Sigma",
           "Standard deviation of the Gaussian in pixels; negative: sharpen; 0: what is usual "
           "for kernel-size, and no blur where that is 0 too"},
          &Settings::sigma, -largest_sigma, largest_sigma);
  all.add({"sigma-y", "Vertical sigma",
           "Standard deviation from top to bottom in pixels (0 = as sigma)"},
          &Settings::sigma_y, 0, largest_sigma);
  all.add({"kernel-size", "Kernel size",
           "Samples of the kernel, an odd number (0 = as many as sigma asks for)"},
          &Settings::kernel_size, 0, gaussblur::GaussKernel::max_size);
  all.add({"kernel-size-y", "Vertical kernel size",
           "Samples of the kernel from top to bottom, an odd number (0 = as many as sigma-y "
           "asks for, and with sigma=0 as kernel-size)"},
          &Settings::kernel_size_y, 0, gaussblur::GaussKernel::max_size);
  all.add({"border", "Border", "What is taken to lie beyond the edges of the picture"},
          &Settings::border, border_type());
  all.add({"border-color", "Border colour",
           "Colour beyond the edges with border=constant, as 0xAARRGGBB; in YUV and "
           "gray formats by the colorimetry of the caps"},
          &Settings::border_color);
  all.add({"blur-alpha", "Blur alpha",
           "Blur the alpha channel like the others (false = leave it as it is)"},
          &Settings::blur_alpha);
  all.add({"fine", "Fine coefficients",
           "Give the kernel of 8-bit samples 16 fraction bits instead of 8: at a large sigma "
           "fine gratings disappear as they should, where 8 bits leave a trace of them, but "
           "the result is no longer equal to OpenCV's (deeper samples always have 16)"},
          &Settings::fine);
  properties = &all;
}

}  // namespace

static void gst_cuda_gauss_blur_class_init(GstCudaGaussBlurClass* klass) {
  GST_DEBUG_CATEGORY_INIT(cuda_gauss_blur_debug, "cudagaussblur", 0, "Gaussian blur");
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_properties(object_class);

  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "CUDA Gaussian blur", "Filter/Effect/Video/Hardware",
      "Blurs with a Gaussian or sharpens, exactly and for any sigma, on an NVIDIA GPU or the CPU",
      "The gst-cudavision developers");

  GstCudaVisionFilterClass* filter_class = &klass->parent_class;
  gst_cuda_vision_filter_class_add_video_templates(filter_class);
  filter_class->configure = configure;
  filter_class->begin_frame = begin_frame;
  filter_class->process = process;
  filter_class->release = release;
}

static void gst_cuda_gauss_blur_init(GstCudaGaussBlur* self) {
  self->state = new State;
}
