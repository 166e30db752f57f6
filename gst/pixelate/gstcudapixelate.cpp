// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudapixelate
 * @title: cudapixelate
 *
 * Hides pictures or regions, such as faces or number plates, under a mosaic or one colour. Small
 * blocks hide little: use at most 3 per face (#GstCudaPixelate:region-strength). Runs on an NVIDIA
 * GPU or, with bit-identical results, on the CPU.
 *
 * #GstCudaPixelate:method selects the effect:
 *
 * * `mosaic`: square blocks, #GstCudaPixelate:block-size pixels wide, become their mean
 * * `solid`: all pixels become #GstCudaPixelate:color
 *
 * #GstCudaPixelate:regions and #GstCudaPixelate:use-roi-meta limit the effect to parts of the
 * frame. All other pixels remain unchanged. The fields of interlaced frames are hidden
 * independently.
 *
 * All properties except backend, cuda-device-id and frames-in-flight can be controlled at any time.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudapixelate block-size=24 regions=0.3,0.1,0.4,0.5 !
 * videoconvert ! autovideosink
 * ]| Hides a rectangle of the picture under a mosaic.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudapixelate method=solid color=0xff808080
 * regions=0.3,0.1,0.4,0.5 region-shape=ellipse ! videoconvert ! autovideosink
 * ]| Hides an ellipse of the picture under grey.
 *
 * Since: 0.2.0
 */
#include <algorithm>

#include "cuda/mosaic/mosaic.h"
#include "gst/base/colorsamples.h"
#include "gst/base/filter/filterelement.h"

namespace cudavision {
namespace {

enum class PixelateMethod { mosaic, solid };

class PixelateProcessor {
 public:
  struct Settings : StrengthSettings {
    PixelateMethod method = PixelateMethod::mosaic;
    int block_size = mosaic::Parameters().block_size;
    guint color = 0xff000000;  ///< ARGB
    bool hide_alpha = mosaic::Parameters().hide_alpha;
  };

  static constexpr FilterDescription description = {
      "GstCudaPixelate", "cudapixelate", "CUDA pixelation", "Filter/Effect/Video/Hardware",
      "Hides frames or regions under a mosaic or one colour, on an NVIDIA GPU or the CPU"};

  static void add_properties(ElementProperties<Settings>& all) {
    all.add({"method", "Method", "How pixels are hidden"}, &Settings::method,
            "GstCudaPixelateMethod",
            {{PixelateMethod::mosaic, "Replace the pixels of each block with their mean", "mosaic"},
             {PixelateMethod::solid, "Replace all pixels with the colour in color", "solid"}});
    all.add({"block-size", "Block size",
             "With method=mosaic, width and height of the blocks in pixels; the first block begins "
             "in the top left corner of the frame"},
            &Settings::block_size, mosaic::Parameters::Ranges::block_size);
    all.add({"color", "Colour",
             "With method=solid, the colour as 0xAARRGGBB, converted to YUV and gray by the "
             "colorimetry of the caps; its alpha is ignored, and frames keep their alpha channel"},
            &Settings::color);
    all.add({"hide-alpha", "Hide alpha",
             "With method=mosaic, hide the alpha channel like the other channels (false = copy it "
             "unchanged)"},
            &Settings::hide_alpha);
    add_strength_property(
        all,
        "With method=mosaic, minimum of block-size, as a fraction of the shorter side of a frame's "
        "largest region (0 = off, 0.34 hides faces)");
  }

  static constexpr int max_strength = mosaic::Parameters::Ranges::block_size.max;
  static constexpr char strength_property[] = "block-size";
  static double strength_share(const Settings& settings) {
    return settings.method == PixelateMethod::solid ? 0 : settings.region_strength;
  }

  PixelateProcessor(GstCudaVisionFilter*, Device& device, const FrameFormat& in, const FrameFormat&,
                    const Settings& settings)
      : format_(in),
        parameters_(parameters_of(settings)),
        mosaic_(device, in.layout, parameters_) {}

  void apply(const Settings& settings) { parameters_ = parameters_of(settings); }

  void fit(int pixels) { min_block_ = pixels; }

  bool begin_frame(const FrameInfo& info) {
    parameters_.fields = info.interlaced;
    mosaic::Parameters parameters = parameters_;
    parameters.block_size = std::max(parameters.block_size, min_block_);
    mosaic_.set_parameters(parameters);
    return true;
  }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) {
    mosaic_.run(in, out, active);
  }

 private:
  mosaic::Parameters parameters_of(const Settings& settings) const {
    mosaic::Parameters parameters;
    parameters.block_size = settings.block_size;
    parameters.solid = settings.method == PixelateMethod::solid;
    if (parameters.solid)
      parameters.values = color_samples(format_, settings.color);
    parameters.hide_alpha = settings.hide_alpha && !parameters.solid;
    return parameters;
  }

  const FrameFormat format_;
  mosaic::Parameters parameters_;
  int min_block_ = 0;
  mosaic::Mosaic mosaic_;
};

}  // namespace
}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(cudapixelate, "cudapixelate", GST_RANK_NONE,
                            cudavision::FilterElement<cudavision::PixelateProcessor>::get_type())
