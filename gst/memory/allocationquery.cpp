// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/allocationquery.h"

#include <gst/video/gstvideometa.h>
#include <gst/video/gstvideopool.h>

#include <algorithm>

#include "gst/base/elementerror.h"
#include "gst/base/scoped.h"
#include "gst/memory/cudabufferpool.h"
#include "gst/memory/memorydebug.h"
#include "gst/memory/pinnedallocator.h"

namespace cudavision {
namespace {

using Pool = ObjectPtr<GstBufferPool>;
using Allocator = ObjectPtr<GstAllocator>;

/// What a query says of a pool and of the memory in it.
struct Demand {
  guint size = 0;
  guint least = 0;
  guint most = 0;
  GstAllocationParams params{};
};

Pool new_pool(const DeviceSession& session, const FrameFormat& format) {
  if (format.cuda_memory)
    return Pool(new_cuda_frame_pool(session.context(), format));
  return Pool(format.is_video() ? gst_video_buffer_pool_new() : gst_buffer_pool_new());
}

// Configures a pool and returns the size that it settles on, which for CUDA memory is not the one
// asked for; 0 where the pool cannot serve these frames.
guint configure(GstBufferPool* pool, GstCaps* caps, const Demand& demand, GstAllocator* allocator,
                bool video_meta) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, demand.size, demand.least, demand.most);
  gst_buffer_pool_config_set_allocator(config, allocator, &demand.params);
  if (video_meta && gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool, config)) {
    // The pool may have put what it can do instead into its configuration.
    config = gst_buffer_pool_get_config(pool);
    if (!gst_buffer_pool_config_validate_params(config, caps, demand.size, demand.least,
                                                demand.most)) {
      gst_structure_free(config);
      return 0;
    }
    if (!gst_buffer_pool_set_config(pool, config))
      return 0;
  }
  guint size = 0;
  config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
  gst_structure_free(config);
  return size;
}

// A pool for system memory must do as it is; one for CUDA memory must be of our context, and of a
// kind that knows the format.
bool fits(GstBufferPool* pool, const DeviceSession& session, const FrameFormat& format) {
  return !format.cuda_memory || is_cuda_frame_pool(pool, session.context(), format);
}

}  // namespace

bool propose_pool(GstQuery* query, const DeviceSession& session) {
  GstCaps* caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  if (!caps)
    return false;
  FrameFormat format;
  try {
    format = frame_format_from_caps(caps);
  } catch (const ElementError& e) {
    GST_INFO("no allocation for %" GST_PTR_FORMAT ": %s", caps, e.what());
    return false;
  }
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);

  // The CPU needs no memory of ours; upstream may do as it likes.
  const CudaContext context = session.context();
  const Allocator allocator(context && !format.cuda_memory ? new_host_allocator(context) : nullptr);
  if (allocator)
    gst_query_add_allocation_param(query, allocator.get(), nullptr);
  if (!need_pool || (format.cuda_memory && !context))
    return true;
  const Pool pool = new_pool(session, format);
  Demand demand;
  demand.size = static_cast<guint>(format.size);
  if (const guint size = configure(pool.get(), caps, demand, allocator.get(), true))
    gst_query_add_allocation_pool(query, pool.get(), size, 0, 0);
  return true;
}

void decide_pool(GstQuery* query, const DeviceSession& session, const FrameFormat& format) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  // Without it the frame must lie as the caps alone would have it, which video pools then see to.
  const bool video_meta =
      gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) || format.cuda_memory;

  Pool pool;
  Demand demand;
  demand.size = static_cast<guint>(format.size);
  const bool named = gst_query_get_n_allocation_pools(query) > 0;
  if (named) {
    GstBufferPool* theirs = nullptr;
    gst_query_parse_nth_allocation_pool(query, 0, &theirs, &demand.size, &demand.least,
                                        &demand.most);
    pool.reset(theirs);
    demand.size = std::max(demand.size, static_cast<guint>(format.size));
  }
  Allocator allocator;
  if (gst_query_get_n_allocation_params(query) > 0) {
    GstAllocator* theirs = nullptr;
    gst_query_parse_nth_allocation_param(query, 0, &theirs, &demand.params);
    allocator.reset(theirs);
  }

  guint size = 0;
  if (pool && fits(pool.get(), session, format))
    size = configure(pool.get(), caps, demand, format.cuda_memory ? nullptr : allocator.get(),
                     video_meta);
  if (size == 0) {
    demand.most = 0;
    pool = new_pool(session, format);
    if (!format.cuda_memory && !allocator)
      allocator.reset(new_host_allocator(session.context()));
    size = configure(pool.get(), caps, demand, format.cuda_memory ? nullptr : allocator.get(),
                     video_meta);
  }
  if (size == 0)
    throw ElementError(
        GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "There is no memory for frames (" + format.description() + ")" +
            (format.cuda_memory ? " on the GPU: free some of it, see nvidia-smi." : "."));

  GST_DEBUG("%" GST_PTR_FORMAT " come from %" GST_PTR_FORMAT ", %u bytes each", caps, pool.get(),
            size);
  if (named)
    gst_query_set_nth_allocation_pool(query, 0, pool.get(), size, demand.least, demand.most);
  else
    gst_query_add_allocation_pool(query, pool.get(), size, demand.least, demand.most);
}

}  // namespace cudavision
