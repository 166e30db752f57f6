// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereoproperties.h"

namespace cudavision {
namespace {

using Settings = StereoSettings;
using Ranges = sgm::Parameters::Ranges;
using Census = sgm::Config::Census;
using Compatibility = sgm::Config::Compatibility;
using SubpixelMethod = sgm::Parameters::SubpixelMethod;

/// Replaces unset values by the values in effect.
Settings effective_settings(const Settings& settings) {
  Settings result = settings.with_calibrated_lengths();
  if (settings.focal_length > 0)
    result.focal_length = settings.focal_length;
  static_cast<sgm::Parameters&>(result) = sgm::resolved(settings);
  return result;
}

}  // namespace

void add_stereo_properties(ElementProperties<StereoSettings>& all) {
  constexpr PropertyChange ready = PropertyChange::when_ready;
  // For inherited members, add() cannot deduce the enumeration, so these calls specify its type.
  all.add<StereoOutput>(
      {"output", "Output", "What to compute from each pair of frames", ready}, &Settings::output,
      "GstCudaSgmStereoOutput",
      {{StereoOutput::disparity, "Disparity; the caps choose numbers, grey levels or colours",
        "disparity"},
       {StereoOutput::depth, "Distance from the plane of the cameras", "depth"},
       {StereoOutput::confidence,
        "How clearly the best disparity beats the second best and fits adjacent disparities",
        "confidence"}});
  all.add<GstVideoMultiviewFramePacking>(
      {"frame-packing", "Frame packing",
       "Packing of frames on sink_left that hold both pictures: side-by-side or top-bottom (none = "
       "from multiview-mode in the caps; mono, left, right = not packed; others are refused)",
       ready},
      &Settings::frame_packing, GST_TYPE_VIDEO_MULTIVIEW_FRAME_PACKING);
  all.add(
      {"num-disparities", "Number of disparities",
       "Number of disparities to search, a multiple of 32; time and memory grow with it", ready},
      &Settings::disparities, Ranges::disparities);
  all.add(
      {"min-disparity", "Minimum disparity",
       "Smallest disparity to search, in pixels; negative for cameras whose optical axes converge",
       ready},
      &Settings::minimum, Ranges::minimum);
  all.add({"paths", "Paths",
           "Number of paths along which costs are aggregated: 4 or 8 (default with "
           "compatibility=libsgm: 8)",
           ready},
          &Settings::paths, Ranges::paths, effective_settings);
  all.add<Census>(
      {"census", "Census",
       "Census transform that describes the surroundings of a pixel (default with "
       "compatibility=libsgm: symmetric-9x7)",
       ready},
      &Settings::census, "GstCudaSgmStereoCensus",
      {{Census::census_gradient,
        "Compare 16 pixels of an 11x7 window with its centre, and encode three slopes, 32 bits",
        "census-gradient"},
       {Census::symmetric_9x7, "Compare opposite pixels of a 9x7 window, 31 bits", "symmetric-9x7"},
       {Census::neighbours_9x7, "Compare each pixel of a 9x7 window with its centre, 62 bits",
        "neighbours-9x7"},
       {Census::neighbours_5x5, "Compare each pixel of a 5x5 window with its centre, 24 bits",
        "neighbours-5x5"}},
      effective_settings);
  all.add<Compatibility>(
      {"compatibility", "Compatibility",
       "Library whose results to reproduce bit for bit, instead of this element's own definition",
       ready},
      &Settings::compatibility, "GstCudaSgmStereoCompatibility",
      {{Compatibility::none, "This element's own definition", "none"},
       {Compatibility::libsgm, "The results of libSGM 3.1.0, bit for bit", "libsgm"}});
  all.add({"memory-budget", "Memory budget",
           "GPU memory for the sums of path costs: a share of the free memory (up to 1) or bytes "
           "(above 1). Frames that need more are matched in bands, more slowly, with equal results",
           ready},
          &Settings::memory_budget, {0, 1e15});

  /* Calibration */
  all.add(
      {"calibration", "Calibration",
       "OpenCV stereo calibration file that rectifies the frames; separate several files by commas "
       "(auto = calibrate roughly parallel cameras from their pictures, without a file)",
       ready},
      +[](Settings& settings) -> const char*& { return settings.calibration.stereo; });
  all.add(
      {"calibration-left", "Calibration of the left camera",
       "ROS camera_info file (YAML) of the left camera; needs calibration-right", ready},
      +[](Settings& settings) -> const char*& { return settings.calibration.left; });
  all.add(
      {"calibration-right", "Calibration of the right camera",
       "ROS camera_info file (YAML) of the right camera; needs calibration-left", ready},
      +[](Settings& settings) -> const char*& { return settings.calibration.right; });
  all.add(
      {"alpha", "Alpha",
       "Crop of the rectified pictures: from 0 for only valid pixels to 1 for all pixels of the "
       "cameras (-1 = as in the calibration or else OpenCV's default; with calibration=auto, 0)",
       ready},
      &Settings::alpha, {-1, 1});
  all.add<CalibrationDrift>(
      {"calibration-drift", "Calibration drift",
       "Reaction to a camera that has turned in its mount, as measured in inspected pairs (with "
       "calibration=auto, warn also corrects)",
       ready},
      &Settings::calibration_drift, "GstCudaSgmStereoCalibrationDrift",
      {{CalibrationDrift::off, "Do not measure the drift", "off"},
       {CalibrationDrift::warn, "Warn, with the angles of the right camera", "warn"},
       {CalibrationDrift::correct, "Correct the rectification of the right pictures", "correct"}});

  /* Matching */
  all.add({"p1", "P1",
           "Penalty for a disparity change of 1 pixel between neighbouring pixels; less than p2 "
           "(0 = automatic: 14; with paths=8 or a census other than census-gradient, 10)"},
          &Settings::p1, Ranges::p1);
  all.add({"p2", "P2",
           "Penalty for a disparity change of more than 1 pixel; at most 255 minus the bits of the "
           "census: 223 with census-gradient (0 = automatic: 60; with paths=8, 50; with another "
           "census, 120)"},
          &Settings::p2, Ranges::p2);
  all.add({"adaptive-p2", "Adaptive P2",
           "Lower p2 at edges of the left picture (no effect with compatibility=libsgm)"},
          &Settings::adaptive_p2);
  all.add({"noise", "Noise",
           "Standard deviation of the pictures' noise in 8-bit grey levels, for the filter before "
           "matching (-1 = measured in the left pictures, 0 = no filter; no "
           "effect with compatibility=libsgm or with a census other than census-gradient)"},
          &Settings::noise, Ranges::noise);
  all.add({"uniqueness", "Uniqueness",
           "A disparity becomes unknown if its cost exceeds this factor times the cost of another "
           "disparity that is not adjacent (1 = keep all)"},
          &Settings::uniqueness, Ranges::uniqueness);
  all.add({"subpixel", "Subpixel",
           "Compute disparities in sixteenths of a pixel instead of whole pixels"},
          &Settings::subpixel);
  all.add<SubpixelMethod>(
      {"subpixel-method", "Subpixel method",
       "Curve fitted to the costs to find disparities between whole pixels (no effect with "
       "compatibility=libsgm)"},
      &Settings::subpixel_method, "GstCudaSgmStereoSubpixelMethod",
      {{SubpixelMethod::equiangular, "The vertex of two lines of equal and opposite slope",
        "equiangular"},
       {SubpixelMethod::parabola, "The vertex of a parabola", "parabola"}});
  all.add({"median", "Median", "Filter disparities with a 3x3 median"}, &Settings::median);
  all.add({"lr-max-diff", "Left-right difference",
           "A disparity becomes unknown if the right picture's disparity for the same point "
           "differs by more than this number of pixels (-1 = do not compare)"},
          &Settings::lr_max_diff, Ranges::lr_max_diff);
  all.add({"speckle-size", "Speckle size",
           "Disparities of regions of up to this many pixels become unknown (0 = keep all; default "
           "with compatibility=libsgm: 0)"},
          &Settings::speckle_size, Ranges::speckle_size, effective_settings);
  all.add({"speckle-range", "Speckle range",
           "Largest difference of disparity, in pixels, between neighbouring pixels of one region"},
          &Settings::speckle_range, Ranges::speckle_range);
  all.add({"confidence-threshold", "Confidence threshold",
           "Disparities with a lower confidence become unknown, before holes are filled (0 = keep "
           "all)"},
          &Settings::confidence_threshold, Ranges::confidence_threshold);
  all.add({"fill-holes", "Fill holes",
           "Fill unknown pixels with the disparity of the farther adjacent surface"},
          &Settings::fill_holes);
  all.add(
      {"refine", "Refine",
       "Smooth the disparities of each surface with a median over pixels of similar luminance (no "
       "effect with compatibility=libsgm)"},
      &Settings::refine);
  all.add({"slanted-surfaces", "Slanted surfaces",
           "Model slanted surfaces: filled pixels continue the slope. With refine and subpixel, "
           "disparities are also refined from the pictures and smoothed along planes (no effect "
           "with compatibility=libsgm)"},
          &Settings::slanted_surfaces);

  /* Smoothing over time */
  all.add({"temporal-alpha", "Temporal alpha",
           "Weight of a new disparity against earlier frames; lower is smoother but reacts more "
           "slowly (1 = no smoothing over time)"},
          &Settings::temporal_alpha, Ranges::temporal_alpha);
  all.add({"temporal-delta", "Temporal delta",
           "Largest change of a disparity, in pixels, that is smoothed over time; larger changes "
           "take effect at once"},
          &Settings::temporal_delta, Ranges::temporal_delta);
  all.add({"temporal-persistence", "Temporal persistence",
           "Number of frames for which a pixel that became unknown keeps its disparity (0 = none)"},
          &Settings::temporal_persistence, Ranges::temporal_persistence);

  /* Outputs, pairing and pairs in flight */
  all.add({"focal-length", "Focal length",
           "Focal length of the cameras in pixels of the frames, for depth and points (0 = from "
           "the calibration; with calibration=auto, the width of the frames)"},
          &Settings::focal_length, {0, 1e6}, effective_settings);
  all.add({"baseline", "Baseline",
           "Distance between the cameras in millimetres, for depth and points (0 = from "
           "the calibration)"},
          &Settings::baseline, {0, 1e6}, effective_settings);
  all.add(
      {"known-distance", "Known distance",
       "x,y,mm: the distance in mm from the plane of the cameras to the object at pixel (x, y) of "
       "the disparity map; calibration-drift=correct estimates the right camera's yaw from this "
       "distance (empty = none)"},
      +[](Settings& settings) -> const char*& { return settings.known_distance; });
  all.add({"depth-unit", "Depth unit", "Millimetres per unit of a GRAY16_LE depth sample"},
          &Settings::depth_unit, {0.001, 1e6});
  all.add({"colormap", "Colour map", "Colours of outputs in RGB formats"}, &Settings::colormap,
          "GstCudaSgmStereoColormap",
          {{Colormap::turbo, "Dark blue (far) through green to dark red (near)", "turbo"},
           {Colormap::jet, "Blue (far) through green to red (near), as in MATLAB", "jet"},
           {Colormap::gray, "Black (far) to white (near)", "gray"}});
  all.add(
      {"colormap-range", "Range of the colour map",
       "Range of values for grey levels and colours: full, auto (percentiles, smoothed over time) "
       "or two numbers such as 0,64, in pixels, depth-units or confidence levels. Entries such as "
       "depth=500,4000, separated by semicolons, apply to one output each (empty = auto for depth, "
       "else full)"},
      +[](Settings& settings) -> const char*& { return settings.colormap_range; });
  all.add(
      {"max-skew", "Maximum skew",
       "Largest difference between the running times of the two frames of a pair, in ns (-1 = half "
       "the duration of the left frame; if it is unknown or more than 10 s, half of 1/framerate; "
       "without a framerate, 20 ms); above 1 h, frames wait forever"},
      &Settings::max_skew, {-1, G_MAXINT64});
  all.add({"frames-in-flight", "Frames in flight",
           "Number of pairs that are transferred and processed at the same time (0 = automatic: 2 "
           "on CUDA; 1 on the CPU, or if all buffers are in CUDA memory in stream order)",
           ready},
          &Settings::frames_in_flight, frames_in_flight_range);
  all.add({"detections", "Detections",
           "Measure the distances of detections in the ROI or GstAnalytics metas of left frames: "
           "post an element message per pair, and add the results to the outputs' metas",
           ready},
          &Settings::detections);
  all.add({"diagnostics-interval", "Diagnostics interval",
           "Running time between inspected pairs, in ns. Each inspection posts an element message "
           "with figures, and warnings about cameras and settings (0 = no inspections)"},
          &Settings::diagnostics_interval);
}

}  // namespace cudavision
