// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "cuda/guided/guided.h"
#include "cuda/integral/integral.h"
#include "cuda/localstatistics/localstatistics.h"
#include "cuda/nlmeans/nlmeans.h"
#include "gst/base/regionsettings.h"

/// The properties of cudaintegral, and how caps and operations follow from them.
namespace cudavision {

enum class IntegralOutput {
  sum,
  squared_sum,
  tilted_sum,
  mean,
  stddev,
  threshold,
  denoise,
  guided
};
enum class TableLayout { padded, same_size };
enum class ElementType { exact, uint32, uint64, float32, float64 };
enum class ThresholdMethod { bradley, sauvola };

/// The settings that determine the caps of the output.
struct OutputForm {
  IntegralOutput output;
  TableLayout layout;
  ElementType element;

  /// Returns true if the output has the format of the input.
  bool keeps_format() const noexcept { return output >= IntegralOutput::denoise; }
  bool is_table() const noexcept { return output <= IntegralOutput::tilted_sum; }
  /// Returns how many columns, and how many rows, a table has in addition to the frame's.
  int extra() const noexcept { return layout == TableLayout::padded ? 1 : 0; }
  integral::TableKind kind() const noexcept;
  /// Returns all types that the elements of a table may have, depending on the frames.
  std::vector<integral::TableElement> elements() const;
  /// Returns the type for frames of this width, height and depth.
  integral::TableElement element_for(const FrameLayout& frame) const noexcept;
};

struct IntegralSettings : RegionSettings {
  IntegralOutput output = IntegralOutput::sum;
  TableLayout table_layout = TableLayout::padded;
  ElementType element_type = ElementType::exact;

  int radius = localstatistics::Parameters().radius;
  ThresholdMethod threshold_method = ThresholdMethod::bradley;
  double threshold_ratio = localstatistics::Parameters().ratio;
  double threshold_k = localstatistics::Parameters().k;
  double threshold_range = localstatistics::Parameters().range;
  bool threshold_invert = localstatistics::Parameters().invert;
  int search_size = nlmeans::Parameters().search;
  int patch_size = nlmeans::Parameters().patch;
  double denoise_strength = nlmeans::Parameters().strength;
  double denoise_chroma_strength = nlmeans::Parameters().chroma_strength;
  bool post_messages = false;
  guint64 message_interval = 0;
  int denoise_frames = nlmeans::Parameters().frames;
  double guided_epsilon = guided::Parameters().epsilon;

  OutputForm form() const noexcept { return {output, table_layout, element_type}; }
};

/// Returns an empty string, or what is wrong with the settings for this output.
std::string validation_error(IntegralOutput output, const IntegralSettings& settings);

/// output must be mean, stddev or threshold. limited_range: of the luminance.
localstatistics::Parameters statistics_parameters(IntegralOutput output,
                                                  const IntegralSettings& settings,
                                                  bool limited_range);
nlmeans::Parameters denoise_parameters(const IntegralSettings& settings);
guided::Parameters guided_parameters(const IntegralSettings& settings);

}  // namespace cudavision
