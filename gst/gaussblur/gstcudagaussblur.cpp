// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudagaussblur
 * @title: cudagaussblur
 *
 * Blurs pictures with a Gaussian, or sharpens them. Runs on an NVIDIA GPU or, with bit-identical
 * results, on the CPU. Blurred 8- and 16-bit samples equal OpenCV's GaussianBlur if `fine` is off.
 *
 * #GstCudaGaussBlur:sigma is enough: the size of the kernel follows from it. A negative sigma
 * sharpens: each pixel moves away from its blurred value by the same amount as the blur would move
 * it towards this value. If sigmas, sizes and region-strength are all 0, frames are not changed.
 *
 * Sigma is divided by the subsampling of chroma planes, so that the blur looks the same in all
 * planes. Alpha is straight: colours and alpha are blurred independently. The two fields of an
 * interlaced frame are blurred separately.
 *
 * A blur can be undone in part. To hide pixels permanently, use cudapixelate.
 *
 * #GstCudaGaussBlur:region-strength adapts sigma to the largest region of a frame: a larger face
 * needs a larger sigma.
 *
 * #GstCudaGaussBlur:regions and #GstCudaGaussBlur:use-roi-meta limit the effect to parts of the
 * frame, such as faces that a detector has marked. All other pixels remain unchanged.
 *
 * All properties except backend, cuda-device-id and frames-in-flight may change at any time, also
 * through a #GstControlSource. A change takes effect with the next frame. A new sigma or kernel
 * size allocates no memory; only small tables of coefficients are rebuilt and uploaded.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudagaussblur sigma=4 ! videoconvert ! autovideosink
 * ]| Blurs the video of a camera.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudagaussblur sigma=-1.5 ! videoconvert ! autovideosink
 * ]| Sharpens the video of a camera.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudagaussblur sigma=15 regions=0.3,0.1,0.4,0.5
 * region-shape=ellipse region-feather=20 ! videoconvert ! autovideosink
 * ]| Blurs an ellipse in the middle of the picture.
 * |[
 * gst-launch-1.0 videotestsrc ! cudagaussblur sigma=0 kernel-size=31 kernel-size-y=1 ! ximagesink
 * ]| Blurs horizontally over 31 pixels.
 *
 * Since: 0.2.0
 */
#include <algorithm>
#include <cmath>

#include "cuda/gaussblur/gaussblur.h"
#include "gst/base/colorsamples.h"
#include "gst/base/filter/filterelement.h"

namespace cudavision {
namespace {

std::string size_error(const char* property, int size) {
  return odd_size_error(property, size, " (0 derives it from sigma)");
}

class GaussBlurProcessor {
 public:
  struct Settings : StrengthSettings {
    double sigma = gaussblur::Parameters().sigma_x;
    double sigma_y = 0;
    int kernel_size = 0;
    int kernel_size_y = 0;
    Border border = gaussblur::Parameters().border;
    guint border_color = 0xff000000;  ///< ARGB
    bool blur_alpha = gaussblur::Parameters().blur_alpha;
    bool fine = gaussblur::Parameters().fine;
  };

  static constexpr FilterDescription description = {
      "GstCudaGaussBlur", "cudagaussblur", "CUDA Gaussian blur", "Filter/Effect/Video/Hardware",
      "Blurs with a Gaussian or sharpens, exactly, on an NVIDIA GPU or the CPU"};

  static void add_properties(ElementProperties<Settings>& all) {
    using Ranges = gaussblur::Parameters::Ranges;
    all.add(
        {"sigma", "Sigma",
         "Standard deviation of the Gaussian in pixels; negative values sharpen (0 = derived from "
         "kernel-size, or no blur if kernel-size is also 0)"},
        &Settings::sigma, {-Ranges::sigma.max, Ranges::sigma.max});
    all.add({"sigma-y", "Vertical sigma",
             "Vertical standard deviation in pixels (0 = the same as sigma)"},
            &Settings::sigma_y, Ranges::sigma);
    all.add({"kernel-size", "Kernel size",
             "Horizontal number of samples in the kernel; must be odd (0 = derived from sigma)"},
            &Settings::kernel_size, Ranges::size);
    all.add({"kernel-size-y", "Vertical kernel size",
             "Vertical number of samples in the kernel; must be odd (0 = derived from sigma-y, or "
             "the same as kernel-size if both sigmas are 0)"},
            &Settings::kernel_size_y, Ranges::size);
    all.add({"border", "Border", "How the picture is continued beyond its edges"},
            &Settings::border, "GstCudaGaussBlurBorder",
            {{Border::reflect_101, "Mirror at the outermost pixel: dcb|abcd|cba", "reflect-101"},
             {Border::replicate, "Repeat the outermost pixel: aaa|abcd|ddd", "replicate"},
             {Border::reflect, "Mirror at the edge: cba|abcd|dcb", "reflect"},
             {Border::wrap, "Continue with the opposite side: bcd|abcd|abc", "wrap"},
             {Border::constant, "The colour in border-color", "constant"}});
    all.add(
        {"border-color", "Border colour",
         "Colour beyond the edges with border=constant, as 0xAARRGGBB; converted to YUV and gray "
         "by the colorimetry of the caps"},
        &Settings::border_color);
    all.add({"blur-alpha", "Blur alpha",
             "Blur the alpha channel like the other channels (false = copy it unchanged)"},
            &Settings::blur_alpha);
    all.add(
        {"fine", "Fine coefficients",
         "Use coefficients with 16 fraction bits instead of 8 for 8-bit samples: a large sigma "
         "then removes fine gratings completely, but the result no longer equals OpenCV's (deeper "
         "samples always use 16)"},
        &Settings::fine);
    add_strength_property(
        all,
        "Minimum of sigma, as a fraction of the shorter side of a frame's largest region (0 = off, "
        "0.25 hides faces)");
  }

  static constexpr double max_strength = gaussblur::Parameters::Ranges::sigma.max;
  static constexpr char strength_property[] = "sigma";
  static double strength_share(const Settings& settings) { return settings.region_strength; }

  static std::string error(const Settings& settings, const FrameFormat&) {
    if (settings.sigma < 0 && settings.region_strength > 0)
      return "sigma=" + text_of(settings.sigma) +
             " sharpens, but region-strength=" + text_of(settings.region_strength) +
             " is for a blur: set sigma to 0 or more, or region-strength to 0.";
    const std::string error = size_error("kernel-size", settings.kernel_size);
    return error.empty() ? size_error("kernel-size-y", settings.kernel_size_y) : error;
  }

  GaussBlurProcessor(GstCudaVisionFilter*, Device& device, const FrameFormat& in,
                     const FrameFormat&, const Settings& settings)
      : format_(in),
        parameters_(parameters_of(settings, in)),
        blur_(device, in.layout, parameters_) {}

  void apply(const Settings& settings) { parameters_ = parameters_of(settings, format_); }

  void fit(double pixels) { min_sigma_ = pixels; }

  bool begin_frame(const FrameInfo& info) {
    parameters_.fields = info.interlaced;
    gaussblur::Parameters parameters = parameters_;
    if (min_sigma_ > 0) {
      parameters.sigma_x = std::max(parameters.sigma_x, min_sigma_);
      parameters.sigma_y = std::max(parameters.sigma_y, min_sigma_);
      parameters.size_x = parameters.size_y = 0;  // a smaller kernel would hide less
    }
    blur_.set_parameters(parameters);  // changed parameters rebuild the tables
    return !blur_.identity();
  }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) {
    blur_.run(in, out, active);
  }

 private:
  static gaussblur::Parameters parameters_of(const Settings& settings, const FrameFormat& format) {
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

  const FrameFormat format_;
  gaussblur::Parameters parameters_;
  double min_sigma_ = 0;
  gaussblur::GaussBlur blur_;
};

}  // namespace
}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(cudagaussblur, "cudagaussblur", GST_RANK_NONE,
                            cudavision::FilterElement<cudavision::GaussBlurProcessor>::get_type())
