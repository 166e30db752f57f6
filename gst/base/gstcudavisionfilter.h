// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "gst/base/devicesession.h"
#include "gst/core/frameinfo.h"
#include "gst/core/videoformat.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_FILTER (gst_cuda_vision_filter_get_type())
GType gst_cuda_vision_filter_get_type(void);

G_END_DECLS

namespace cudavision {

struct FilterState;
class RegionFinder;

/// The ways in which an element handles a frame.
enum class FrameWork {
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
  cudavision::FrameWork (*begin_frame)(GstCudaVisionFilter* self,
                                       const cudavision::FrameInfo& info);
  /// Enqueues the work on the frame. out is nullptr if the frame is only inspected.
  void (*process)(GstCudaVisionFilter* self, const cudavision::ConstFrame& in,
                  const cudavision::Frame* out, const cudavision::FrameInfo& info);
  /// Returns how many later frames process() searches, once the element is configured. If there are
  /// any, frames go downstream that much later, and the next functions must exist. The default is
  /// none.
  std::size_t (*frames_ahead)(GstCudaVisionFilter* self);
  /// Enqueues what keeps the pixels of a frame, as long as frames up to frames_ahead() numbers
  /// before and after it are processed. Numbers of missing frames are left out. This work is
  /// enqueued on gst_cuda_vision_filter_upload_queue().
  void (*store_reference)(GstCudaVisionFilter* self, guint64 number,
                          const cudavision::ConstFrame& in);
  /// Called when the device has finished that. process() may have been called in between, so that
  /// the device did not run out of work. If this returns true, what the device has found in the
  /// frame changes that result: reference() and process() are then called once more.
  bool (*reference_ready)(GstCudaVisionFilter* self);
  /// Returns the frame of that number. process() is then called for it.
  cudavision::ConstFrame (*reference)(GstCudaVisionFilter* self, guint64 number);
  /// The next frame does not continue the ones before.
  void (*clear_references)(GstCudaVisionFilter* self);
  /// True if the properties ask for another number of frames_ahead(). Then all frames that wait go
  /// downstream, and configure() is called again.
  bool (*needs_reconfigure)(GstCudaVisionFilter* self);
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

inline GstCudaVisionFilterClass* class_of(gpointer self) {
  return G_TYPE_INSTANCE_GET_CLASS(self, GST_TYPE_CUDA_VISION_FILTER, GstCudaVisionFilterClass);
}

}  // namespace cudavision

cudavision::DeviceSession& gst_cuda_vision_filter_session(GstCudaVisionFilter* self);

/// Returns what finds the regions of frames, for elements that process only these.
cudavision::RegionFinder& gst_cuda_vision_filter_regions(GstCudaVisionFilter* self);

/// Returns the queue for store_reference(), or nullptr if frames may not wait for later ones: in
/// pull mode, downstream gets each frame as a return value.
cudavision::Device* gst_cuda_vision_filter_upload_queue(GstCudaVisionFilter* self);

/// Adds the pad templates: all video formats on the sink pad, src on the source pad.
void gst_cuda_vision_filter_class_add_pad_templates(GstCudaVisionFilterClass* klass,
                                                    const cudavision::Caps& src);
