// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/core/tensors.h"

#include <cstdio>

#include "gst/core/caps.h"
#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

constexpr char media_type[] = "other/tensors";

// The buffer size of a pool is a guint. In CUDA memory, libgstcuda stores a tensor as one row. The
// pitch of this row is an int, which the driver may round up to a multiple of 512.
constexpr guint64 largest_buffer = G_MAXUINT, largest_cuda_buffer = G_MAXINT - 511;

std::string dimensions_of(int depth, const TensorSize& size) {
  return std::to_string(depth) + ":" + std::to_string(size.columns) + ":" +
         std::to_string(size.rows) + ":1";
}

}  // namespace

bool is_tensor(const GstStructure* structure) {
  return gst_structure_has_name(structure, media_type);
}

Structure tensor_structure(const std::vector<const char*>& types) {
  Structure structure(gst_structure_new(media_type, "format", G_TYPE_STRING, "static",
                                        "num_tensors", G_TYPE_INT, 1, "framerate",
                                        GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr));
  set_strings(structure.get(), "types", {types.begin(), types.end()});
  return structure;
}

void set_dimensions(GstStructure* tensor, int depth, const TensorSize& size) {
  gst_structure_set(tensor, "dimensions", G_TYPE_STRING, dimensions_of(depth, size).c_str(),
                    nullptr);
}

std::optional<TensorSize> tensor_size(const char* dimensions, int depth) {
  int read_depth = 0;
  TensorSize size;
  if (std::sscanf(dimensions, "%9d:%9d:%9d:1", &read_depth, &size.columns, &size.rows) != 3 ||
      size.columns < 1 || size.rows < 1 || dimensions_of(depth, size) != dimensions)
    return std::nullopt;
  return size;
}

void copy_framerate(const GstStructure* src, GstStructure* dst) {
  if (const GValue* framerate = gst_structure_get_value(src, "framerate"))
    gst_structure_set_value(dst, "framerate", framerate);
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
                  std::to_string(maximum) + " bytes: " + remedy + ".");
  format.layout.plane_count = 1;
  format.layout.planes[0] = {static_cast<int>(row_bytes), rows};
  format.storage.frame = format.layout;
  format.stride[0] = static_cast<gint>(row_bytes);
  format.size = bytes;
  format.known_to_libgstcuda = false;
  return format;
}

}  // namespace cudavision
