// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <vector>

#include "cuda/integral/integral.h"
#include "cuda/localstatistics/localstatistics.h"
#include "gst/base/properties.h"

/// The properties of cudaintegral, and how caps and operations follow from them.
namespace cudavision {

enum class IntegralOutput { sum, squared_sum, tilted_sum, mean, stddev };
enum class TableLayout { padded, same_size };
enum class ElementType { exact, uint32, uint64, float32, float64 };

/// The settings that determine the caps of the output.
struct OutputForm {
  IntegralOutput output;
  TableLayout layout;
  ElementType element;

  bool is_table() const noexcept { return output <= IntegralOutput::tilted_sum; }
  /// Returns how many columns, and how many rows, a table has in addition to the frame's.
  int extra() const noexcept { return layout == TableLayout::padded ? 1 : 0; }
  integral::TableKind kind() const noexcept;
  /// Returns all types that the elements of a table may have, depending on the frames.
  std::vector<integral::TableElement> elements() const;
  /// Returns the type for frames of this width, height and depth.
  integral::TableElement element_for(const FrameLayout& frame) const noexcept;
};

struct IntegralSettings {
  IntegralOutput output = IntegralOutput::sum;
  TableLayout table_layout = TableLayout::padded;
  ElementType element_type = ElementType::exact;
  int radius = localstatistics::Parameters().radius;

  /// The form as of the last start; nullopt while stopped. A setting made later would contradict
  /// the negotiated caps.
  std::optional<OutputForm> started;

  OutputForm form() const noexcept {
    return started.value_or(OutputForm{output, table_layout, element_type});
  }
};

void add_integral_properties(ElementProperties<IntegralSettings>& all);

}  // namespace cudavision
