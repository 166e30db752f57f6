// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/tensors.h"

#include <string>

#include "gst/base/caps.h"
#include "gst/base/elementerror.h"

namespace cudavision {
namespace {

constexpr char media_type[] = "other/tensors";

}  // namespace

bool is_tensor(const GstStructure* structure) {
  return gst_structure_has_name(structure, media_type);
}

GstStructure* tensor_structure(const std::vector<const char*>& types) {
  GstStructure* structure =
      gst_structure_new(media_type, "format", G_TYPE_STRING, "static", "num_tensors", G_TYPE_INT, 1,
                        "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
  set_strings(structure, "types", types);
  return structure;
}

FrameFormat tensor_format(gsize row_bytes, int rows, const std::string& name, const char* remedy) {
  const guint64 bytes = guint64{row_bytes} * static_cast<guint64>(rows);
  // The size of a pool's buffers is a guint.
  if (bytes > G_MAXUINT)
    refuse_stream("A " + name + " has " + std::to_string(bytes) +
                  " bytes, but a buffer can have at most 4294967295: " + remedy + ".");
  FrameFormat format;
  format.layout.plane_count = 1;
  format.layout.planes[0] = {static_cast<int>(row_bytes), rows};
  format.storage.frame = format.layout;
  format.stride[0] = static_cast<gint>(row_bytes);
  format.size = bytes;
  return format;
}

}  // namespace cudavision
