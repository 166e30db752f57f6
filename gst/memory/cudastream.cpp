// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/cudastream.h"

#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudamemory.h>

#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcudastream.h>
#endif

namespace cudavision {

#if GST_CHECK_VERSION(1, 24, 0)

namespace {

// gst_cuda_stream_new() does not report CUDA's error. If it fails, calls create_cuda_stream(),
// which throws the error. If create_cuda_stream() succeeds, tries gst_cuda_stream_new() again.
GstCudaStream* new_stream(const CudaContext& context) {
  auto* const native = reinterpret_cast<GstCudaContext*>(context.object());
  if (GstCudaStream* stream = gst_cuda_stream_new(native))
    return stream;
  {
    const CudaScope scope(context);
    destroy_cuda_stream(create_cuda_stream());
  }
  if (GstCudaStream* stream = gst_cuda_stream_new(native))
    return stream;
  throw Error(Error::Kind::device,
              "gst_cuda_stream_new() failed twice, although the driver creates streams: "
              "GST_DEBUG=cuda*:5 shows the reason");
}

}  // namespace

SharedStream::SharedStream(const CudaContext& context) {
  GstCudaStream* stream = new_stream(context);
  handle_ = gst_cuda_stream_get_handle(stream);
  owner_.reset(stream, gst_cuda_stream_unref);
}

SharedStream stream_named_in(const GstStructure* pool_config) {
  SharedStream shared;
  GstCudaStream* stream =
      gst_buffer_pool_config_get_cuda_stream(const_cast<GstStructure*>(pool_config));
  if (stream) {
    shared.handle_ = gst_cuda_stream_get_handle(stream);
    shared.owner_.reset(stream, gst_cuda_stream_unref);
  }
  return shared;
}

void carry_stream(GstStructure* pool_config, const SharedStream& stream) {
  GstCudaStream* present = gst_buffer_pool_config_get_cuda_stream(pool_config);
  if (!present && stream)
    gst_buffer_pool_config_set_cuda_stream(pool_config,
                                           static_cast<GstCudaStream*>(stream.owner_.get()));
  gst_clear_cuda_stream(&present);
}

CudaStream stream_of_cuda_memory(GstMemory* memory) {
  return gst_cuda_stream_get_handle(gst_cuda_memory_get_stream(GST_CUDA_MEMORY_CAST(memory)));
}

void mark_unfinished(GstMemory* memory) {
  if (stream_of_cuda_memory(memory))
    GST_MINI_OBJECT_FLAG_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
}

void mark_finished(GstMemory* memory) {
  GST_MINI_OBJECT_FLAG_UNSET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
}

bool is_marked_unfinished(GstMemory* memory) {
  return GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
}

void synchronize_cuda_memory(GstMemory* memory) {
  gst_cuda_memory_sync(GST_CUDA_MEMORY_CAST(memory));
}

#else

SharedStream::SharedStream(const CudaContext& context) {
  const CudaScope scope(context);
  handle_ = create_cuda_stream();
  owner_.reset(handle_, [context](CudaStream stream) {
    try {
      const CudaScope current(context);
      destroy_cuda_stream(stream);
    } catch (const Error&) {
      // The context is lost; the driver has freed the stream.
    }
  });
}

#endif

}  // namespace cudavision
