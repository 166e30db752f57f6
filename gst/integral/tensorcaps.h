// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "cuda/integral/integral.h"
#include "gst/core/tensors.h"
#include "gst/core/videoformat.h"

/// Tables as tensors of the dimensions 1:columns:rows:1.
namespace cudavision {

struct TableSize {
  int columns = 0;
  int rows = 0;
};

inline constexpr integral::TableElement all_table_elements[] = {
    integral::TableElement::uint32, integral::TableElement::uint64, integral::TableElement::float32,
    integral::TableElement::float64};

/// Returns NNStreamer's name.
const char* name_of(integral::TableElement element) noexcept;

GstStructure* table_structure(const std::vector<integral::TableElement>& elements);

std::string dimensions_of(const TableSize& size);
/// Returns nullopt if the text is not a table's dimensions.
std::optional<TableSize> table_size(const char* dimensions);

/// caps must be fixed. Throws ElementError if they are not a table's, or too large for a pool.
FrameFormat tensor_format_from_caps(const GstCaps* caps);

}  // namespace cudavision
