// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/integralsettings.h"

namespace cudavision {
namespace {

std::string size_objection(const char* property, const char* what, int size) {
  if (size % 2 != 0)
    return {};
  return std::string(property) + "=" + std::to_string(size) + " is even, but " + what +
         " has a pixel in its middle and as many on either side: set " + property + "=" +
         std::to_string(size - 1) + " or " + property + "=" + std::to_string(size + 1) + ".";
}

}  // namespace

TableKind OutputForm::kind() const noexcept {
  switch (output) {
    case IntegralOutput::squared_sum:
      return TableKind::squared_sum;
    case IntegralOutput::tilted_sum:
      return TableKind::tilted_sum;
    default:
      return TableKind::sum;
  }
}

std::vector<TableElement> OutputForm::elements() const {
  switch (element) {
    case ElementType::uint32:
      return {TableElement::uint32};
    case ElementType::uint64:
      return {TableElement::uint64};
    case ElementType::float32:
      return {TableElement::float32};
    case ElementType::float64:
      return {TableElement::float64};
    case ElementType::exact:
      break;
  }
  return {TableElement::uint32, TableElement::uint64};
}

TableElement OutputForm::element_for(const FrameLayout& frame) const noexcept {
  return element == ElementType::exact ? exact_element(frame, kind()) : elements().front();
}

std::string objection(IntegralOutput output, const IntegralSettings& settings) {
  if (output != IntegralOutput::denoise)
    return {};
  const std::string wrong =
      size_objection("search-size", "the area that is searched", settings.search_size);
  return wrong.empty() ? size_objection("patch-size", "a patch", settings.patch_size) : wrong;
}

LocalStatisticsParameters statistics_parameters(IntegralOutput output,
                                                const IntegralSettings& settings) {
  using Output = LocalStatisticsParameters::Output;
  LocalStatisticsParameters parameters;
  if (output == IntegralOutput::mean)
    parameters.output = Output::mean;
  else if (output == IntegralOutput::deviation)
    parameters.output = Output::deviation;
  else
    parameters.output =
        settings.threshold_method == ThresholdMethod::bradley ? Output::bradley : Output::sauvola;
  parameters.radius = settings.radius;
  parameters.ratio = settings.threshold_ratio;
  parameters.k = settings.threshold_k;
  parameters.range = settings.threshold_range;
  return parameters;
}

NlMeansParameters denoise_parameters(const IntegralSettings& settings) {
  NlMeansParameters parameters;
  parameters.search = settings.search_size;
  parameters.patch = settings.patch_size;
  parameters.strength = settings.denoise_strength;
  return parameters;
}

}  // namespace cudavision
