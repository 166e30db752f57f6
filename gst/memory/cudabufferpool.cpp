// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/cudabufferpool.h"

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <exception>
#include <new>

#include "gst/core/caps.h"
#include "gst/core/tensors.h"
#include "gst/memory/cudastream.h"
#include "gst/memory/memorydebug.h"

using cudavision::Caps;
using cudavision::CudaContext;
using cudavision::FrameFormat;
using cudavision::FrameLayout;

namespace {

// Returns true if libgstcuda has no correct pools for the format.
bool needs_backing(const FrameFormat& format) {
  // libgstcuda omits the last chroma row of NV21 if the height is odd.
  const bool wrong = format.is_video() &&
                     GST_VIDEO_INFO_FORMAT(&format.info) == GST_VIDEO_FORMAT_NV21 &&
                     format.info.height % 2;
  return wrong || !format.known_to_libgstcuda;
}

// Format of the images that libgstcuda allocates for tensors, and for formats without a correct
// pool. An image contains a tensor as one row, or the planes of a frame, stacked vertically.
constexpr GstVideoFormat backing_format = GST_VIDEO_FORMAT_BGRx;
constexpr int backing_pixel_bytes = 4;

struct BackingSize {
  int pixels = 0;
  int rows = 0;
};

// A pool whose memory comes from a libgstcuda pool of another format.
struct GstCudaVisionWrapperPool {
  GstBufferPool parent;
  GstBufferPool* backing_pool;  ///< a libgstcuda pool of images in backing_format
  // init constructs the next two members, and finalize destroys them.
  CudaContext context;
  FrameFormat format;  ///< the format of the pool's buffers; for tensors, only its size is used
};

struct GstCudaVisionWrapperPoolClass {
  GstBufferPoolClass parent_class;
};

#define wrapper_pool_get_type cudavision_wrapper_pool_get_type
GType wrapper_pool_get_type();
G_DEFINE_TYPE(GstCudaVisionWrapperPool, wrapper_pool, GST_TYPE_BUFFER_POOL)

GstCudaVisionWrapperPool* wrapper(gpointer pool) {
  return static_cast<GstCudaVisionWrapperPool*>(pool);
}

BackingSize backing_size(const FrameFormat& format) {
  // libgstcuda pads rows, but a tensor must not contain padding, so a tensor is one row.
  if (!format.is_video())
    return {static_cast<int>(format.size / backing_pixel_bytes), 1};
  const FrameLayout& frame = format.storage.frame;
  int row_bytes = 0, rows = 0;
  for (int p = 0; p < frame.plane_count; ++p) {
    row_bytes = std::max(row_bytes, frame.planes[p].row_bytes);
    rows += frame.planes[p].rows;
  }
  return {(row_bytes + backing_pixel_bytes - 1) / backing_pixel_bytes, rows};
}

// Takes the stream from wrapper_config. Returns the size of the pool's buffers, or 0 on failure.
guint configure_backing_pool(GstBufferPool* pool, const BackingSize& backing,
                             const GstStructure* wrapper_config) {
  GstVideoInfo info;
  if (!gst_video_info_set_format(&info, backing_format, static_cast<guint>(backing.pixels),
                                 static_cast<guint>(backing.rows)))
    return 0;
  const Caps caps(gst_video_info_to_caps(&info));
  gst_caps_set_features(caps.get(), 0,
                        gst_caps_features_new(cudavision::cuda_memory_feature, nullptr));
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps.get(), GST_VIDEO_INFO_SIZE(&info), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  cudavision::carry_stream(config, cudavision::stream_named_in(wrapper_config));
  if (!gst_buffer_pool_set_config(pool, config))
    return 0;
  return cudavision::buffer_size_of(pool);
}

// `size` is used only for tensors.
FrameFormat configured_format(const GstCaps* caps, guint size) {
  if (!cudavision::is_tensor(gst_caps_get_structure(caps, 0)))
    return cudavision::frame_format_from_caps(caps);
  if (size == 0 || size % backing_pixel_bytes != 0)
    throw std::invalid_argument("tensors of " + std::to_string(size) +
                                " bytes cannot be in CUDA memory: use a multiple of 4 bytes");
  return cudavision::tensor_format(caps, size, 1, "tensor", "use a smaller one");
}

gboolean wrapper_pool_set_config(GstBufferPool* pool, GstStructure* config) {
  GstCudaVisionWrapperPool* self = wrapper(pool);
  GstCaps* caps = nullptr;
  guint tensor_size = 0;
  guint minimum = 0;
  guint maximum = 0;
  if (!gst_buffer_pool_config_get_params(config, &caps, &tensor_size, &minimum, &maximum) ||
      !caps || !gst_caps_is_fixed(caps)) {
    GST_WARNING_OBJECT(pool, "the pool configuration needs fixed caps, not %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  try {
    self->format = configured_format(caps, tensor_size);
  } catch (const std::exception& e) {
    GST_WARNING_OBJECT(pool, "%s", e.what());
    return FALSE;
  }
  if (!needs_backing(self->format)) {
    GST_WARNING_OBJECT(pool, "%" GST_PTR_FORMAT " needs no backing format", caps);
    return FALSE;
  }
  gst_clear_object(&self->backing_pool);
  self->backing_pool = cudavision::new_libgstcuda_pool(self->context);
  const guint size = configure_backing_pool(self->backing_pool, backing_size(self->format), config);
  if (size == 0) {
    GST_WARNING_OBJECT(pool, "no CUDA memory for %" GST_PTR_FORMAT, caps);
    return FALSE;
  }
  gst_buffer_pool_config_set_params(config, caps, self->format.is_video() ? size : tensor_size,
                                    minimum, maximum);
  return GST_BUFFER_POOL_CLASS(wrapper_pool_parent_class)->set_config(pool, config);
}

gboolean wrapper_pool_start(GstBufferPool* pool) {
  return gst_buffer_pool_set_active(wrapper(pool)->backing_pool, TRUE) &&
         GST_BUFFER_POOL_CLASS(wrapper_pool_parent_class)->start(pool);
}

gboolean wrapper_pool_stop(GstBufferPool* pool) {
  const gboolean stopped = GST_BUFFER_POOL_CLASS(wrapper_pool_parent_class)->stop(pool);
  return gst_buffer_pool_set_active(wrapper(pool)->backing_pool, FALSE) && stopped;
}

void add_video_meta(GstBuffer* buffer, const FrameFormat& format, gint pitch) {
  const GstVideoInfo& info = format.info;
  const FrameLayout& frame = format.storage.frame;
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  for (gsize p = 0, rows = 0; p < static_cast<gsize>(frame.plane_count); ++p) {
    stride[p] = pitch;
    offset[p] = static_cast<gsize>(pitch) * rows;
    rows += static_cast<gsize>(frame.planes[p].rows);
  }
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 static_cast<guint>(info.width), static_cast<guint>(info.height),
                                 static_cast<guint>(frame.plane_count), offset, stride);
}

// Moves the memory out of a buffer of the backing pool, because buffers that share memory cannot be
// mapped for writing. The backing pool drops a buffer that returns without memory.
GstFlowReturn wrapper_pool_alloc_buffer(GstBufferPool* pool, GstBuffer** buffer,
                                        GstBufferPoolAcquireParams*) {
  GstCudaVisionWrapperPool* self = wrapper(pool);
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
  // The size must be set before the first mapping, when libgstcuda allocates the copy on the host.
  if (self->format.is_video())
    add_video_meta(*buffer, self->format, pitch);
  else
    gst_buffer_set_size(*buffer, static_cast<gssize>(self->format.size));
  return GST_FLOW_OK;
}

void wrapper_pool_finalize(GObject* object) {
  GstCudaVisionWrapperPool* self = wrapper(object);
  gst_clear_object(&self->backing_pool);
  self->format.~FrameFormat();
  self->context.~CudaContext();
  G_OBJECT_CLASS(wrapper_pool_parent_class)->finalize(object);
}

void wrapper_pool_class_init(GstCudaVisionWrapperPoolClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = wrapper_pool_finalize;
  GstBufferPoolClass* pool_class = &klass->parent_class;
  pool_class->get_options = [](GstBufferPool*) {
    static const gchar* options[] = {GST_BUFFER_POOL_OPTION_VIDEO_META, nullptr};
    return options;
  };
  pool_class->set_config = GST_DEBUG_FUNCPTR(wrapper_pool_set_config);
  pool_class->start = GST_DEBUG_FUNCPTR(wrapper_pool_start);
  pool_class->stop = GST_DEBUG_FUNCPTR(wrapper_pool_stop);
  pool_class->alloc_buffer = GST_DEBUG_FUNCPTR(wrapper_pool_alloc_buffer);
}

void wrapper_pool_init(GstCudaVisionWrapperPool* self) {
  new (&self->context) CudaContext;
  new (&self->format) FrameFormat;
}

}  // namespace

namespace cudavision {

GstBufferPool* new_cuda_frame_pool(const CudaContext& context, const FrameFormat& format) {
  if (!needs_backing(format))
    return new_libgstcuda_pool(context);
  auto* pool = wrapper(g_object_new(wrapper_pool_get_type(), nullptr));
  gst_object_ref_sink(pool);
  pool->context = context;
  return &pool->parent;
}

bool is_cuda_frame_pool(GstBufferPool* pool, const CudaContext& context,
                        const FrameFormat& format) {
  if (!needs_backing(format))
    return is_libgstcuda_pool(pool, context);
  return G_TYPE_CHECK_INSTANCE_TYPE(pool, wrapper_pool_get_type()) &&
         wrapper(pool)->context == context;
}

guint buffer_size_of(GstBufferPool* pool) {
  guint size = 0;
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
  gst_structure_free(config);
  return size;
}

}  // namespace cudavision
