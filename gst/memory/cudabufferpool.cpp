// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/cudabufferpool.h"

#include <gst/video/gstvideometa.h>

#include "gst/base/elementerror.h"
#include "gst/memory/memorydebug.h"

using cudavision::CudaContext;

namespace {

/// The format under whose name libgstcuda allocates frames that it does not know itself.
struct Disguise {
  GstVideoFormat format;  ///< unknown: none is needed
  int width;
};

Disguise disguise_of(const GstVideoInfo& info) {
  switch (GST_VIDEO_INFO_FORMAT(&info)) {
    case GST_VIDEO_FORMAT_GRAY8:
      return {GST_VIDEO_FORMAT_BGRx, (info.width + 3) / 4};
    case GST_VIDEO_FORMAT_GRAY16_LE:
      return {GST_VIDEO_FORMAT_BGRx, (info.width + 1) / 2};
    case GST_VIDEO_FORMAT_xRGB:
      return {GST_VIDEO_FORMAT_ARGB, info.width};
    case GST_VIDEO_FORMAT_xBGR:
      return {GST_VIDEO_FORMAT_ABGR, info.width};
    case GST_VIDEO_FORMAT_NV21:
      // Known, but with an odd height its last row of chroma is not allocated; NV12's is.
      if (info.height % 2)
        return {GST_VIDEO_FORMAT_NV12, info.width};
      return {GST_VIDEO_FORMAT_UNKNOWN, 0};
    default:
      return {GST_VIDEO_FORMAT_UNKNOWN, 0};
  }
}

struct GstCudaVisionDisguisedPool {
  GstBufferPool parent;
  CudaContext* context;
  GstBufferPool* lender;  ///< libgstcuda's pool, configured for the disguise
  GstVideoInfo info;      ///< what the frames really are
};

struct GstCudaVisionDisguisedPoolClass {
  GstBufferPoolClass parent_class;
};

#define disguised_pool_get_type cudavision_disguised_pool_get_type
GType disguised_pool_get_type();
G_DEFINE_TYPE(GstCudaVisionDisguisedPool, disguised_pool, GST_TYPE_BUFFER_POOL)

GstCudaVisionDisguisedPool* disguised(gpointer pool) {
  return static_cast<GstCudaVisionDisguisedPool*>(pool);
}

const gchar** disguised_pool_get_options(GstBufferPool*) {
  static const gchar* options[] = {GST_BUFFER_POOL_OPTION_VIDEO_META, nullptr};
  return options;
}

// Sets the lender up for one disguise and returns how large its buffers are, or 0.
guint configure_lender(GstBufferPool* lender, const Disguise& disguise, int height) {
  GstVideoInfo info;
  if (!gst_video_info_set_format(&info, disguise.format, disguise.width, height))
    return 0;
  GstCaps* caps = gst_video_info_to_caps(&info);
  gst_caps_set_features(caps, 0, gst_caps_features_new(cudavision::cuda_memory_feature, nullptr));
  GstStructure* config = gst_buffer_pool_get_config(lender);
  gst_buffer_pool_config_set_params(config, caps, GST_VIDEO_INFO_SIZE(&info), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_caps_unref(caps);
  if (!gst_buffer_pool_set_config(lender, config))
    return 0;
  guint size = 0;
  config = gst_buffer_pool_get_config(lender);
  gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
  gst_structure_free(config);
  return size;
}

gboolean disguised_pool_set_config(GstBufferPool* pool, GstStructure* config) {
  GstCudaVisionDisguisedPool* self = disguised(pool);
  GstCaps* caps = nullptr;
  guint least = 0;
  guint most = 0;
  if (!gst_buffer_pool_config_get_params(config, &caps, nullptr, &least, &most) || !caps ||
      !gst_video_info_from_caps(&self->info, caps)) {
    GST_WARNING_OBJECT(pool, "the configuration has no caps of video frames");
    return FALSE;
  }
  const Disguise disguise = disguise_of(self->info);
  if (disguise.format == GST_VIDEO_FORMAT_UNKNOWN) {
    GST_WARNING_OBJECT(pool, "no disguise is needed for %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  gst_clear_object(&self->lender);
  self->lender = cudavision::new_libgstcuda_pool(*self->context);
  const guint size = configure_lender(self->lender, disguise, self->info.height);
  if (size == 0) {
    GST_WARNING_OBJECT(pool, "no CUDA memory for %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  gst_buffer_pool_config_set_params(config, caps, size, least, most);
  return GST_BUFFER_POOL_CLASS(disguised_pool_parent_class)->set_config(pool, config);
}

gboolean disguised_pool_start(GstBufferPool* pool) {
  return gst_buffer_pool_set_active(disguised(pool)->lender, TRUE) &&
         GST_BUFFER_POOL_CLASS(disguised_pool_parent_class)->start(pool);
}

gboolean disguised_pool_stop(GstBufferPool* pool) {
  const gboolean stopped = GST_BUFFER_POOL_CLASS(disguised_pool_parent_class)->stop(pool);
  return gst_buffer_pool_set_active(disguised(pool)->lender, FALSE) && stopped;
}

// Takes the memory out of a buffer of the lender, for good: two buffers with the same memory could
// not be mapped for writing, and a lender's buffer without its memory is not used again.
GstFlowReturn disguised_pool_alloc_buffer(GstBufferPool* pool, GstBuffer** buffer,
                                          GstBufferPoolAcquireParams*) {
  GstCudaVisionDisguisedPool* self = disguised(pool);
  GstBuffer* lent = nullptr;
  const GstFlowReturn result = gst_buffer_pool_acquire_buffer(self->lender, &lent, nullptr);
  if (result != GST_FLOW_OK)
    return result;
  const GstVideoMeta* lent_meta = gst_buffer_get_video_meta(lent);
  const gint pitch = lent_meta ? lent_meta->stride[0] : 0;
  GstMemory* memory = gst_buffer_get_memory(lent, 0);
  gst_buffer_remove_all_memory(lent);
  gst_buffer_unref(lent);
  if (!memory || pitch <= 0) {
    GST_ERROR_OBJECT(pool, "libgstcuda gave a buffer without memory or without a pitch");
    if (memory)
      gst_memory_unref(memory);
    return GST_FLOW_ERROR;
  }

  *buffer = gst_buffer_new();
  gst_buffer_append_memory(*buffer, memory);
  gint stride[GST_VIDEO_MAX_PLANES] = {pitch, pitch, 0, 0};
  gsize offset[GST_VIDEO_MAX_PLANES] = {
      0,
      GST_VIDEO_INFO_N_PLANES(&self->info) > 1 ? static_cast<gsize>(pitch) * self->info.height : 0,
      0, 0};
  gst_buffer_add_video_meta_full(
      *buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&self->info), self->info.width,
      self->info.height, GST_VIDEO_INFO_N_PLANES(&self->info), offset, stride);
  return GST_FLOW_OK;
}

void disguised_pool_finalize(GObject* object) {
  GstCudaVisionDisguisedPool* self = disguised(object);
  gst_clear_object(&self->lender);
  delete self->context;
  G_OBJECT_CLASS(disguised_pool_parent_class)->finalize(object);
}

void disguised_pool_class_init(GstCudaVisionDisguisedPoolClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = disguised_pool_finalize;
  GstBufferPoolClass* pool_class = &klass->parent_class;
  pool_class->get_options = disguised_pool_get_options;
  pool_class->set_config = disguised_pool_set_config;
  pool_class->start = disguised_pool_start;
  pool_class->stop = disguised_pool_stop;
  pool_class->alloc_buffer = disguised_pool_alloc_buffer;
}

void disguised_pool_init(GstCudaVisionDisguisedPool* self) {
  self->context = new CudaContext;
}

}  // namespace

namespace cudavision {

GstBufferPool* new_cuda_frame_pool(const CudaContext& context, const FrameFormat& format) {
  if (disguise_of(format.info).format == GST_VIDEO_FORMAT_UNKNOWN)
    return new_libgstcuda_pool(context);
  auto* pool = disguised(g_object_new(disguised_pool_get_type(), nullptr));
  gst_object_ref_sink(pool);
  *pool->context = context;
  return &pool->parent;
}

bool is_cuda_frame_pool(GstBufferPool* pool, const CudaContext& context,
                        const FrameFormat& format) {
  if (disguise_of(format.info).format == GST_VIDEO_FORMAT_UNKNOWN)
    return is_libgstcuda_pool(pool, context);
  return G_TYPE_CHECK_INSTANCE_TYPE(pool, disguised_pool_get_type()) &&
         *disguised(pool)->context == context;
}

}  // namespace cudavision
