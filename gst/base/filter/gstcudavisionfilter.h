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

/// The ways in which an element handles a frame.
enum class FrameAction {
  nothing,    ///< the frame goes downstream unchanged; process() is not called
  inspect,    ///< the frame goes downstream unchanged; process() only reads it
  transform,  ///< process() writes a new frame
};

}  // namespace cudavision

/// Base class of the elements with one input and one output. It owns the device session, negotiates
/// the memory, carries frames to the device and back, and turns exceptions into ERROR messages. An
/// element adds properties, caps and an operation.
struct GstCudaVisionFilter {
  GstBaseTransform parent;
  cudavision::FilterState* state;
};

/// The virtual functions of an element; configure(), begin_frame() and process() are mandatory, and
/// so is debug_category.
/// Each may throw. They are called by the streaming thread, or while there is none; frame_done() is
/// called by another thread if several frames are in flight. The session's CUDA context is current
/// in configure(), process() and release(). The others run without a context, so that they may post
/// messages; they open a DeviceScope to use the device.
///
/// An element whose output has other caps than its input also overrides transform_caps() and
/// fixate_caps() of GstBaseTransformClass.
struct GstCudaVisionFilterClass {
  GstBaseTransformClass parent_class;

  /// The element's debug category, in which the base class logs as well.
  GstDebugCategory* debug_category;

  /// Returns the form in which process() takes frames that the operation cannot read as they lie in
  /// buffers. The default is UnpackedForm::channels. Frames of video output have the same form.
  cudavision::repack::UnpackedForm (*unpacked_form)(GstCudaVisionFilter* self);
  /// Reads fixed output caps. The default reads video/x-raw.
  cudavision::FrameFormat (*output_format)(GstCudaVisionFilter* self,
                                           const cudavision::FrameFormat& in,
                                           const GstCaps* out_caps);
  /// Builds the operation, for new caps or a new device. release() has freed the last one.
  void (*configure)(GstCudaVisionFilter* self, cudavision::Device& device,
                    const cudavision::FrameFormat& in, const cudavision::FrameFormat& out);
  /// Starts a frame: applies the current properties and decides what to do with the frame.
  cudavision::FrameAction (*begin_frame)(GstCudaVisionFilter* self,
                                         const cudavision::FrameInfo& info);
  /// Enqueues the work on the frame. out is nullptr if the frame is only inspected.
  void (*process)(GstCudaVisionFilter* self, const cudavision::ConstFrame& in,
                  const cudavision::Frame* out, const cudavision::FrameInfo& info);
  /// Pushes the frames that the element has kept back, before serialized events, frames that do not
  /// continue them, DRAIN queries and configure(). Returns the first flow return that is not
  /// GST_FLOW_OK, and drops the frames after it. See gst_cuda_vision_filter_push(). The default is
  /// that the element keeps none.
  GstFlowReturn (*push_pending)(GstCudaVisionFilter* self);
  /// Called when the device has finished a frame, before that goes downstream. Later frames may be
  /// in flight already. The device may still be at a frame in CUDA memory that carries a stream.
  void (*frame_done)(GstCudaVisionFilter* self);
  /// True if the device must have finished the last frame of process() before frame_done() in any
  /// case. The default is false.
  bool (*needs_frame_done)(GstCudaVisionFilter* self);
  /// Posts pending messages, and ends what spans several frames, before EOS, CAPS, SEGMENT, a
  /// change of context, and stop.
  void (*drain)(GstCudaVisionFilter* self);
  /// Drops pending messages and what spans several frames, on a flush.
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

/// True in pull mode, where downstream gets each frame as a return value.
bool is_pulled(gpointer self);

/// Returns what a virtual function for a frame answers instead of flow: upstream stops in silence
/// if a frame fails while the element is being stopped or flushed. The error is not the reason that
/// the stream ends, and may have gone to a bus that nobody reads.
GstFlowReturn answer_of(GstBaseTransform* trans, GstFlowReturn flow);

/// Waits until all frames in flight have gone downstream, and gives up what is still to come of
/// them: waiting for it, at the latest in stop(), could fail and post a second error. Returns false
/// if the work on one of them has failed; its error has been posted.
bool give_up_frames(gpointer self);

/// Runs the part of a virtual function that frames may make fail. Those in flight then go
/// downstream before the error is posted; if one of them fails itself, its error is the only one.
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

/// Returns what finds the regions of frames, for elements that process only these.
cudavision::RegionFinder& gst_cuda_vision_filter_regions(GstCudaVisionFilter* self);

/// Call this in configure() if the element copies frames, and pushes each one that many frames
/// later. Not in pull mode.
void gst_cuda_vision_filter_set_latency(GstCudaVisionFilter* self, std::size_t frames);

/// Processes a frame that the element has kept back, and pushes it. If the buffer has no memory,
/// stored is where its pixels are on the device once begin_frame() returns.
GstFlowReturn gst_cuda_vision_filter_push(GstCudaVisionFilter* self, cudavision::OwnedBuffer frame,
                                          const cudavision::ConstFrame* stored);

/// Calls configure() again, for other properties, if the caps are known.
void gst_cuda_vision_filter_reconfigure(GstCudaVisionFilter* self);

/// Adds the pad templates: all video formats on the sink pad, src on the source pad.
void gst_cuda_vision_filter_class_add_pad_templates(GstCudaVisionFilterClass* klass,
                                                    const cudavision::Caps& src);
