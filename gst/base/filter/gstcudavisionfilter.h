// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "gst/base/devicesession.h"
#include "gst/core/elementerror.h"
#include "gst/core/frameinfo.h"
#include "gst/core/scoped.h"
#include "gst/core/videoformat.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_FILTER (gst_cuda_vision_filter_get_type())
GType gst_cuda_vision_filter_get_type(void);

G_END_DECLS

namespace cudavision {

struct FilterState;
class RegionFinder;

enum class FrameAction {
  nothing,    ///< pushes the frame unchanged, without process()
  inspect,    ///< pushes the frame unchanged; process() only reads it
  transform,  ///< process() writes a new frame
};

}  // namespace cudavision

/// Base class of elements with one input and one output. Owns the session, negotiates memory,
/// transfers frames, posts ERROR messages. An element adds properties, caps and an operation.
struct GstCudaVisionFilter {
  GstBaseTransform parent;
  cudavision::FilterState* state;
};

/// The virtual functions of an element; configure(), begin_frame(), process() and debug_category
/// are mandatory. All may throw. They run in the streaming thread, or while that thread is stopped;
/// frame_done() may run in another thread if several frames are in flight. configure(), process(),
/// needs_frame_done() and release() run in the session's CUDA context. All others run without a
/// context, because they may post messages; to use the device, they need a DeviceScope.
///
/// If output caps differ from input caps, an element also overrides transform_caps() and
/// fixate_caps() of GstBaseTransformClass.
struct GstCudaVisionFilterClass {
  GstBaseTransformClass parent_class;

  /// The base class also logs in this category.
  GstDebugCategory* debug_category;

  /// The form into which frames are unpacked if the operation cannot read them directly. The
  /// default output_format() uses the same form. Default: channels.
  cudavision::repack::UnpackedForm unpacked_form;
  /// Reads fixed output caps. The default reads video/x-raw.
  cudavision::FrameFormat (*output_format)(GstCudaVisionFilter* self,
                                           const cudavision::FrameFormat& in,
                                           const GstCaps* out_caps);
  /// Builds the operation for new caps, a new device or new properties. Called after release().
  void (*configure)(GstCudaVisionFilter* self, cudavision::Device& device,
                    const cudavision::FrameFormat& in, const cudavision::FrameFormat& out);
  /// Applies the properties, and returns what to do with the frame.
  cudavision::FrameAction (*begin_frame)(GstCudaVisionFilter* self,
                                         const cudavision::FrameInfo& info);
  /// Enqueues the work on the frame. out is nullptr if the frame is only inspected.
  void (*process)(GstCudaVisionFilter* self, const cudavision::ConstFrame& in,
                  const cudavision::Frame* out, const cudavision::FrameInfo& info);
  /// Pushes delayed frames by gst_cuda_vision_filter_push(), before serialized events other than
  /// FLUSH_STOP, discontinuous frames, DRAIN queries, configure() and stop. Returns the first flow
  /// return that is not GST_FLOW_OK, and drops later frames. Default: no frames are delayed.
  GstFlowReturn (*push_pending)(GstCudaVisionFilter* self);
  /// Called before a frame is pushed. Later frames may be in flight. If needs_frame_done() is
  /// false, the device may still work on a frame in CUDA memory that carries a stream.
  void (*frame_done)(GstCudaVisionFilter* self);
  /// Called when the work on a frame is enqueued. Returns true if frame_done() must be called only
  /// after the device has finished this work. Default: false.
  bool (*needs_frame_done)(GstCudaVisionFilter* self);
  /// Before EOS, CAPS, SEGMENT, configure(), stop: posts messages, resets state that spans frames.
  void (*drain)(GstCudaVisionFilter* self);
  /// Drops pending messages and all state that spans frames, on a flush or after an error.
  void (*discard)(GstCudaVisionFilter* self);
  /// Frees everything that configure() and process() have allocated.
  void (*release)(GstCudaVisionFilter* self);
};

namespace cudavision {

inline GstCudaVisionFilter* filter(gpointer self) {
  return static_cast<GstCudaVisionFilter*>(self);
}

inline GstCudaVisionFilterClass* class_of(gpointer self) {
  return G_TYPE_INSTANCE_GET_CLASS(self, GST_TYPE_CUDA_VISION_FILTER, GstCudaVisionFilterClass);
}

bool is_pulled(gpointer self);

/// Replaces GST_FLOW_ERROR by GST_FLOW_FLUSHING while the element is stopped or flushed, so that
/// upstream posts no further error.
GstFlowReturn flow_or_flushing(GstBaseTransform* trans, GstFlowReturn flow);

/// Waits until all frames in flight are pushed, and drops pending messages, whose downloads could
/// fail and post a second error. Returns false if a frame has failed; its error is already posted.
bool give_up_frames(gpointer self);

/// Like post_exceptions(), for the streaming thread. Frames in flight are pushed before the error
/// is posted; if one of these frames fails, only its error is posted.
template <class Result, class Body>
Result post_first_exception(gpointer self, Result on_error, Body&& body,
                            const SourceLocation& location = SourceLocation::current()) {
  return post_exceptions(
      self, on_error,
      [&]() -> Result {
        try {
          return body();
        } catch (...) {
          if (!give_up_frames(self))
            return on_error;
          throw;
        }
      },
      location);
}

}  // namespace cudavision

cudavision::DeviceSession& gst_cuda_vision_filter_session(GstCudaVisionFilter* self);

cudavision::RegionFinder& gst_cuda_vision_filter_regions(GstCudaVisionFilter* self);

/// Call this in configure() if the element copies and delays `frames` frames. Not for pull mode.
void gst_cuda_vision_filter_set_latency(GstCudaVisionFilter* self, std::size_t frames);

/// Processes and pushes a delayed frame. Unless nullptr, `stored` refers to the frame's pixels on
/// the device; *stored is not read before begin_frame() has returned.
GstFlowReturn gst_cuda_vision_filter_push(GstCudaVisionFilter* self, cudavision::OwnedBuffer frame,
                                          const cudavision::ConstFrame* stored);

/// Calls configure() again, for changed properties, if the caps are known.
void gst_cuda_vision_filter_reconfigure(GstCudaVisionFilter* self);

/// The sink pad's template has all supported video formats, the source pad's the caps `src`.
void gst_cuda_vision_filter_class_add_pad_templates(GstCudaVisionFilterClass* klass,
                                                    const cudavision::Caps& src);
