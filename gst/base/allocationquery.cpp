// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/allocationquery.h"

#include <gst/video/gstvideometa.h>
#include <gst/video/gstvideopool.h>

#include <algorithm>

#include "gst/core/elementerror.h"
#include "gst/memory/cudabufferpool.h"
#include "gst/memory/memorydebug.h"
#include "gst/memory/pinnedallocator.h"

namespace cudavision {
namespace {

using Pool = ObjectPtr<GstBufferPool>;
using Allocator = ObjectPtr<GstAllocator>;

struct PoolParams {
  guint size = 0;
  guint min_buffers = 0;
  guint max_buffers = 0;
  GstAllocationParams allocation{};
  SharedStream stream;  ///< the stream that CUDA memory of the pool carries
};

Pool new_pool(const DeviceSession& session, const FrameFormat& format) {
  if (format.cuda_memory)
    return Pool(new_cuda_frame_pool(session.context(), format));
  return Pool(format.is_video() ? gst_video_buffer_pool_new() : gst_buffer_pool_new());
}

// Configures the pool. Returns its buffer size, which the pool may have changed, or 0 if the pool
// does not support these frames.
guint configure(GstBufferPool* pool, GstCaps* caps, const PoolParams& params,
                GstAllocator* allocator, bool video_meta) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, params.size, params.min_buffers,
                                    params.max_buffers);
  gst_buffer_pool_config_set_allocator(config, allocator, &params.allocation);
  if (video_meta && gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  carry_stream(config, params.stream);
  if (!gst_buffer_pool_set_config(pool, config)) {
    // The pool may have changed the parameters to acceptable values.
    config = gst_buffer_pool_get_config(pool);
    if (!gst_buffer_pool_config_validate_params(config, caps, params.size, params.min_buffers,
                                                params.max_buffers)) {
      gst_structure_free(config);
      return 0;
    }
    if (!gst_buffer_pool_set_config(pool, config))
      return 0;
  }
  return buffer_size_of(pool);
}

std::string size_text(const FrameFormat& format) {
  return (format.is_video() ? format.description() + ", " : "") + std::to_string(format.size) +
         " bytes each";
}

}  // namespace

bool propose_pool(GstQuery* query, const DeviceSession& session, std::size_t min_buffers) {
  GstCaps* caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  if (!caps)
    return false;
  FrameFormat format;
  try {
    format = frame_format_from_caps(caps);
  } catch (const ElementError& e) {
    GST_INFO("no pool is offered for %" GST_PTR_FORMAT ": %s", caps, e.what());
    return false;
  }
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);

  // The CPU device reads any memory, so upstream may use its own allocator.
  const CudaContext context = session.context();
  const Allocator allocator(context && !format.cuda_memory ? new_pinned_allocator(context)
                                                           : nullptr);
  if (allocator)
    gst_query_add_allocation_param(query, allocator.get(), nullptr);
  if (!need_pool || (format.cuda_memory && !context))
    return true;
  const Pool pool = new_pool(session, format);
  PoolParams params;
  params.size = static_cast<guint>(format.size);
  params.min_buffers = static_cast<guint>(min_buffers);
  if (format.cuda_memory)
    params.stream = session.stream();
  if (const guint size = configure(pool.get(), caps, params, allocator.get(), true))
    gst_query_add_allocation_pool(query, pool.get(), size, params.min_buffers, 0);
  return true;
}

void decide_pool(GstQuery* query, const DeviceSession& session, const FrameFormat& format) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  // Without GstVideoMeta, video pools use the default layout of the caps.
  const bool video_meta = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) ||
                          (format.cuda_memory && format.is_video());

  Pool pool;
  PoolParams params;
  params.size = static_cast<guint>(format.size);
  if (format.cuda_memory)
    params.stream = session.stream();
  const bool has_pool = gst_query_get_n_allocation_pools(query) > 0;
  if (has_pool) {
    GstBufferPool* theirs = nullptr;
    gst_query_parse_nth_allocation_pool(query, 0, &theirs, &params.size, &params.min_buffers,
                                        &params.max_buffers);
    pool.reset(theirs);
    if (params.max_buffers > 0)
      params.min_buffers = std::min(params.min_buffers, params.max_buffers);
    params.size = std::max(params.size, static_cast<guint>(format.size));
  }
  // Ignores a larger size from downstream, because libgstcuda downloads all allocated bytes of a
  // tensor into memory of the tensor's size.
  if (format.cuda_memory && !format.is_video())
    params.size = static_cast<guint>(format.size);
  Allocator allocator;
  if (gst_query_get_n_allocation_params(query) > 0) {
    GstAllocator* theirs = nullptr;
    gst_query_parse_nth_allocation_param(query, 0, &theirs, &params.allocation);
    allocator.reset(theirs);
  }

  const auto configure_pool = [&] {
    return configure(pool.get(), caps, params, format.cuda_memory ? nullptr : allocator.get(),
                     video_meta);
  };
  guint size = 0;
  if (pool && (!format.cuda_memory || is_cuda_frame_pool(pool.get(), session.context(), format)))
    size = configure_pool();
  if (size == 0) {
    params.max_buffers = 0;
    pool = new_pool(session, format);
    if (!format.cuda_memory && !allocator)
      allocator.reset(new_pinned_allocator(session.context()));
    size = configure_pool();
  }
  if (size == 0)
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                       "There is no memory for frames (" + size_text(format) + ")" +
                           (format.cuda_memory ? " on the GPU: end other programs (see nvidia-smi)"
                                               : ": end other programs") +
                           ", or use smaller frames.");

  GST_DEBUG("frames (%" GST_PTR_FORMAT ") come from %" GST_PTR_FORMAT ", %u bytes each", caps,
            pool.get(), size);
  if (has_pool)
    gst_query_set_nth_allocation_pool(query, 0, pool.get(), size, params.min_buffers,
                                      params.max_buffers);
  else
    gst_query_add_allocation_pool(query, pool.get(), size, params.min_buffers, params.max_buffers);
}

void refuse_output(const FrameFormat& format) {
  throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                     "There is no memory for another output frame (" + size_text(format) +
                         "): end other programs, use smaller frames, or let fewer frames queue up "
                         "downstream.");
}

}  // namespace cudavision
