// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/histequalize/equalizesettings.h"

#include <cmath>

#include "cuda/chroma/chroma.h"

namespace cudavision {

int EqualizeSettings::blend() const noexcept {
  return static_cast<int>(std::lrint(histequalize::Parameters::Ranges::blend.max * strength));
}

std::string validation_error(const EqualizeSettings& settings, const FrameFormat& format) {
  if (settings.channels == EqualizeChannels::rgb && format.layout.find(Role::red) < 0)
    return std::string("channels=rgb needs RGB frames") +
           (GST_VIDEO_INFO_IS_RGB(&format.info) ? " of 8 bits" : "") + ", but these are " +
           format.description() +
           ": set channels=luma, or put \"videoconvert\" before the element, which then asks it "
           "for "
           "RGB frames.";
  return {};
}

histequalize::Parameters equalize_parameters(const EqualizeSettings& settings,
                                             const FrameFormat& format) {
  using Channels = histequalize::Parameters::Channels;
  histequalize::Parameters parameters;
  parameters.channels =
      settings.channels == EqualizeChannels::rgb ? Channels::each : Channels::luminance;
  parameters.low = format.low;
  parameters.high = format.high;
  parameters.blend = settings.blend();
  parameters.copies_chroma =
      settings.chroma == ChromaMode::keep || !chroma::ChromaScale::is_needed(format.layout);
  return parameters;
}

clahe::Parameters clahe_parameters(const EqualizeSettings& settings, const FrameFormat& format) {
  return {equalize_parameters(settings, format), settings.clip_limit};
}

histogramaverage::Parameters average_parameters(const EqualizeSettings& settings,
                                                GstClockTime elapsed) {
  histogramaverage::Parameters parameters;
  parameters.weight = histogramaverage::weight_of(elapsed, settings.smoothing_time);
  parameters.cut_threshold =
      static_cast<int>(std::lrint(histogramaverage::whole_weight * settings.scene_cut_threshold));
  return parameters;
}

}  // namespace cudavision
