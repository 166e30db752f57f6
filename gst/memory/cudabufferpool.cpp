// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/cudabufferpool.h"

#include <gst/video/gstvideometa.h>

#include <optional>

#include "gst/base/scoped.h"
#include "gst/memory/memorydebug.h"

using cudavision::Caps;
using cudavision::CudaContext;

namespace {

/// The format and width under which libgstcuda allocates frames whose own format it does not know.
struct BackingFormat {
  GstVideoFormat format;
  int width;
};

// Returns nullopt if libgstcuda knows the format itself.
std::optional<BackingFormat> backing_format(const GstVideoInfo& info) {
  switch (GST_VIDEO_INFO_FORMAT(&info)) {
    case GST_VIDEO_FORMAT_GRAY8:
      return BackingFormat{GST_VIDEO_FORMAT_BGRx, (info.width + 3) / 4};
    case GST_VIDEO_FORMAT_GRAY16_LE:
      return BackingFormat{GST_VIDEO_FORMAT_BGRx, (info.width + 1) / 2};
    case GST_VIDEO_FORMAT_xRGB:
      return BackingFormat{GST_VIDEO_FORMAT_ARGB, info.width};
    case GST_VIDEO_FORMAT_xBGR:
      return BackingFormat{GST_VIDEO_FORMAT_ABGR, info.width};
    case GST_VIDEO_FORMAT_NV21:
      // libgstcuda knows NV21, but forgets its last row of chroma if the height is odd. With NV12
      // it does not.
      if (info.height % 2)
        return BackingFormat{GST_VIDEO_FORMAT_NV12, info.width};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

struct GstCudaVisionBackedPool {
  GstBufferPool parent;
  CudaContext* context;
  GstBufferPool* backing_pool;  ///< libgstcuda's pool, configured for the backing format
  GstVideoInfo info;            ///< the true format of the frames
};

struct GstCudaVisionBackedPoolClass {
  GstBufferPoolClass parent_class;
};

#define backed_pool_get_type cudavision_backed_pool_get_type
GType backed_pool_get_type();
G_DEFINE_TYPE(GstCudaVisionBackedPool, backed_pool, GST_TYPE_BUFFER_POOL)

GstCudaVisionBackedPool* backed(gpointer pool) {
  return static_cast<GstCudaVisionBackedPool*>(pool);
}

const gchar** backed_pool_get_options(GstBufferPool*) {
  static const gchar* options[] = {GST_BUFFER_POOL_OPTION_VIDEO_META, nullptr};
  return options;
}

// Configures the backing pool and returns the size of its buffers, or 0 if that fails.
guint configure_backing_pool(GstBufferPool* pool, const BackingFormat& backing, int height) {
  GstVideoInfo info;
  if (!gst_video_info_set_format(&info, backing.format, backing.width, height))
    return 0;
  const Caps caps(gst_video_info_to_caps(&info));
  gst_caps_set_features(caps.get(), 0,
                        gst_caps_features_new(cudavision::cuda_memory_feature, nullptr));
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps.get(), GST_VIDEO_INFO_SIZE(&info), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config(pool, config))
    return 0;
  guint size = 0;
  config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
  gst_structure_free(config);
  return size;
}

gboolean backed_pool_set_config(GstBufferPool* pool, GstStructure* config) {
  GstCudaVisionBackedPool* self = backed(pool);
  GstCaps* caps = nullptr;
  guint least = 0;
  guint most = 0;
  if (!gst_buffer_pool_config_get_params(config, &caps, nullptr, &least, &most) || !caps ||
      !gst_video_info_from_caps(&self->info, caps)) {
    GST_WARNING_OBJECT(pool, "the configuration has no caps of video frames");
    return FALSE;
  }
  const std::optional<BackingFormat> backing = backing_format(self->info);
  if (!backing) {
    GST_WARNING_OBJECT(pool, "%" GST_PTR_FORMAT " need no backing format", caps);
    return FALSE;
  }
  gst_clear_object(&self->backing_pool);
  self->backing_pool = cudavision::new_libgstcuda_pool(*self->context);
  const guint size = configure_backing_pool(self->backing_pool, *backing, self->info.height);
  if (size == 0) {
    GST_WARNING_OBJECT(pool, "no CUDA memory for %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  gst_buffer_pool_config_set_params(config, caps, size, least, most);
  return GST_BUFFER_POOL_CLASS(backed_pool_parent_class)->set_config(pool, config);
}

gboolean backed_pool_start(GstBufferPool* pool) {
  return gst_buffer_pool_set_active(backed(pool)->backing_pool, TRUE) &&
         GST_BUFFER_POOL_CLASS(backed_pool_parent_class)->start(pool);
}

gboolean backed_pool_stop(GstBufferPool* pool) {
  const gboolean stopped = GST_BUFFER_POOL_CLASS(backed_pool_parent_class)->stop(pool);
  return gst_buffer_pool_set_active(backed(pool)->backing_pool, FALSE) && stopped;
}

// Takes the memory out of a buffer of the backing pool, for good: two buffers that share memory
// could not be mapped for writing. The backing pool drops a buffer that returns without memory.
GstFlowReturn backed_pool_alloc_buffer(GstBufferPool* pool, GstBuffer** buffer,
                                       GstBufferPoolAcquireParams*) {
  GstCudaVisionBackedPool* self = backed(pool);
  GstBuffer* backing = nullptr;
  const GstFlowReturn result =
      gst_buffer_pool_acquire_buffer(self->backing_pool, &backing, nullptr);
  if (result != GST_FLOW_OK)
    return result;
  const GstVideoMeta* backing_meta = gst_buffer_get_video_meta(backing);
  const gint pitch = backing_meta ? backing_meta->stride[0] : 0;
  GstMemory* memory = gst_buffer_get_memory(backing, 0);
  gst_buffer_remove_all_memory(backing);
  gst_buffer_unref(backing);
  if (!memory || pitch <= 0) {
    GST_ERROR_OBJECT(pool, "libgstcuda's buffer has no memory or no pitch");
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

void backed_pool_finalize(GObject* object) {
  GstCudaVisionBackedPool* self = backed(object);
  gst_clear_object(&self->backing_pool);
  delete self->context;
  G_OBJECT_CLASS(backed_pool_parent_class)->finalize(object);
}

void backed_pool_class_init(GstCudaVisionBackedPoolClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = backed_pool_finalize;
  GstBufferPoolClass* pool_class = &klass->parent_class;
  pool_class->get_options = GST_DEBUG_FUNCPTR(backed_pool_get_options);
  pool_class->set_config = GST_DEBUG_FUNCPTR(backed_pool_set_config);
  pool_class->start = GST_DEBUG_FUNCPTR(backed_pool_start);
  pool_class->stop = GST_DEBUG_FUNCPTR(backed_pool_stop);
  pool_class->alloc_buffer = GST_DEBUG_FUNCPTR(backed_pool_alloc_buffer);
}

void backed_pool_init(GstCudaVisionBackedPool* self) {
  self->context = new CudaContext;
}

}  // namespace

namespace cudavision {

GstBufferPool* new_cuda_frame_pool(const CudaContext& context, const FrameFormat& format) {
  if (!backing_format(format.info))
    return new_libgstcuda_pool(context);
  auto* pool = backed(g_object_new(backed_pool_get_type(), nullptr));
  gst_object_ref_sink(pool);
  *pool->context = context;
  return &pool->parent;
}

bool is_cuda_frame_pool(GstBufferPool* pool, const CudaContext& context,
                        const FrameFormat& format) {
  if (!backing_format(format.info))
    return is_libgstcuda_pool(pool, context);
  return G_TYPE_CHECK_INSTANCE_TYPE(pool, backed_pool_get_type()) &&
         *backed(pool)->context == context;
}

}  // namespace cudavision
