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
 * next start or with the next caps. All other properties except the device's may change at any
 * time, also through a #GstControlSource.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahistequalize ! videoconvert ! autovideosink
 * ]| Equalises the pictures of a camera.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahistequalize method=clahe clip-limit=3 !
 * videoconvert ! autovideosink
 * ]| Equalises them locally, without amplifying noise.
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
 * * `scene-cut` (#gboolean): with #GstCudaHistEqualize:smoothing-time, the average has restarted at
 *   a scene cut since the last message
 * * `bin-count` (#guint): number of possible luminances, 2^bits
 * * `bins` (#GBytes): the luminance histogram, `bin-count` numbers of type #guint64 in native byte
 *   order
 *
 * Since: 0.2.0
 */
#include <algorithm>

#include "gst/core/caps.h"
#include "gst/histequalize/equalizeprocessor.h"

namespace cudavision {
namespace {

using Equalize = FilterElement<EqualizeProcessor>;

/* Caps */

// Returns the part of caps with RGB of 8 bits.
Caps rgb_caps_of(const GstCaps* caps) {
  Caps rgb(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    Structure structure(gst_structure_copy(gst_caps_get_structure(caps, i)));
    Formats formats = formats_of(structure.get());
    formats.erase(std::remove_if(formats.begin(), formats.end(),
                                 [](GstVideoFormat format) {
                                   const auto* info = gst_video_format_get_info(format);
                                   return !GST_VIDEO_FORMAT_INFO_IS_RGB(info) ||
                                          depth_of(format) != 8;
                                 }),
                  formats.end());
    if (formats.empty())
      continue;
    set_formats(structure.get(), formats);
    gst_caps_append_structure_full(rgb.get(), structure.release(),
                                   gst_caps_features_copy(gst_caps_get_features(caps, i)));
  }
  return rgb;
}

// With channels=rgb, asks upstream for RGB, e.g. from videoconvert. If that fails, configure()
// reports an error.
GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                        GstCaps* filter) {
  GstCaps* possible = Equalize::parent_class()->transform_caps(trans, direction, caps, filter);
  // The filter has the caps that upstream can send.
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

// Upstream elements that can send any caps, such as appsrc, do not convert.
bool upstream_can_give_rgb(GstBaseTransform* trans) {
  GstPad* sink = GST_BASE_TRANSFORM_SINK_PAD(trans);
  const Caps taken(gst_pad_get_pad_template_caps(sink));
  const Caps given = peer_caps(sink, nullptr);
  return !gst_caps_is_any(given.get()) &&
         gst_caps_can_intersect(given.get(), rgb_caps_of(taken.get()).get());
}

/* Frames */

repack::UnpackedForm unpacked_form(GstCudaVisionFilter*) {
  return repack::UnpackedForm::adjustable_luminance;
}

// After a change of channels, upstream may send other caps. Until then there is no warning.
FrameAction begin_with_channels(GstCudaVisionFilter* self, const FrameInfo& info) {
  EqualizeProcessor& processor = *Equalize::processor(self);
  const EqualizeSettings settings = Equalize::settings(self);
  if (processor.change_channels(settings.channels)) {
    GstBaseTransform* trans = GST_BASE_TRANSFORM_CAST(self);
    gst_base_transform_reconfigure_sink(trans);
    processor.await_rgb(settings.channels == EqualizeChannels::rgb && upstream_can_give_rgb(trans));
  }
  const std::string error = Equalize::settings_error(self, settings);
  return Equalize::begin_frame(self, info, settings, error,
                               error.empty() || !processor.awaits_rgb());
}

}  // namespace

void EqualizeProcessor::add_properties(ElementProperties<Settings>& all) {
  constexpr PropertyChange ready = PropertyChange::when_ready;
  all.add({"method", "Method", "Method by which the contrast is raised"}, &Settings::method,
          "GstCudaHistEqualizeMethod",
          {{EqualizeMethod::equalize, "Flatten the histogram of the whole picture with one table",
            "equalize"},
           {EqualizeMethod::clahe,
            "Flatten the histograms of tiles, with limited contrast, and interpolate between them",
            "clahe"}});
  all.add(
      {"channels", "Channels",
       "Channels that are equalised; rgb needs RGB frames of 8 bits, to which videoconvert before "
       "the element converts, and is an error with others"},
      &Settings::channels, "GstCudaHistEqualizeChannels",
      {{EqualizeChannels::luma,
        "Equalise the luminance; in RGB frames, its change is added to red, green and blue alike",
        "luma"},
       {EqualizeChannels::rgb,
        "Equalise red, green and blue independently (RGB formats of 8 bits only)", "rgb"}});
  all.add(
      {"clip-limit", "Clip limit",
       "With method=clahe, the largest rise of the contrast: how many times its mean a bin of a "
       "tile's histogram may hold (0 = unlimited)"},
      &Settings::clip_limit, {0, 65536});
  all.add({"tiles-x", "Tiles across", "With method=clahe, the number of tiles in a row", ready},
          &Settings::tiles_x, clahe::Tiles::range);
  all.add({"tiles-y", "Tiles down", "With method=clahe, the number of tiles in a column", ready},
          &Settings::tiles_y, clahe::Tiles::range);
  all.add({"strength", "Strength",
           "Weight of the equalised picture in the output (0 = the input, 1 = fully equalised)"},
          &Settings::strength, {0, 1});
  all.add({"chroma", "Chroma",
           "Chroma of YUV frames: keep copies it, scale keeps the saturation of colours when the "
           "luma becomes brighter or darker (no effect on RGB and gray frames)"},
          &Settings::chroma, "GstCudaHistEqualizeChroma",
          {{ChromaMode::keep, "Copy the chroma of the input", "keep"},
           {ChromaMode::scale, "Scale the chroma by the same factor as the luma", "scale"}});
  all.add({"smoothing-time", "Smoothing time",
           "Time constant of the average of the histograms in ns of running time, against flicker "
           "in videos (0 = each frame by itself)"},
          &Settings::smoothing_time);
  all.add({"scene-cut-threshold", "Scene cut threshold",
           "Share of the pixels whose levels must change, or change of the areas, for a scene cut, "
           "where the average begins anew (1 = there are none)"},
          &Settings::scene_cut_threshold, {0, 1});
  all.add({"statistics-region", "Statistics region",
           "Pixels whose histogram makes the table and goes into messages: those of the frame, or "
           "those of the regions (with method=clahe, in messages only)"},
          &Settings::statistics_region, "GstCudaHistEqualizeStatisticsRegion",
          {{StatisticsRegion::frame, "All pixels of the frame", "frame"},
           {StatisticsRegion::regions,
            "The pixels of the regions, where the frame is limited to regions", "regions"}});
  add_message_properties(
      all, "Post an element message with the luminance histogram and statistics of the input");
}

void EqualizeProcessor::extend_class(GstCudaVisionFilterClass* klass) {
  klass->parent_class.transform_caps = transform_caps;
  klass->unpacked_form = unpacked_form;
  klass->begin_frame = begin_with_channels;
}

}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(cudahistequalize, "cudahistequalize", GST_RANK_NONE,
                            cudavision::FilterElement<cudavision::EqualizeProcessor>::get_type())
