// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "gst/base/devicesession.h"
#include "gst/base/frameinfo.h"
#include "gst/base/videoformat.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_FILTER (gst_cuda_vision_filter_get_type())
GType gst_cuda_vision_filter_get_type(void);

G_END_DECLS

namespace cudavision {

struct FilterState;

/// What an element is going to do with a frame.
enum class FrameWork {
  nothing,    ///< the frame goes on as it came, unseen
  inspect,    ///< it goes on as it came, process() sees it
  transform,  ///< process() writes a new one
};

}  // namespace cudavision

/// Base of the elements with one input and one output. It owns the device session, negotiates the
/// memory, brings frames to the device and back, and walls off errors; an element adds properties,
/// caps and an operation.
struct GstCudaVisionFilter {
  GstBaseTransform parent;
  cudavision::FilterState* state;
};

/// What an element fills in. Each function may throw. In configure(), process() and release() the
/// session's CUDA context is current; the others run without one, so that they may post messages,
/// and open a DeviceScope where they use the device. All are called by the streaming thread, or
/// while there is none. Only configure(), begin_frame() and process() must be there.
///
/// The class's parent is GstBaseTransformClass, whose transform_caps() and fixate_caps() an element
/// overrides when its output has other caps than its input.
struct GstCudaVisionFilterClass {
  GstBaseTransformClass parent_class;

  /// The format behind fixed output caps; by default that of video frames.
  cudavision::FrameFormat (*output_format)(GstCudaVisionFilter* self,
                                           const cudavision::FrameFormat& in,
                                           const GstCaps* out_caps);
  /// Builds the operation for new caps or a new device, replacing what there was.
  void (*configure)(GstCudaVisionFilter* self, cudavision::Device& device,
                    const cudavision::FrameFormat& in, const cudavision::FrameFormat& out);
  /// Starts a frame: takes over the properties as they are now.
  cudavision::FrameWork (*begin_frame)(GstCudaVisionFilter* self,
                                       const cudavision::FrameInfo& info);
  /// Enqueues the work on the frame; out is nullptr where the frame is only inspected.
  void (*process)(GstCudaVisionFilter* self, const cudavision::ConstFrame& in,
                  const cudavision::Frame* out, const cudavision::FrameInfo& info);
  /// The device has finished the frame, which goes downstream next.
  void (*frame_done)(GstCudaVisionFilter* self);
  /// Posts what is pending: EOS, CAPS, SEGMENT, another context or the end are next.
  void (*drain)(GstCudaVisionFilter* self);
  /// Forgets what is pending: a flush.
  void (*discard)(GstCudaVisionFilter* self);
  /// Frees everything that configure() and process() made.
  void (*release)(GstCudaVisionFilter* self);
};

cudavision::DeviceSession& gst_cuda_vision_filter_session(GstCudaVisionFilter* self);

/// Installs pad templates for all video formats, as elements need that give back what they got.
void gst_cuda_vision_filter_class_add_video_templates(GstCudaVisionFilterClass* klass);
