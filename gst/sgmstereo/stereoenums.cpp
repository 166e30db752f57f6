// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereoenums.h"

#include "gst/base/properties.h"
#include "gst/sgmstereo/stereopresets.h"
#include "gst/sgmstereo/stereosettings.h"

namespace cudavision {

GType output_type() {
  static const GEnumValue values[] = {
      enum_value(StereoOutput::disparity,
                 "Disparity, as numbers, grey levels or colours by the caps", "disparity"),
      enum_value(StereoOutput::depth, "Distance from the plane of the cameras", "depth"),
      enum_value(StereoOutput::confidence,
                 "How clearly the best disparity beats the second best and fits its surroundings",
                 "confidence"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaSgmStereoOutput", values);
  return type;
}

GType census_type() {
  using Census = sgm::Config::Census;
  static const GEnumValue values[] = {
      enum_value(Census::census_gradient,
                 "Compare 16 pixels of an 11x7 window with its centre, and slopes, 32 bits",
                 "census-gradient"),
      enum_value(Census::symmetric_9x7, "Compare opposite pixels of a 9x7 window, 31 bits",
                 "symmetric-9x7"),
      enum_value(Census::neighbours_9x7,
                 "Compare each pixel of a 9x7 window with its centre, 62 bits", "neighbours-9x7"),
      enum_value(Census::neighbours_5x5,
                 "Compare each pixel of a 5x5 window with its centre, 24 bits", "neighbours-5x5"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaSgmStereoCensus", values);
  return type;
}

GType subpixel_method_type() {
  using Method = sgm::Parameters::SubpixelMethod;
  static const GEnumValue values[] = {
      enum_value(Method::equiangular, "The vertex of two lines of equal and opposite slope",
                 "equiangular"),
      enum_value(Method::parabola, "The vertex of a parabola", "parabola"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaSgmStereoSubpixelMethod", values);
  return type;
}

GType compatibility_type() {
  using Compatibility = sgm::Config::Compatibility;
  static const GEnumValue values[] = {
      enum_value(Compatibility::none, "This element's own definition", "none"),
      enum_value(Compatibility::libsgm, "The results of libSGM 3.1.0, bit for bit", "libsgm"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaSgmStereoCompatibility", values);
  return type;
}

GType calibration_drift_type() {
  static const GEnumValue values[] = {
      enum_value(CalibrationDrift::off, "Do not look for it", "off"),
      enum_value(CalibrationDrift::warn, "Say how the right camera has turned, and warn", "warn"),
      enum_value(CalibrationDrift::correct, "Rectify its pictures anew, and say so", "correct"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaSgmStereoCalibrationDrift", values);
  return type;
}

GType preset_type() {
  static const GEnumValue values[] = {
      enum_value(StereoPreset::custom, "Other values; setting it changes nothing", "custom"),
      enum_value(StereoPreset::fast, "The least time, without clean-up", "fast"),
      enum_value(StereoPreset::balanced, "The default", "balanced"),
      enum_value(StereoPreset::accurate, "Fewer disparities, of which fewer are wrong", "accurate"),
      enum_value(StereoPreset::dense, "A disparity for every pixel", "dense"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaSgmStereoPreset", values);
  return type;
}

GType colormap_type() {
  static const GEnumValue values[] = {
      enum_value(Colormap::turbo, "Dark blue (far) through green to dark red (near)", "turbo"),
      enum_value(Colormap::jet, "Blue (far) through green to red (near), as in MATLAB", "jet"),
      enum_value(Colormap::gray, "Black (far) to white (near)", "gray"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaSgmStereoColormap", values);
  return type;
}

}  // namespace cudavision
