// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudaguidedfilter
 * @title: cudaguidedfilter
 *
 * Smooths pictures by the guided filter, which keeps edges. Runs on an NVIDIA GPU or, with
 * bit-identical results, on the CPU.
 *
 * #GstCudaGuidedFilter:radius sets the window and #GstCudaGuidedFilter:epsilon the sensitivity to
 * edges. #GstCudaGuidedFilter:regions and #GstCudaGuidedFilter:use-roi-meta limit the effect to
 * parts of the frame.
 *
 * All properties except backend, cuda-device-id and frames-in-flight can be controlled at any time.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaguidedfilter radius=6 epsilon=400 ! videoconvert !
 * autovideosink
 * ]| Smooths skin and keeps eyes and hair.
 *
 * Since: 0.2.0
 */
#include "cuda/guided/guided.h"
#include "gst/base/filter/filterelement.h"

namespace cudavision {
namespace {

class GuidedFilterProcessor {
 public:
  struct Settings : RegionSettings {
    int radius = guided::Parameters().radius;
    double epsilon = guided::Parameters().epsilon;
  };

  static constexpr FilterDescription description = {
      "GstCudaGuidedFilter", "cudaguidedfilter", "CUDA guided filter",
      "Filter/Effect/Video/Hardware",
      "Edge-preserving smoothing by the guided filter, on an NVIDIA GPU or the CPU"};

  static void add_properties(ElementProperties<Settings>& all) {
    using Ranges = guided::Parameters::Ranges;
    all.add({"radius", "Radius", "Window radius in pixels (0 = frames stay unchanged)"},
            &Settings::radius, Ranges::radius);
    all.add({"epsilon", "Epsilon",
             "Regularisation in squared 8-bit grey levels: windows with this variance are smoothed "
             "by half, flatter windows more, edges less (0 = frames stay unchanged)"},
            &Settings::epsilon, Ranges::epsilon);
  }

  GuidedFilterProcessor(GstCudaVisionFilter*, Device& device, const FrameFormat& in,
                        const FrameFormat&, const Settings& settings)
      : filter_(device, in.layout, {settings.radius, settings.epsilon}) {}

  void apply(const Settings& settings) {
    filter_.set_parameters({settings.radius, settings.epsilon});
  }

  bool begin_frame(const FrameInfo&) { return !filter_.identity(); }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) {
    filter_.run(in, out, active);
  }

 private:
  guided::Guided filter_;
};

}  // namespace
}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(
    cudaguidedfilter, "cudaguidedfilter", GST_RANK_NONE,
    cudavision::FilterElement<cudavision::GuidedFilterProcessor>::get_type())
