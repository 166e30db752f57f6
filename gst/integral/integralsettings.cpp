// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/integralsettings.h"

namespace cudavision {

integral::TableKind OutputForm::kind() const noexcept {
  using Kind = integral::TableKind;
  return output == IntegralOutput::squared_sum  ? Kind::squared_sum
         : output == IntegralOutput::tilted_sum ? Kind::tilted_sum
                                                : Kind::sum;
}

std::vector<integral::TableElement> OutputForm::elements() const {
  for (const NamedElement& named : named_elements)
    if (named.type == element)
      return {named.element};
  return {integral::TableElement::uint32, integral::TableElement::uint64};
}

integral::TableElement OutputForm::element_for(const FrameLayout& frame) const noexcept {
  return element == ElementType::exact ? integral::exact_element(frame, kind())
                                       : elements().front();
}

void add_integral_properties(ElementProperties<IntegralSettings>& all) {
  using Settings = IntegralSettings;
  constexpr PropertyChange ready = PropertyChange::when_ready;
  all.add(
      {"output", "Output", "Table or picture to output for each frame", ready}, &Settings::output,
      "GstCudaIntegralOutput",
      {{IntegralOutput::sum, "Table of the sums of all pixels above and to the left", "sum"},
       {IntegralOutput::squared_sum,
        "Table of the sums of the squares of all pixels above and to the left", "squared-sum"},
       {IntegralOutput::tilted_sum,
        "Table of the sums over the triangle above each pixel, for rectangles rotated by 45°",
        "tilted-sum"},
       {IntegralOutput::mean, "Mean of the pixels around each pixel", "mean"},
       {IntegralOutput::stddev, "Standard deviation of the pixels around each pixel", "stddev"}});
  all.add(
      {"table-layout", "Table layout",
       "Size of the tables with output=sum, squared-sum and tilted-sum", ready},
      &Settings::table_layout, "GstCudaIntegralTableLayout",
      {{TableLayout::padded,
        "(W+1)×(H+1) elements; the first row and, except with tilted-sum, the first column are 0",
        "padded"},
       {TableLayout::same_size, "W×H elements, without the first row and column of padded",
        "same-size"}});
  all.add({"element-type", "Element type",
           "Type of the elements of the tables with output=sum, squared-sum and tilted-sum", ready},
          &Settings::element_type, "GstCudaIntegralElementType",
          {{ElementType::exact, "uint32 if all possible sums fit, otherwise uint64", "auto"},
           {ElementType::uint32, "32-bit unsigned integers; sums are modulo 2^32", "uint32"},
           {ElementType::uint64, "64-bit unsigned integers", "uint64"},
           {ElementType::float32, "32-bit floating point; exact sums, rounded once", "float32"},
           {ElementType::float64, "64-bit floating point; exact sums, rounded once", "float64"}});
  all.add({"radius", "Radius", "With output=mean or stddev, the window radius in pixels"},
          &Settings::radius, localstatistics::Parameters::Ranges::radius);
}

}  // namespace cudavision
