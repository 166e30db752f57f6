// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudahistequalize
 * @title: cudahistequalize
 *
 * Raises the contrast of pictures by histogram equalisation, and reports the statistics of their
 * luminance. Runs on an NVIDIA GPU or, with bit-identical results, on the CPU.
 * #GstCudaHistEqualize:method selects the method:
 *
 * * `equalize`: one table for the whole picture, equal to OpenCV's equalizeHist
 * * `clahe`: a table for each tile of a grid, with limited contrast, and interpolation between
 *   tables; equal to OpenCV's CLAHE
 *
 * A change of #GstCudaHistEqualize:tiles-x or #GstCudaHistEqualize:tiles-y takes effect at the
 * next start or with the next caps. All other properties except `backend`, `cuda-device-id` and
 * `frames-in-flight` may change at any time, also through a #GstControlSource.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahistequalize ! videoconvert ! autovideosink
 * ]| Equalises the video of a camera.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahistequalize method=clahe clip-limit=3 !
 * videoconvert ! autovideosink
 * ]| Equalises the video locally; the clip limit restricts the amplification of noise.
 *
 * ## Messages
 * With #GstCudaHistEqualize:post-messages, the element posts an element message named
 * `cudahistequalize` for each frame, or one per #GstCudaHistEqualize:message-interval. It describes
 * the input frame or, with #GstCudaHistEqualize:statistics-region, regions of the frame:
 *
 * * `timestamp`, `stream-time`, `running-time`, `duration` (#guint64): as in messages of the level
 *   element
 * * `mean`, `stddev` (#gdouble), `minimum`, `maximum` (#guint): of the luminance
 * * `entropy` (#gdouble): of the luminance, in bits
 * * `percentile-1`, `percentile-5`, `percentile-50`, `percentile-95`, `percentile-99` (#guint): the
 *   smallest luminance that at least this percentage of the pixels does not exceed
 * * `noise` (#gdouble; only if measured): standard deviation of the luminance noise, in 8-bit grey
 *   levels; for RGB, the root of the mean variance of red, green and blue
 * * `scene-cut` (#gboolean): with #GstCudaHistEqualize:smoothing-time, the average has restarted at
 *   a scene cut since the last message
 * * `bin-count` (#guint): number of possible luminances, 2^bits
 * * `bins` (#GBytes): the luminance histogram, `bin-count` numbers of type #guint64 in native byte
 *   order
 *
 * Since: 0.2.0
 */
#include <algorithm>

#include "gst/histequalize/equalizeprocessor.h"

namespace cudavision {
namespace {

using Equalize = FilterElement<EqualizeProcessor>;

// Reduces the caps to 8-bit RGB formats.
Caps rgb_caps_of(const GstCaps* caps) {
  Caps rgb(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    Structure structure(gst_structure_copy(gst_caps_get_structure(caps, i)));
    Formats formats = formats_of(structure.get());
    std::erase_if(formats, [](GstVideoFormat format) {
      return !GST_VIDEO_FORMAT_INFO_IS_RGB(gst_video_format_get_info(format)) ||
             depth_of(format) != 8;
    });
    if (formats.empty())
      continue;
    set_formats(structure.get(), formats);
    gst_caps_append_structure_full(rgb.get(), structure.release(),
                                   gst_caps_features_copy(gst_caps_get_features(caps, i)));
  }
  return rgb;
}

// With channels=rgb, requests RGB from upstream if `filter`, which has upstream's caps, includes
// RGB. Otherwise, configure() reports an error.
GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                        GstCaps* filter) {
  GstCaps* possible = Equalize::parent_class()->transform_caps(trans, direction, caps, filter);
  if (!possible || !filter || direction != GST_PAD_SRC ||
      Equalize::settings(trans).channels != EqualizeChannels::rgb)
    return possible;
  return post_exceptions(trans, possible, [&] {
    Caps rgb = rgb_caps_of(possible);
    if (gst_caps_is_empty(rgb.get()))
      return possible;
    gst_caps_unref(possible);
    return rgb.release();
  });
}

// Returns false for ANY caps, because elements with ANY caps, such as appsrc, do not convert.
bool upstream_offers_rgb(GstBaseTransform* trans) {
  GstPad* sink = GST_BASE_TRANSFORM_SINK_PAD(trans);
  const Caps taken(gst_pad_get_pad_template_caps(sink));
  const Caps given = peer_caps(sink, nullptr);
  return !gst_caps_is_any(given.get()) &&
         gst_caps_can_intersect(given.get(), rgb_caps_of(taken.get()).get());
}

// After a change to channels=rgb, upstream may switch to RGB, so no warning is posted yet.
FrameAction begin_with_channels(GstCudaVisionFilter* self, const FrameInfo& info) {
  EqualizeProcessor& processor = *Equalize::processor(self);
  const EqualizeSettings settings = Equalize::settings(self);
  if (processor.change_channels(settings.channels)) {
    GstBaseTransform* trans = GST_BASE_TRANSFORM_CAST(self);
    gst_base_transform_reconfigure_sink(trans);
    processor.await_rgb(settings.channels == EqualizeChannels::rgb && upstream_offers_rgb(trans));
  }
  const std::string error = Equalize::settings_error(self, settings);
  return Equalize::begin_frame(self, info, settings, error,
                               error.empty() || !processor.awaits_rgb());
}

}  // namespace

void EqualizeProcessor::add_properties(ElementProperties<Settings>& all) {
  constexpr PropertyChange ready = PropertyChange::when_ready;
  all.add(
      {"method", "Method", "Equalisation method"}, &Settings::method, "GstCudaHistEqualizeMethod",
      {{EqualizeMethod::equalize, "Flatten the histogram of the whole picture", "equalize"},
       {EqualizeMethod::clahe,
        "Flatten the histogram of each tile, with limited contrast, and interpolate between tiles",
        "clahe"}});
  all.add(
      {"channels", "Channels",
       "Channels to equalise; rgb needs RGB frames of 8 bits, to which a videoconvert before the "
       "element converts automatically"},
      &Settings::channels, "GstCudaHistEqualizeChannels",
      {{EqualizeChannels::luma,
        "Equalise the luminance; in RGB frames, its change is added to red, green and blue alike",
        "luma"},
       {EqualizeChannels::rgb,
        "Equalise red, green and blue independently (RGB formats of 8 bits only)", "rgb"}});
  all.add({"clip-limit", "Clip limit",
           "With method=clahe, contrast limit: the maximum bin height of a tile's histogram as a "
           "multiple of the mean (0 = unlimited)"},
          &Settings::clip_limit, {0, 65536});
  all.add({"tiles-x", "Tiles across", "With method=clahe, the number of tiles in a row", ready},
          &Settings::tiles_x, clahe::Tiles::range);
  all.add({"tiles-y", "Tiles down", "With method=clahe, the number of tiles in a column", ready},
          &Settings::tiles_y, clahe::Tiles::range);
  all.add({"strength", "Strength",
           "Weight of the equalised picture in the output (0 = the input, 1 = fully equalised)"},
          &Settings::strength, {0, 1});
  all.add({"chroma", "Chroma",
           "How the chroma of YUV frames changes; chroma=scale keeps the saturation of colours "
           "when their luma changes (no effect on RGB and gray frames)"},
          &Settings::chroma, "GstCudaHistEqualizeChroma",
          {{ChromaMode::keep, "Copy the chroma of the input", "keep"},
           {ChromaMode::scale, "Scale the chroma by the same factor as the luma", "scale"}});
  all.add({"smoothing-time", "Smoothing time",
           "Time constant of the histograms' average in ns of running time, against flicker in "
           "videos (0 = no averaging)"},
          &Settings::smoothing_time);
  all.add(
      {"scene-cut-threshold", "Scene cut threshold",
       "Threshold of a scene cut, which restarts the average: the fraction of pixels that change "
       "histogram bins, or the relative change of local means (1 = no scene cuts)"},
      &Settings::scene_cut_threshold, {0, 1});
  all.add({"statistics-region", "Statistics region",
           "Pixels whose histogram is equalised and posted in messages (with method=clahe, only "
           "posted)"},
          &Settings::statistics_region, "GstCudaHistEqualizeStatisticsRegion",
          {{StatisticsRegion::frame, "All pixels of the frame", "frame"},
           {StatisticsRegion::regions,
            "The pixels of the regions, if the effect is limited to regions", "regions"}});
  add_message_properties(
      all, "Post an element message with the luminance histogram and statistics of the input");
}

void EqualizeProcessor::extend_class(GstCudaVisionFilterClass* klass) {
  klass->parent_class.transform_caps = transform_caps;
  klass->unpacked_form = repack::UnpackedForm::adjustable_luminance;
  klass->begin_frame = begin_with_channels;
}

}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(cudahistequalize, "cudahistequalize", GST_RANK_NONE,
                            cudavision::FilterElement<cudavision::EqualizeProcessor>::get_type())
