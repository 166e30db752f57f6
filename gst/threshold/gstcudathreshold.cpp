// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudathreshold
 * @title: cudathreshold
 *
 * Converts pictures to black and white by an adaptive threshold: pixels that are darker than their
 * surroundings become black. This separates writing from an unevenly lit sheet. Runs on an NVIDIA
 * GPU or, with bit-identical results, on the CPU.
 *
 * #GstCudaThreshold:method selects which pixels become black:
 *
 * * `bradley`: darker than the local mean by more than #GstCudaThreshold:ratio (Bradley and Roth)
 * * `sauvola`: below a threshold from the local mean and standard deviation (Sauvola), which keeps
 *   empty paper white
 *
 * #GstCudaThreshold:speckle-size removes the remaining noise: components of ink with at most this
 * number of pixels.
 *
 * The output is GRAY8 or GRAY16_LE. #GstCudaThreshold:radius hardly affects the speed. All
 * properties except backend, cuda-device-id and frames-in-flight can be controlled at any time.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudathreshold radius=20 ! videoconvert ! autovideosink
 * ]| Shows writing in black on white, even if the sheet is lit unevenly.
 *
 * Since: 0.2.0
 */
#include "cuda/localstatistics/localstatistics.h"
#include "cuda/speckles/speckles.h"
#include "gst/base/filter/filterelement.h"
#include "gst/base/filter/outputcaps.h"

namespace cudavision {
namespace {

enum class ThresholdMethod { bradley, sauvola };

class ThresholdProcessor {
 public:
  struct Settings {
    ThresholdMethod method = ThresholdMethod::bradley;
    int radius = localstatistics::Parameters().radius;
    double ratio = localstatistics::Parameters().ratio;
    double k = localstatistics::Parameters().k;
    double range = localstatistics::Parameters().range;
    bool invert = localstatistics::Parameters().invert;
    int speckle_size = speckles::Parameters().size;
  };

  static constexpr FilterDescription description = {
      "GstCudaThreshold",
      "cudathreshold",
      "CUDA adaptive threshold",
      "Filter/Effect/Video/Hardware",
      "Binarises by an adaptive threshold (Bradley, Sauvola), on an NVIDIA GPU or the CPU",
      "smaller frames"};

  static void add_properties(ElementProperties<Settings>& all) {
    using Ranges = localstatistics::Parameters::Ranges;
    all.add({"method", "Method", "Rule that decides between black and white"}, &Settings::method,
            "GstCudaThresholdMethod",
            {{ThresholdMethod::bradley,
              "Black if darker than the mean by more than ratio (Bradley and Roth)", "bradley"},
             {ThresholdMethod::sauvola,
              "Black if darker than a threshold based on mean and standard deviation (Sauvola)",
              "sauvola"}});
    all.add({"radius", "Radius", "Window radius in pixels"}, &Settings::radius, Ranges::radius);
    all.add({"ratio", "Ratio",
             "With method=bradley: fraction of the mean by which a pixel must be darker than the "
             "mean to become black"},
            &Settings::ratio, Ranges::ratio);
    all.add({"k", "Weight k",
             "With method=sauvola: weight k of the standard deviation in the threshold "
             "mean·(1 + k·(stddev/range − 1))"},
            &Settings::k, Ranges::k);
    all.add(
        {"range", "Range",
         "With method=sauvola: standard deviation at which the threshold equals the mean "
         "(0 = half the range of the samples: for 8 bits 128 in full range and 109.5 in limited "
         "range)"},
        &Settings::range, Ranges::range);
    all.add({"invert", "Invert",
             "Make pixels that are darker than their surroundings white, all others black"},
            &Settings::invert);
    all.add({"speckle-size", "Speckle size",
             "Size in pixels up to which dark components (ink) are removed (0 = none); pixels "
             "connect by sides or corners"},
            &Settings::speckle_size, speckles::Parameters::Ranges::size);
  }

  static Caps src_template() { return gray_template(); }
  static void extend_class(GstCudaVisionFilterClass* klass);

  ThresholdProcessor(GstCudaVisionFilter*, Device& device, const FrameFormat& in,
                     const FrameFormat& out, const Settings& settings)
      : limited_range_(in.low > 0),
        parameters_(parameters_of(settings)),
        statistics_(device, in.layout, out.layout.bits, parameters_),
        speckles_(device, out.layout, speckles_of(settings)) {}

  void apply(const Settings& settings) {
    speckles_.set_parameters(speckles_of(settings));
    const localstatistics::Parameters parameters = parameters_of(settings);
    if (parameters == parameters_)
      return;
    statistics_.set_parameters(parameters);
    parameters_ = parameters;
  }

  bool begin_frame(const FrameInfo&) { return true; }

  void run(const ConstFrame& in, const Frame& out) {
    statistics_.run(in, out.planes[0]);
    speckles_.run(out);
  }

 private:
  localstatistics::Parameters parameters_of(const Settings& settings) const {
    using Output = localstatistics::Parameters::Output;
    localstatistics::Parameters parameters;
    parameters.output =
        settings.method == ThresholdMethod::bradley ? Output::bradley : Output::sauvola;
    parameters.radius = settings.radius;
    parameters.ratio = settings.ratio;
    parameters.k = settings.k;
    parameters.range = settings.range;
    parameters.invert = settings.invert;
    parameters.limited_range = limited_range_;
    return parameters;
  }

  static speckles::Parameters speckles_of(const Settings& settings) {
    return {settings.speckle_size, settings.invert};
  }

  const bool limited_range_;
  localstatistics::Parameters parameters_;
  localstatistics::LocalStatistics statistics_;
  speckles::Speckles speckles_;
};

GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                        GstCaps* filter) {
  return post_exceptions(trans, static_cast<GstCaps*>(nullptr), [&] {
    return gray_caps_of_other_side(direction, caps, filter, GrayDepth::any, takes_cuda(trans))
        .release();
  });
}

GstCaps* fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                     GstCaps* othercaps) {
  return fixate_output(trans, direction, caps, othercaps, [&](Caps possible) {
    return choose_memory(prefer_8_bits(possible.get()), GST_BASE_TRANSFORM_SRC_PAD(trans));
  });
}

FrameFormat output_format(GstCudaVisionFilter*, const FrameFormat& in, const GstCaps* caps) {
  return picture_format(in, caps, in.layout.width, in.layout.height);
}

void ThresholdProcessor::extend_class(GstCudaVisionFilterClass* klass) {
  klass->parent_class.transform_caps = transform_caps;
  klass->parent_class.fixate_caps = fixate_caps;
  klass->unpacked_form = repack::UnpackedForm::luminance;
  klass->output_format = output_format;
}

}  // namespace
}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(cudathreshold, "cudathreshold", GST_RANK_NONE,
                            cudavision::FilterElement<cudavision::ThresholdProcessor>::get_type())
