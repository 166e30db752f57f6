// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/tensorcaps.h"

#include <cstdio>
#include <cstring>

#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/core/text.h"

namespace cudavision {
namespace {

std::optional<integral::TableElement> element_named(const char* name) {
  for (integral::TableElement element : all_table_elements)
    if (std::strcmp(name, name_of(element)) == 0)
      return element;
  return std::nullopt;
}

}  // namespace

const char* name_of(integral::TableElement element) noexcept {
  switch (element) {
    case integral::TableElement::uint32:
      return "uint32";
    case integral::TableElement::uint64:
      return "uint64";
    case integral::TableElement::float32:
      return "float32";
    case integral::TableElement::float64:
      return "float64";
  }
  return nullptr;
}

GstStructure* table_structure(const std::vector<integral::TableElement>& elements) {
  std::vector<const char*> types;
  for (integral::TableElement element : elements)
    types.push_back(name_of(element));
  return tensor_structure(types);
}

std::string dimensions_of(const TableSize& size) {
  return "1:" + std::to_string(size.columns) + ":" + std::to_string(size.rows) + ":1";
}

std::optional<TableSize> table_size(const char* dimensions) {
  TableSize size;
  if (std::sscanf(dimensions, "1:%9d:%9d:1", &size.columns, &size.rows) != 2 || size.columns < 1 ||
      size.rows < 1 || dimensions_of(size) != dimensions)
    return std::nullopt;
  return size;
}

FrameFormat tensor_format_from_caps(const GstCaps* caps) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  const auto size = table_size(text_of(gst_structure_get_string(structure, "dimensions")));
  const auto element = element_named(text_of(gst_structure_get_string(structure, "types")));
  if (!is_tensor(structure) || !size || !element)
    refuse_stream("These caps do not describe a table: " + caps_text(caps));
  return tensor_format(
      caps, static_cast<gsize>(size->columns) * bytes_of(*element), size->rows,
      "table of " + size_text(size->columns, size->rows) + " elements of type " + name_of(*element),
      "set element-type=uint32, or scale the frames down before the element");
}

}  // namespace cudavision
