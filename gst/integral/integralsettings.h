// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <vector>

#include "cuda/integral/integral.h"
#include "cuda/localstatistics/localstatistics.h"
#include "gst/base/properties.h"

/// The properties of cudaintegral, and the resulting choices.
namespace cudavision {

enum class IntegralOutput { sum, squared_sum, tilted_sum, mean, stddev };
enum class TableLayout { padded, same_size };
enum class ElementType { exact, uint32, uint64, float32, float64 };

/// All types of a table's elements, with the names that NNStreamer gives them.
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
  /// Returns the number of additional columns, and rows, of a table.
  int extra() const noexcept { return layout == TableLayout::padded ? 1 : 0; }
  integral::TableKind kind() const noexcept;
  /// Returns all possible types of a table's elements; the frames decide.
  std::vector<integral::TableElement> elements() const;
  /// Returns the type for frames of this size and depth.
  integral::TableElement element_for(const FrameLayout& frame) const noexcept;
};

struct IntegralSettings {
  IntegralOutput output = IntegralOutput::sum;
  TableLayout table_layout = TableLayout::padded;
  ElementType element_type = ElementType::exact;
  int radius = localstatistics::Parameters().radius;

  /// The form at the last start; nullopt while stopped. Later settings contradict the caps.
  std::optional<OutputForm> started;

  OutputForm form() const noexcept {
    return started.value_or(OutputForm{output, table_layout, element_type});
  }
};

void add_integral_properties(ElementProperties<IntegralSettings>& all);

}  // namespace cudavision
