// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadenoise
 * @title: cudadenoise
 *
 * Removes noise by non-local means: each pixel becomes a weighted mean of the pixels nearby whose
 * surroundings look alike. The result equals that of OpenCV's fastNlMeansDenoising. Works on an
 * NVIDIA GPU or, with the same results to the bit, on the CPU.
 *
 * With #GstCudaDenoise:strength=-1 the strength follows the measured noise. With
 * #GstCudaDenoise:frames above 1, pixels of earlier and later frames count as well, so frames leave
 * the element later. #GstCudaDenoise:regions and #GstCudaDenoise:use-roi-meta limit the effect to
 * parts of the frame.
 *
 * All properties except those of the device may change at any time, also through a
 * #GstControlSource.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudadenoise strength=10 ! videoconvert ! autovideosink
 * ]| Removes weak noise from the pictures of a camera.
 * |[
 * gst-launch-1.0 filesrc location=night.mp4 ! decodebin ! cudadenoise strength=-1 frames=3 !
 * videoconvert ! autovideosink
 * ]| Removes the noise from a film, as much as there is.
 *
 * ## Messages
 * With #GstCudaDenoise:post-messages, the element posts an element message named `cudadenoise` for
 * each frame, or one per #GstCudaDenoise:message-interval:
 *
 * * `timestamp`, `stream-time`, `running-time`, `duration` (#guint64): as in messages of the level
 *   element
 * * `noise`, `noise-used`, `strength` (#GstValueArray of #gdouble): standard deviation of the noise
 *   in this frame, the one that the automatic strength follows, and the strength used, for each of
 *   Y, U and V, or of R, G and B, in 8-bit grey levels
 * * `uncertain` (#GstValueArray of #gboolean): too little of the frame is smooth, so that `noise`
 *   may be texture
 *
 * Since: 0.1.0
 */
#include "gst/denoise/denoiseprocessor.h"

namespace cudavision {
namespace {

using Denoise = FilterElement<DenoiseProcessor>;

/* Frames that are searched together */

FrameWindow* window_of(GstCudaVisionFilter* self) {
  DenoiseProcessor* processor = Denoise::processor(self);
  return processor ? processor->window() : nullptr;
}

std::size_t frames_ahead(GstCudaVisionFilter* self) {
  const FrameWindow* window = window_of(self);
  return window ? static_cast<std::size_t>(window->radius()) : 0;
}

void store_reference(GstCudaVisionFilter* self, guint64 number, const ConstFrame& in) {
  window_of(self)->store(number, in);
}

bool reference_ready(GstCudaVisionFilter* self) {
  return window_of(self)->begins_scene();
}

ConstFrame reference(GstCudaVisionFilter* self, guint64 number) {
  return window_of(self)->centre_on(number);
}

void clear_references(GstCudaVisionFilter* self) {
  if (FrameWindow* window = window_of(self))
    window->clear();
}

// A value that is not valid is reported when the next frame begins.
bool needs_reconfigure(GstCudaVisionFilter* self) {
  const auto settings = Denoise::settings(self);
  return settings.frames != Denoise::processor(self)->requested_frames() &&
         Denoise::settings_error(self, settings).empty();
}

}  // namespace

void DenoiseProcessor::extend_class(GstCudaVisionFilterClass* klass) {
  klass->frames_ahead = frames_ahead;
  klass->store_reference = store_reference;
  klass->reference_ready = reference_ready;
  klass->reference = reference;
  klass->clear_references = clear_references;
  klass->needs_reconfigure = needs_reconfigure;
}

}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(cudadenoise, "cudadenoise", GST_RANK_NONE,
                            cudavision::FilterElement<cudavision::DenoiseProcessor>::get_type())
