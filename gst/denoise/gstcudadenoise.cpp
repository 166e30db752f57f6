// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadenoise
 * @title: cudadenoise
 *
 * Removes noise by non-local means: each pixel becomes a weighted mean of nearby pixels with
 * similar surroundings. 8-bit results equal OpenCV's fastNlMeansDenoising. Runs on an NVIDIA GPU
 * or, with bit-identical results, on the CPU.
 *
 * With #GstCudaDenoise:strength=-1 the strength depends on the measured noise. With
 * #GstCudaDenoise:frames above 1, earlier and later frames are searched, too (as in OpenCV's
 * fastNlMeansDenoisingMulti), which delays the output. #GstCudaDenoise:regions and
 * #GstCudaDenoise:use-roi-meta limit the effect to parts of the frame.
 *
 * All properties except `backend`, `cuda-device-id` and `frames-in-flight` may change at any time,
 * also through a #GstControlSource.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudadenoise strength=10 ! videoconvert ! autovideosink
 * ]| Removes weak noise from the video of a camera.
 * |[
 * gst-launch-1.0 filesrc location=night.mp4 ! decodebin ! cudadenoise strength=-1 frames=3 !
 * videoconvert ! autovideosink
 * ]| Denoises a video file over three frames, with automatic strength.
 *
 * ## Messages
 * With #GstCudaDenoise:post-messages, the element posts an element message named `cudadenoise` for
 * each frame, or one per #GstCudaDenoise:message-interval:
 *
 * * `timestamp`, `stream-time`, `running-time`, `duration` (#guint64): as in messages of the level
 *   element
 * * `noise`, `noise-used`, `strength` (#GstValueArray of #gdouble): standard deviation of the noise
 *   in this frame (or in the last frame where it could be measured), the deviation that sets the
 *   automatic strength, and the strength used. Each array has the values for Y, U and V, for R, G
 *   and B, or for gray, in 8-bit grey levels.
 * * `uncertain` (#GstValueArray of #gboolean): little of the frame is smooth, so `noise` may be
 *   texture
 *
 * Since: 0.2.0
 */
#include <utility>

#include "gst/denoise/denoiseprocessor.h"

namespace cudavision {
namespace {

using Denoise = FilterElement<DenoiseProcessor>;

/// Returns nullptr if frames are not delayed. Any push may stop the element and free the delay.
FrameDelay* delay_of(gpointer self) {
  DenoiseProcessor* processor = Denoise::processor(self);
  return processor ? processor->delay() : nullptr;
}

GstFlowReturn push_oldest(GstCudaVisionFilter* self) {
  FrameDelay::Frame oldest = delay_of(self)->take_oldest();
  return gst_cuda_vision_filter_push(self, std::move(oldest.buffer), oldest.stored);
}

GstFlowReturn push_pending(GstCudaVisionFilter* self) {
  GstFlowReturn flow = GST_FLOW_OK;
  while (flow == GST_FLOW_OK && delay_of(self) && !delay_of(self)->empty())
    flow = push_oldest(self);
  if (FrameDelay* delay = delay_of(self))
    delay->clear();
  return flow;
}

// Reconfigures if `frames` changes. Invalid settings are reported later, by begin_frame().
void before_transform(GstBaseTransform* trans, GstBuffer* in) {
  Denoise::parent_class()->before_transform(trans, in);
  const DenoiseProcessor* processor = Denoise::processor(trans);
  const auto settings = Denoise::settings(trans);
  if (processor && settings.frames != processor->requested_frames() &&
      Denoise::settings_error(trans, settings).empty())
    gst_cuda_vision_filter_reconfigure(filter(trans));
}

GstFlowReturn generate_output(GstBaseTransform* trans, GstBuffer** out) {
  if (!trans->queued_buf || !delay_of(trans))
    return Denoise::parent_class()->generate_output(trans, out);
  GstCudaVisionFilter* const self = filter(trans);
  const GstFlowReturn flow = post_first_exception(self, GST_FLOW_ERROR, [&] {
    OwnedBuffer in(std::exchange(trans->queued_buf, nullptr));
    try {
      const DeviceScope scope(gst_cuda_vision_filter_session(self));
      delay_of(self)->store(in.get());
    } catch (...) {
      // Earlier frames are pushed first. If a push fails, only its error is reported.
      if (push_pending(self) == GST_FLOW_ERROR)
        return GST_FLOW_ERROR;
      throw;
    }
    in.reset();
    const GstFlowReturn pushed = delay_of(self)->is_due() ? push_oldest(self) : GST_FLOW_OK;
    // Releases upstream's buffer. If the push failed, only the error of the push is reported.
    try {
      if (FrameDelay* delay = delay_of(self)) {
        const DeviceScope scope(gst_cuda_vision_filter_session(self));
        delay->finish_upload();
      }
    } catch (...) {
      if (pushed != GST_FLOW_ERROR)
        throw;
    }
    return pushed;
  });
  return flow_or_flushing(trans, flow);
}

}  // namespace

void DenoiseProcessor::extend_class(GstCudaVisionFilterClass* klass) {
  klass->push_pending = push_pending;
  klass->parent_class.before_transform = GST_DEBUG_FUNCPTR(before_transform);
  klass->parent_class.generate_output = GST_DEBUG_FUNCPTR(generate_output);
}

}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(cudadenoise, "cudadenoise", GST_RANK_NONE,
                            cudavision::FilterElement<cudavision::DenoiseProcessor>::get_type())
