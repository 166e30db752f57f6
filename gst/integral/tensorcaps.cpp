// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/tensorcaps.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "gst/core/caps.h"
#include "gst/core/elementerror.h"
#include "gst/core/text.h"

namespace cudavision {
namespace {

const char* name_of(integral::TableElement element) {
  return std::find_if(std::begin(named_elements), std::end(named_elements),
                      [&](const NamedElement& named) { return named.element == element; })
      ->name;
}

}  // namespace

Structure table_structure(const std::vector<integral::TableElement>& elements) {
  std::vector<const char*> types;
  for (integral::TableElement element : elements)
    types.push_back(name_of(element));
  return tensor_structure(types);
}

FrameFormat tensor_format_from_caps(const GstCaps* caps) {
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  const auto size = tensor_size(text_of(gst_structure_get_string(structure, "dimensions")), 1);
  const std::string type = text_of(gst_structure_get_string(structure, "types"));
  const auto* const known =
      std::find_if(std::begin(named_elements), std::end(named_elements),
                   [&](const NamedElement& named) { return named.name == type; });
  if (!is_tensor(structure) || !size || known == std::end(named_elements))
    refuse_stream("These caps do not describe a table: " + caps_text(caps));
  return tensor_format(
      caps, static_cast<gsize>(size->columns) * bytes_of(known->element), size->rows,
      "table of " + size_text(size->columns, size->rows) + " elements of type " + known->name,
      "set element-type=uint32, or scale the frames down before the element");
}

}  // namespace cudavision
