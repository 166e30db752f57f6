// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <vector>

#include "cuda/integral/integral.h"
#include "cuda/localstatistics/localstatistics.h"
#include "gst/base/properties.h"

namespace cudavision {

enum class IntegralOutput { sum, squared_sum, tilted_sum, mean, stddev };
enum class TableLayout { padded, same_size };
enum class ElementType { exact, uint32, uint64, float32, float64 };

/// An element type of tables, and NNStreamer's name for this type.
struct NamedElement {
  ElementType type;
  integral::TableElement element;
  const char* name;
};
inline constexpr NamedElement named_elements[] = {
    {ElementType::uint32, integral::TableElement::uint32, "uint32"},
    {ElementType::uint64, integral::TableElement::uint64, "uint64"},
    {ElementType::float32, integral::TableElement::float32, "float32"},
    {ElementType::float64, integral::TableElement::float64, "float64"},
};

struct OutputForm {
  IntegralOutput output;
  TableLayout layout;
  ElementType element;

  bool is_table() const noexcept { return output <= IntegralOutput::tilted_sum; }
  /// Number of additional rows and columns of a table, compared with the frame.
  int extra() const noexcept { return layout == TableLayout::padded ? 1 : 0; }
  integral::TableKind kind() const noexcept;
  /// Returns the possible element types. element_for() chooses by the frame's size and depth.
  std::vector<integral::TableElement> elements() const;
  integral::TableElement element_for(const FrameLayout& frame) const noexcept;
};

struct IntegralSettings {
  IntegralOutput output = IntegralOutput::sum;
  TableLayout table_layout = TableLayout::padded;
  ElementType element_type = ElementType::exact;
  int radius = localstatistics::Parameters().radius;

  /// The output form, fixed from start to stop because caps depend on it. nullopt while stopped.
  std::optional<OutputForm> started;

  OutputForm form() const noexcept {
    return started.value_or(OutputForm{output, table_layout, element_type});
  }
};

void add_integral_properties(ElementProperties<IntegralSettings>& all);

}  // namespace cudavision
