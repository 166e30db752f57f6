// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/tensorcaps.h"

#include <cstdio>
#include <cstring>

#include "gst/base/caps.h"
#include "gst/base/elementerror.h"

namespace cudavision {
namespace {

constexpr char media_type[] = "other/tensors";

std::optional<integral::TableElement> element_named(const char* name) {
  for (integral::TableElement element : all_table_elements)
    if (name && std::strcmp(name, name_of(element)) == 0)
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

bool is_tensor(const GstStructure* structure) {
  return gst_structure_has_name(structure, media_type);
}

GstStructure* tensor_structure(const std::vector<integral::TableElement>& elements) {
  GstStructure* structure =
      gst_structure_new(media_type, "format", G_TYPE_STRING, "static", "num_tensors", G_TYPE_INT, 1,
                        "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
  std::vector<const char*> types;
  for (integral::TableElement element : elements)
    types.push_back(name_of(element));
  set_strings(structure, "types", types);
  return structure;
}

std::string dimensions_of(const TableSize& size) {
  return "1:" + std::to_string(size.columns) + ":" + std::to_string(size.rows) + ":1";
}

std::optional<TableSize> table_size(const char* dimensions) {
  TableSize size;
  if (!dimensions || std::sscanf(dimensions, "1:%9d:%9d:1", &size.columns, &size.rows) != 2 ||
      size.columns < 1 || size.rows < 1 || dimensions_of(size) != dimensions)
    return std::nullopt;
  return size;
}

FrameFormat tensor_format_from_caps(const GstCaps* caps) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  const auto size = table_size(gst_structure_get_string(structure, "dimensions"));
  const auto element = element_named(gst_structure_get_string(structure, "types"));
  if (!is_tensor(structure) || !size || !element)
    refuse_stream("These caps do not describe a table: " + caps_text(caps));
  const guint64 row_bytes = static_cast<guint64>(size->columns) * bytes_of(*element);
  const guint64 bytes = row_bytes * static_cast<guint64>(size->rows);
  // The size of a pool's buffers is a guint.
  if (bytes > G_MAXUINT)
    refuse_stream(
        "A table of " + size_text(size->columns, size->rows) + " elements of type " +
        name_of(*element) + " has " + std::to_string(bytes) +
        " bytes, but a buffer can have at most 4294967295: set element-type=uint32, or scale "
        "the frames down before the element.");
  FrameFormat format;
  format.layout.plane_count = 1;
  format.layout.planes[0] = {static_cast<int>(row_bytes), size->rows};
  format.stride[0] = static_cast<gint>(row_bytes);
  format.size = bytes;
  return format;
}

}  // namespace cudavision
