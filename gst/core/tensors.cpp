// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/core/tensors.h"

#include <string>

#include "gst/core/caps.h"
#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

constexpr char media_type[] = "other/tensors";

// A pool's buffer size is a guint. In CUDA memory, a tensor is one row of libgstcuda, with an int
// as its length. The driver may round this up to a multiple of 512.
constexpr guint64 largest_buffer = G_MAXUINT, largest_cuda_buffer = G_MAXINT - 511;

}  // namespace

bool is_tensor(const GstStructure* structure) {
  return gst_structure_has_name(structure, media_type);
}

GstStructure* tensor_structure(const std::vector<const char*>& types) {
  GstStructure* structure =
      gst_structure_new(media_type, "format", G_TYPE_STRING, "static", "num_tensors", G_TYPE_INT, 1,
                        "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
  set_strings(structure, "types", {types.begin(), types.end()});
  return structure;
}

FrameFormat tensor_format(const GstCaps* caps, gsize row_bytes, int rows, const std::string& name,
                          const char* remedy) {
  FrameFormat format;
  format.cuda_memory = has_cuda_feature(caps, 0);
  const guint64 bytes = guint64{row_bytes} * static_cast<guint64>(rows);
  const guint64 maximum = format.cuda_memory ? largest_cuda_buffer : largest_buffer;
  if (bytes > maximum)
    refuse_stream("A " + name + " has " + std::to_string(bytes) + " bytes, but a buffer" +
                  (format.cuda_memory ? " in CUDA memory" : "") + " can have at most " +
                  std::to_string(maximum) + ": " + remedy + ".");
  format.layout.plane_count = 1;
  format.layout.planes[0] = {static_cast<int>(row_bytes), rows};
  format.storage.frame = format.layout;
  format.stride[0] = static_cast<gint>(row_bytes);
  format.size = bytes;
  format.known_to_libgstcuda = false;
  return format;
}

}  // namespace cudavision
