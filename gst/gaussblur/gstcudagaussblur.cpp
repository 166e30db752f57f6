// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudagaussblur
 * @title: cudagaussblur
 *
 * Blurs pictures with a Gaussian, sharpens them, or hides what they show under a mosaic or one
 * colour. Works on an NVIDIA GPU or, with the same results to the bit, on the CPU; blurs of 8- and
 * 16-bit samples equal those of OpenCV's GaussianBlur.
 *
 * #GstCudaGaussBlur:sigma alone is enough: the size of the kernel follows from it. A negative sigma
 * sharpens: each pixel moves away from its blurred value by as much as the blur would have moved it
 * towards that value. If the sigmas and the sizes are all 0, frames pass through unchanged.
 *
 * Sigma is divided by the subsampling of chroma planes, so that the blur looks the same in all
 * planes. Alpha is straight: colours and alpha are blurred independently. The fields of interlaced
 * frames are blurred independently as well.
 *
 * A blur can be undone, at least in part. #GstCudaGaussBlur:method=mosaic replaces blocks of
 * #GstCudaGaussBlur:block-size pixels by their mean, and method=solid everything by
 * #GstCudaGaussBlur:solid-color.
 *
 * #GstCudaGaussBlur:regions and #GstCudaGaussBlur:use-roi-meta limit the effect to parts of the
 * frame, such as faces that a detector has marked. All other pixels stay as they are.
 *
 * All properties except those of the device may change at any time, also through a
 * #GstControlSource. A change takes effect with the next frame and allocates nothing; it rebuilds
 * and uploads small tables of coefficients.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudagaussblur sigma=4 ! videoconvert ! autovideosink
 * ]| Blurs the pictures of a camera.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudagaussblur sigma=-1.5 ! videoconvert ! autovideosink
 * ]| Sharpens them.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudagaussblur sigma=15 regions=0.3,0.1,0.4,0.5
 * region-shape=ellipse region-feather=20 ! videoconvert ! autovideosink
 * ]| Blurs an ellipse in the middle of the picture.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudagaussblur method=mosaic block-size=24
 * regions=0.3,0.1,0.4,0.5 ! videoconvert ! autovideosink
 * ]| Hides a rectangle in the middle of the picture under a mosaic.
 * |[
 * gst-launch-1.0 videotestsrc ! cudagaussblur sigma=0 kernel-size=31 kernel-size-y=1 ! ximagesink
 * ]| Smears horizontally over 31 pixels.
 *
 * Since: 0.1.0
 */
#include <cmath>
#include <memory>

#include "cuda/gaussblur/gaussblur.h"
#include "cuda/mosaic/mosaic.h"
#include "gst/base/elementdescription.h"
#include "gst/base/frameregions.h"
#include "gst/base/gstcudavisionfilter.h"
#include "gst/base/properties.h"
#include "gst/gaussblur/colorsamples.h"

GST_DEBUG_CATEGORY_STATIC(cuda_gauss_blur_debug);
#define GST_CAT_DEFAULT cuda_gauss_blur_debug

using namespace cudavision;

namespace {

enum class Method { gaussian, mosaic, solid };

GType method_type() {
  static const GEnumValue values[] = {
      enum_value(Method::gaussian, "Blur, or sharpen with a negative sigma", "gaussian"),
      enum_value(Method::mosaic, "Replace blocks of block-size pixels by their mean", "mosaic"),
      enum_value(Method::solid, "Replace everything by solid-color", "solid"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaGaussBlurMethod", values);
  return type;
}

GType border_type() {
  static const GEnumValue values[] = {
      enum_value(Border::reflect_101, "Mirror at the outermost pixel: dcb|abcd|cba", "reflect-101"),
      enum_value(Border::replicate, "Repeat the outermost pixel: aaa|abcd|ddd", "replicate"),
      enum_value(Border::reflect, "Mirror at the edge: cba|abcd|dcb", "reflect"),
      enum_value(Border::wrap, "Continue with the opposite side: bcd|abcd|abc", "wrap"),
      enum_value(Border::constant, "The colour in border-color", "constant"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaGaussBlurBorder", values);
  return type;
}

/// The values of the properties.
struct Settings : RegionSettings {
  Method method = Method::gaussian;
  double sigma = gaussblur::Parameters().sigma_x;
  double sigma_y = 0;
  int kernel_size = 0;
  int kernel_size_y = 0;
  Border border = gaussblur::Parameters().border;
  guint border_color = 0xff000000;  ///< ARGB
  bool blur_alpha = gaussblur::Parameters().blur_alpha;
  bool fine = gaussblur::Parameters().fine;
  int block_size = mosaic::Parameters().block_size;
  guint solid_color = 0xff000000;  ///< ARGB
};

const ElementProperties<Settings>* properties = nullptr;  // set by class_init

/// Everything that configure() builds and release() frees.
struct Operation {
  FrameFormat format;
  Method method;  ///< this and the next are in force: the last valid ones
  gaussblur::Parameters parameters;
  gaussblur::GaussBlur blur;
  mosaic::Parameters mosaic_parameters;
  mosaic::Mosaic mosaic;
  FrameRegions regions;
};

std::string size_error(const char* property, int size) {
  return odd_size_error(
      property, size, "is even, but a kernel has a middle and equally many samples on either side",
      " (or 0, to let sigma decide)");
}

/// Returns an empty string, or what is wrong with the settings.
std::string validation_error(const Settings& settings) {
  std::string error = properties->range_error(settings);
  if (error.empty())
    error = size_error("kernel-size", settings.kernel_size);
  if (error.empty())
    error = size_error("kernel-size-y", settings.kernel_size_y);
  return error.empty() ? settings.regions.error() : error;
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

mosaic::Parameters mosaic_parameters_of(const Settings& settings, const FrameFormat& format) {
  mosaic::Parameters parameters;
  parameters.block_size = settings.block_size;
  parameters.solid = settings.method == Method::solid;
  if (parameters.solid)
    parameters.values = color_samples(format, settings.solid_color);
  parameters.hide_alpha = settings.blur_alpha && !parameters.solid;
  return parameters;
}

struct State {
  Settings settings;  ///< under the object lock

  // The following belong to the streaming thread.
  std::unique_ptr<Operation> operation;
  SettingsGuard guard;
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
GST_ELEMENT_REGISTER_DEFINE(cudagaussblur, "cudagaussblur", GST_RANK_NONE,
                            gst_cuda_gauss_blur_get_type())

namespace {

State& state_of(gpointer self) {
  return *static_cast<GstCudaGaussBlur*>(self)->state;
}

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
  state.guard.require(validation_error(settings));
  const gaussblur::Parameters parameters = parameters_of(settings, in);
  const mosaic::Parameters mosaic_parameters = mosaic_parameters_of(settings, in);
  state.operation.reset(new Operation{
      in, settings.method, parameters, gaussblur::GaussBlur(device, in.layout, parameters),
      mosaic_parameters, mosaic::Mosaic(device, in.layout, mosaic_parameters),
      FrameRegions(device, in.layout, settings, gst_cuda_vision_filter_regions(self))});
}

FrameWork begin_frame(GstCudaVisionFilter* self, const FrameInfo& info) {
  State& state = state_of(self);
  Operation& operation = *state.operation;
  const Settings settings = current_settings(self, state.settings);
  gaussblur::Parameters parameters = operation.parameters;
  mosaic::Parameters mosaic_parameters = operation.mosaic_parameters;
  if (state.guard.allows(GST_ELEMENT_CAST(self), validation_error(settings))) {
    operation.method = settings.method;
    parameters = parameters_of(settings, operation.format);
    mosaic_parameters = mosaic_parameters_of(settings, operation.format);
    operation.regions.set_settings(settings);
  }
  parameters.fields = mosaic_parameters.fields = info.interlaced;
  const DeviceScope scope(gst_cuda_vision_filter_session(self));
  if (parameters != operation.parameters) {
    operation.blur.set_parameters(parameters);
    operation.parameters = parameters;
  }
  operation.mosaic.set_parameters(mosaic_parameters);
  operation.mosaic_parameters = mosaic_parameters;
  const bool selected = operation.regions.select(info);
  const bool identity = operation.method == Method::gaussian && operation.blur.identity();
  return selected && !identity ? FrameWork::transform : FrameWork::nothing;
}

void process(GstCudaVisionFilter* self, const ConstFrame& in, const Frame* out, const FrameInfo&) {
  Operation& operation = *state_of(self).operation;
  operation.regions.run(
      in, *out, [&](const ConstFrame& from, const Frame& to, const regions::ActiveCells* active) {
        if (operation.method == Method::gaussian)
          operation.blur.run(from, to, active);
        else
          operation.mosaic.run(from, to, active);
      });
}

void release(GstCudaVisionFilter* self) {
  state_of(self).operation.reset();
}

void install_properties(GObjectClass* klass) {
  using Ranges = gaussblur::Parameters::Ranges;
  static ElementProperties<Settings> all(klass);
  all.add(
      {"method", "Method",
       "How the picture is changed; unlike a blur, a mosaic and a solid colour cannot be undone"},
      &Settings::method, method_type());
  all.add(
      {"sigma", "Sigma",
       "Standard deviation of the Gaussian in pixels; negative values sharpen (0 = follows from "
       "kernel-size, or no blur if that is 0 too)"},
      &Settings::sigma, {-Ranges::sigma.max, Ranges::sigma.max});
  all.add({"sigma-y", "Vertical sigma",
           "Vertical standard deviation in pixels (0 = the same as sigma)"},
          &Settings::sigma_y, Ranges::sigma);
  all.add({"kernel-size", "Kernel size",
           "Number of samples in the kernel, odd (0 = follows from sigma)"},
          &Settings::kernel_size, Ranges::size);
  all.add(
      {"kernel-size-y", "Vertical kernel size",
       "Number of samples in the kernel vertically, odd (0 = follows from sigma-y, or the same as "
       "kernel-size if both sigmas are 0)"},
      &Settings::kernel_size_y, Ranges::size);
  all.add({"border", "Border", "How the picture is continued beyond its edges"}, &Settings::border,
          border_type());
  all.add({"border-color", "Border colour",
           "Colour beyond the edges with border=constant, as 0xAARRGGBB; converted to YUV and gray "
           "by the colorimetry of the caps"},
          &Settings::border_color);
  all.add({"blur-alpha", "Blur alpha",
           "Blur the alpha channel like the others, or hide it under the mosaic (false = copy it "
           "unchanged)"},
          &Settings::blur_alpha);
  all.add(
      {"fine", "Fine coefficients",
       "Use coefficients with 16 fraction bits instead of 8 for 8-bit samples: a large sigma then "
       "removes fine gratings, of which 8 bits leave a trace, but the result no longer equals "
       "OpenCV's (deeper samples always use 16)"},
      &Settings::fine);
  all.add(
      {"block-size", "Block size",
       "Width and height in pixels of the blocks with method=mosaic, which begin in the top left "
       "corner of the frame"},
      &Settings::block_size, mosaic::Parameters::Ranges::block_size);
  all.add(
      {"solid-color", "Solid colour",
       "Colour with method=solid, as 0xAARRGGBB; alpha does not count, the frame keeps its own; "
       "converted to YUV and gray by the colorimetry of the caps"},
      &Settings::solid_color);
  add_region_properties(all);
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

  describe_element(GST_ELEMENT_CLASS(klass), "cudagaussblur", "CUDA Gaussian blur",
                   "Filter/Effect/Video/Hardware",
                   "Blurs with a Gaussian, sharpens, or hides under a mosaic "
                   "or one colour, exactly, on an NVIDIA "
                   "GPU or the CPU");

  GstCudaVisionFilterClass* filter_class = &klass->parent_class;
  gst_cuda_vision_filter_class_add_pad_templates(filter_class, video_template_caps());
  filter_class->debug_category = cuda_gauss_blur_debug;
  filter_class->configure = GST_DEBUG_FUNCPTR(configure);
  filter_class->begin_frame = GST_DEBUG_FUNCPTR(begin_frame);
  filter_class->process = GST_DEBUG_FUNCPTR(process);
  filter_class->release = GST_DEBUG_FUNCPTR(release);
}

static void gst_cuda_gauss_blur_init(GstCudaGaussBlur* self) {
  self->state = new State;
}
