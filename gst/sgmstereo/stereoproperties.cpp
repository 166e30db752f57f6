// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereoproperties.h"

#include "gst/base/properties.h"

namespace cudavision {
namespace {

using Settings = StereoSettings;

template <class Enum>
constexpr GEnumValue value(Enum number, const char* words, const char* nick) {
  return {static_cast<gint>(number), words, nick};
}

GType output_type() {
  static const GEnumValue values[] = {
      value(StereoOutput::disparity, "Disparities, or a picture of them", "disparity"),
      value(StereoOutput::depth, "Distances from the cameras' plane", "depth"),
      value(StereoOutput::confidence, "How much worse the second best disparity is", "confidence"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaSgmStereoOutput", values);
  return type;
}

GType census_type() {
  using Census = sgm::Parameters::Census;
  static const GEnumValue values[] = {
      value(Census::symmetric_9x7, "Pixels opposite each other in 9x7, 31 bits", "symmetric-9x7"),
      value(Census::neighbours_9x7, "Each neighbour in 9x7 beside the centre, 62 bits",
            "neighbours-9x7"),
      value(Census::neighbours_5x5, "Each neighbour in 5x5 beside the centre, 24 bits",
            "neighbours-5x5"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaSgmStereoCensus", values);
  return type;
}

GType compatibility_type() {
  using Compatibility = sgm::Parameters::Compatibility;
  static const GEnumValue values[] = {
      value(Compatibility::none, "What serves best", "none"),
      value(Compatibility::libsgm, "Every bit as libSGM 3.1.0", "libsgm"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaSgmStereoCompatibility", values);
  return type;
}

GType colormap_type() {
  static const GEnumValue values[] = {
      value(Colormap::turbo, "From dark blue over green to dark red, evenly", "turbo"),
      value(Colormap::jet, "From blue over green to red, as MATLAB has it", "jet"),
      value(Colormap::gray, "From black to white", "gray"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaSgmStereoColormap", values);
  return type;
}

void add_search(ElementProperties<Settings>& all) {
  constexpr PropertyChange ready = PropertyChange::when_ready;
  all.add({"output", "Output", "What is made of each pair of frames", ready}, &Settings::output,
          output_type());
  all.add({"frame-packing", "Frame packing",
           "How frames on sink_left hold both pictures, then nothing is linked to sink_right (none "
           "= as the caps' multiview-mode says)",
           ready},
          &Settings::frame_packing, GST_TYPE_VIDEO_MULTIVIEW_FRAME_PACKING);
  all.add(
      {"num-disparities", "Number of disparities",
       "How many disparities are searched, a multiple of 32; time and memory grow with it", ready},
      &Settings::disparities, 32, 1024);
  all.add({"min-disparity", "Minimum disparity",
           "The smallest disparity searched, in pixels; negative where the cameras squint", ready},
          &Settings::minimum, -2047, 2015);
  all.add({"paths", "Paths", "Along how many paths costs are aggregated, 4 or 8", ready},
          &Settings::paths, 4, 8);
  all.add({"census", "Census", "By which surroundings pixels are compared", ready},
          &Settings::census, census_type());
  all.add({"compatibility", "Compatibility",
           "Whose results to give to the bit where that is not what serves best", ready},
          &Settings::compatibility, compatibility_type());
}

void add_matching(ElementProperties<Settings>& all) {
  all.add({"p1", "P1", "Penalty for a step of one disparity between neighbours, below p2"},
          &Settings::p1, 1, 254);
  all.add({"p2", "P2",
           "Penalty for a larger step; at most 255 less the bits of the census (224 with "
           "symmetric-9x7)"},
          &Settings::p2, 2, 255);
  all.add({"adaptive-p2", "Adaptive P2",
           "Lower p2 where the left picture has an edge (not with compatibility=libsgm)"},
          &Settings::adaptive_p2);
  all.add({"uniqueness", "Uniqueness",
           "A disparity is unknown where another one's cost times this is below its own (1 = keep "
           "all)"},
          &Settings::uniqueness, 0, 1);
  all.add({"subpixel", "Subpixel", "Disparities in sixteenths of a pixel instead of pixels"},
          &Settings::subpixel);
  all.add({"median", "Median", "Filter disparities with a median of 3x3"}, &Settings::median);
  all.add({"lr-max-diff", "Left-right difference",
           "Disparity is unknown where that of the right picture differs by more, in pixels (-1 = "
           "do not compare)"},
          &Settings::lr_max_diff, -1, 1024);
  all.add({"speckle-size", "Speckle size",
           "Regions of up to so many pixels are no surfaces and become unknown (0 = keep all)"},
          &Settings::speckle_size, 0, G_MAXINT);
  all.add({"speckle-range", "Speckle range",
           "By how much neighbours in one region may differ, in pixels of disparity"},
          &Settings::speckle_range, 0, 1024);
  all.add({"fill-holes", "Fill holes",
           "Give unknown pixels the disparity of the farther of the surfaces beside them"},
          &Settings::fill_holes);
}

void add_output(ElementProperties<Settings>& all) {
  all.add({"focal-length", "Focal length",
           "Focal length of the cameras in pixels of the frames, for output=depth"},
          &Settings::focal_length, 0, 1e6);
  all.add({"baseline", "Baseline", "Distance between the cameras in mm, for output=depth"},
          &Settings::baseline, 0, 1e6);
  all.add({"depth-unit", "Depth unit", "Millimetres to a count of output=depth"},
          &Settings::depth_unit, 0.001, 1e6);
  all.add({"colormap", "Colour map", "Colours of disparities where the caps ask for RGB"},
          &Settings::colormap, colormap_type());
  all.add({"max-skew", "Maximum skew",
           "How far apart the running times of a pair may be, in ns (-1 = half of the left frame's "
           "duration)"},
          &Settings::max_skew, -1);
}

}  // namespace

const ElementProperties<StereoSettings>& install_stereo_properties(GObjectClass* klass) {
  static ElementProperties<Settings> all(klass);
  add_search(all);
  add_matching(all);
  add_output(all);
  return all;
}

void install_stereo_reports(GObjectClass* klass, guint first_id) {
  constexpr auto flags = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  const sgm::DisparityScale scale = sgm::disparity_scale(sgm_parameters({}));
  const auto install = [&](StereoReport report, GParamSpec* spec) {
    g_object_class_install_property(klass, first_id + report, spec);
  };
  install(report_invalid_value,
          g_param_spec_uint("invalid-value", "Invalid value",
                            "The sample of GRAY16_LE that says that a disparity is not known", 0,
                            G_MAXUINT16, scale.invalid, flags));
  install(report_disparity_scale,
          g_param_spec_int("disparity-scale", "Disparity scale",
                           "By how much the samples of GRAY16_LE grow for a pixel of disparity", 1,
                           16, scale.per_pixel, flags));
  install(report_dropped_left, g_param_spec_uint64("dropped-left", "Dropped left frames",
                                                   "Left frames without a partner since the start",
                                                   0, G_MAXUINT64, 0, flags));
  install(report_dropped_right,
          g_param_spec_uint64("dropped-right", "Dropped right frames",
                              "Right frames without a partner since the start", 0, G_MAXUINT64, 0,
                              flags));
}

}  // namespace cudavision
