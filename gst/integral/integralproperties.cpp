// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/integralproperties.h"

namespace cudavision {
namespace {

GType output_type() {
  static const GEnumValue values[] = {
      enum_value(IntegralOutput::sum, "Table of the sums of all pixels above and to the left",
                 "sum"),
      enum_value(IntegralOutput::squared_sum,
                 "Table of the sums of the squares of all pixels above and to the left",
                 "squared-sum"),
      enum_value(IntegralOutput::tilted_sum,
                 "Table of the sums over the triangle above, for rectangles rotated by 45 degrees",
                 "tilted-sum"),
      enum_value(IntegralOutput::mean, "Mean of the pixels around each pixel", "mean"),
      enum_value(IntegralOutput::stddev, "Standard deviation of the pixels around each pixel",
                 "stddev"),
      enum_value(IntegralOutput::threshold,
                 "Black where a pixel is darker than its surroundings, else white", "threshold"),
      enum_value(IntegralOutput::denoise, "The frame, denoised by non-local means", "denoise"),
      enum_value(IntegralOutput::guided,
                 "The frame, smoothed by the guided filter, which keeps edges", "guided"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaIntegralOutput", values);
  return type;
}

GType table_layout_type() {
  static const GEnumValue values[] = {
      enum_value(TableLayout::padded,
                 "(W+1)×(H+1) elements; the first row is 0, and so is the first column except with "
                 "tilted-sum",
                 "padded"),
      enum_value(TableLayout::same_size, "W×H elements, without the first row and column of padded",
                 "same-size"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaIntegralTableLayout", values);
  return type;
}

GType element_type_type() {
  static const GEnumValue values[] = {
      enum_value(ElementType::exact, "uint32 if every possible sum fits into it, else uint64",
                 "auto"),
      enum_value(ElementType::uint32, "32-bit integers; sums are modulo 2^32", "uint32"),
      enum_value(ElementType::uint64, "64-bit integers", "uint64"),
      enum_value(ElementType::float32, "32-bit floating point; exact sums, rounded once",
                 "float32"),
      enum_value(ElementType::float64, "64-bit floating point; exact sums, rounded once",
                 "float64"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaIntegralElementType", values);
  return type;
}

GType threshold_method_type() {
  static const GEnumValue values[] = {
      enum_value(ThresholdMethod::bradley,
                 "Black if darker than the mean by more than threshold-ratio (Bradley and Roth)",
                 "bradley"),
      enum_value(
          ThresholdMethod::sauvola,
          "Black if darker than a threshold from the mean and the standard deviation (Sauvola)",
          "sauvola"),
      {0, nullptr, nullptr},
  };
  static const GType type = register_enum("GstCudaIntegralThresholdMethod", values);
  return type;
}

}  // namespace

void add_integral_properties(ElementProperties<IntegralSettings>& all) {
  using Settings = IntegralSettings;
  using Statistics = localstatistics::Parameters::Ranges;
  using Denoising = nlmeans::Parameters::Ranges;
  constexpr PropertyChange ready = PropertyChange::when_ready;
  all.add({"output", "Output", "Table or picture that is made of each frame", ready},
          &Settings::output, output_type());
  all.add({"table-layout", "Table layout",
           "Size of the tables with output=sum, squared-sum and tilted-sum", ready},
          &Settings::table_layout, table_layout_type());
  all.add({"element-type", "Element type",
           "Type of the elements of the tables with output=sum, squared-sum and tilted-sum", ready},
          &Settings::element_type, element_type_type());
  all.add(
      {"radius", "Radius",
       "Reach of the window of mean, stddev, threshold and guided, in pixels to each side (with "
       "output=guided, 0 = frames stay unchanged)"},
      &Settings::radius, Statistics::radius);
  all.add({"threshold-method", "Threshold method",
           "Rule by which output=threshold decides between black and white"},
          &Settings::threshold_method, threshold_method_type());
  all.add(
      {"threshold-ratio", "Threshold ratio",
       "With threshold-method=bradley: fraction of the mean by which a pixel must be darker than "
       "the mean to become black"},
      &Settings::threshold_ratio, Statistics::ratio);
  all.add({"threshold-k", "Threshold k",
           "With threshold-method=sauvola: weight k of the standard deviation in the threshold "
           "mean·(1 + k·(stddev/range − 1))"},
          &Settings::threshold_k, Statistics::k);
  all.add(
      {"threshold-range", "Threshold range",
       "With threshold-method=sauvola: standard deviation at which the threshold equals the mean "
       "(0 = half the range of the samples: of 8 bits, 128 in full range and 109.5 in limited "
       "range)"},
      &Settings::threshold_range, Statistics::range);
  all.add(
      {"threshold-invert", "Threshold invert",
       "With output=threshold: white where a pixel is darker than its surroundings, else black"},
      &Settings::threshold_invert);
  all.add({"search-size", "Search size",
           "Side of the square in which denoise looks for similar pixels, in pixels, odd"},
          &Settings::search_size, Denoising::search);
  all.add({"patch-size", "Patch size",
           "Side of the square around each pixel by which denoise compares pixels, in pixels, odd"},
          &Settings::patch_size, Denoising::patch);
  all.add(
      {"denoise-strength", "Denoise strength",
       "How much the surroundings of two pixels may differ for denoise to average them, in "
       "8-bit grey levels (-1 = automatic, by the noise measured in the frames; 0 = frames stay "
       "unchanged)"},
      &Settings::denoise_strength,
      {nlmeans::Parameters::automatic_strength, Denoising::strength.max});
  all.add({"denoise-chroma-strength", "Denoise chroma strength",
           "The same for the chroma of YUV (-1 = that of denoise-strength or, if that is "
           "automatic, by the noise of the chroma; 0 = chroma stays unchanged)"},
          &Settings::denoise_chroma_strength,
          {nlmeans::Parameters::same_strength, Denoising::strength.max});
  all.add(
      {"denoise-frames", "Denoise frames",
       "Number of frames in which denoise looks for similar pixels, odd: half of the others come "
       "before the frame and half after it, for which it waits (1 = the frame itself)"},
      &Settings::denoise_frames, Denoising::frames);
  all.add({"guided-epsilon", "Guided epsilon",
           "Variance of windows that guided smooths by half, in squares of 8-bit grey levels: it "
           "smooths weaker texture more, and stronger edges less (0 = frames stay unchanged)"},
          &Settings::guided_epsilon, guided::Parameters::Ranges::epsilon);
  all.add({"post-messages", "Post messages",
           "With output=denoise, post an element message with the noise and the strengths"},
          &Settings::post_messages);
  all.add({"message-interval", "Message interval",
           "Running time between two messages in ns (0 = one message for each frame)"},
          &Settings::message_interval);
  add_region_properties(all);
}

}  // namespace cudavision
