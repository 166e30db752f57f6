// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/integralsettings.h"

#include "gst/base/properties.h"

namespace cudavision {
namespace {

std::string size_error(const char* property, const char* what, int size) {
  return odd_size_error(
      property, size,
      std::string("is even, but ") + what + " in its middle and equally many on either side");
}

/// The range of the properties includes what lies between their special value and 0.
std::string strength_error(const char* property, double strength, const char* special) {
  constexpr Range<double> known = nlmeans::Parameters::Ranges::strength;
  if (known.contains(strength) || strength == nlmeans::Parameters::automatic_strength)
    return {};
  return std::string(property) + "=" + text_of(strength) + " is out of range: set it to " +
         text_of(known) + ", or to -1 " + special + ".";
}

}  // namespace

integral::TableKind OutputForm::kind() const noexcept {
  switch (output) {
    case IntegralOutput::squared_sum:
      return integral::TableKind::squared_sum;
    case IntegralOutput::tilted_sum:
      return integral::TableKind::tilted_sum;
    default:
      return integral::TableKind::sum;
  }
}

std::vector<integral::TableElement> OutputForm::elements() const {
  switch (element) {
    case ElementType::uint32:
      return {integral::TableElement::uint32};
    case ElementType::uint64:
      return {integral::TableElement::uint64};
    case ElementType::float32:
      return {integral::TableElement::float32};
    case ElementType::float64:
      return {integral::TableElement::float64};
    case ElementType::exact:
      break;
  }
  return {integral::TableElement::uint32, integral::TableElement::uint64};
}

integral::TableElement OutputForm::element_for(const FrameLayout& frame) const noexcept {
  return element == ElementType::exact ? integral::exact_element(frame, kind())
                                       : elements().front();
}

std::string validation_error(IntegralOutput output, const IntegralSettings& settings) {
  if (output < IntegralOutput::denoise)
    return settings.in_regions()
               ? "regions and use-roi-meta are for output=denoise and output=guided, because only "
                 "then the output has pixels that can stay as they are: set one of these, or leave "
                 "regions empty and use-roi-meta=false."
               : "";
  if (output == IntegralOutput::guided)
    return settings.regions.error();
  std::string error =
      size_error("search-size", "the area that is searched has a pixel", settings.search_size);
  if (error.empty())
    error = size_error("patch-size", "a patch has a pixel", settings.patch_size);
  if (error.empty())
    error = size_error("denoise-frames", "the film that is searched has a frame",
                       settings.denoise_frames);
  if (error.empty())
    error = strength_error("denoise-strength", settings.denoise_strength,
                           "to have it follow the measured noise");
  if (error.empty())
    error = strength_error("denoise-chroma-strength", settings.denoise_chroma_strength,
                           "for the same as denoise-strength");
  return error.empty() ? settings.regions.error() : error;
}

localstatistics::Parameters statistics_parameters(IntegralOutput output,
                                                  const IntegralSettings& settings,
                                                  bool limited_range) {
  using Output = localstatistics::Parameters::Output;
  localstatistics::Parameters parameters;
  if (output == IntegralOutput::mean)
    parameters.output = Output::mean;
  else if (output == IntegralOutput::stddev)
    parameters.output = Output::stddev;
  else
    parameters.output =
        settings.threshold_method == ThresholdMethod::bradley ? Output::bradley : Output::sauvola;
  parameters.radius = settings.radius;
  parameters.ratio = settings.threshold_ratio;
  parameters.k = settings.threshold_k;
  parameters.range = settings.threshold_range;
  parameters.invert = settings.threshold_invert;
  parameters.limited_range = limited_range;
  return parameters;
}

nlmeans::Parameters denoise_parameters(const IntegralSettings& settings) {
  nlmeans::Parameters parameters;
  parameters.search = settings.search_size;
  parameters.patch = settings.patch_size;
  parameters.strength = settings.denoise_strength;
  parameters.chroma_strength = settings.denoise_chroma_strength;
  parameters.frames = settings.denoise_frames;
  return parameters;
}

guided::Parameters guided_parameters(const IntegralSettings& settings) {
  return {settings.radius, settings.guided_epsilon};
}

}  // namespace cudavision
