// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/histequalize/equalizeprocessor.h"

#include <cmath>

namespace cudavision {
namespace {

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

template <class Operation>
void restart_average(const std::unique_ptr<Operation>& operation) {
  if (operation)
    operation->restart();
}

}  // namespace

std::string EqualizeProcessor::error(const Settings& settings, const FrameFormat& in) {
  if (settings.channels != EqualizeChannels::rgb || in.layout.find(Role::red) >= 0)
    return {};
  return std::string("channels=rgb needs RGB frames") +
         (GST_VIDEO_INFO_IS_RGB(&in.info) ? " of 8 bits" : "") + ", but the input is " +
         in.description() + ": set channels=luma, or put videoconvert before the element.";
}

EqualizeProcessor::EqualizeProcessor(GstCudaVisionFilter* self, Device& device,
                                     const FrameFormat& in, const FrameFormat&,
                                     const Settings& settings)
    : device_(device),
      format_(in),
      tiles_{settings.tiles_x, settings.tiles_y},
      channels_(settings.channels),
      regions_(gst_cuda_vision_filter_session(self), in.layout, settings,
               gst_cuda_vision_filter_regions(self)),
      clock_(in.info),
      histogram_(device, in.layout) {
  apply(settings);
}

void EqualizeProcessor::apply(const EqualizeSettings& settings) {
  const histequalize::Parameters parameters = equalize_parameters(settings, format_);
  const bool averages = settings.smoothing_time > 0;
  if (settings.method == EqualizeMethod::clahe) {
    if (clahe_ && (!averages || clahe_->keeps_averages()))
      clahe_->set_parameters({parameters, settings.clip_limit});
    else
      clahe_ = std::make_unique<clahe::Clahe>(
          device_, format_.layout, tiles_, clahe::Parameters{parameters, settings.clip_limit},
          averages ? clahe::Averages::kept : clahe::Averages::none);
  } else if (equalize_) {
    equalize_->set_parameters(parameters);
  } else {
    equalize_ =
        std::make_unique<histequalize::HistogramEqualize>(device_, format_.layout, parameters);
  }
  if (settings.chroma == ChromaMode::scale && !chroma_ &&
      chroma::ChromaScale::is_needed(format_.layout))
    chroma_ = std::make_unique<chroma::ChromaScale>(device_, format_.layout,
                                                    chroma::Parameters{format_.low > 0});
  regions_.set_settings(settings);
  settings_ = settings;
}

bool EqualizeProcessor::begin_frame(const FrameInfo& info) {
  const bool selected = regions_.select(info);
  if (settings_.counts_regions() && region_histogram_)
    region_histogram_->set_parameters(regions_.parameters(), regions_.distances());
  else if (settings_.counts_regions())
    region_histogram_.emplace(device_, format_.layout, regions_.parameters(), regions_.distances());
  if (!selected || settings_.blend() == 0)
    return false;
  update_average(info.times);
  return true;
}

void EqualizeProcessor::update_average(const FrameTimes& times) {
  average_.reset();
  if (settings_.smoothing_time == 0)
    return restart();
  // If the method changes and later changes back, the old average must not continue.
  if (is_clahe())
    restart_average(equalize_);
  else
    restart_average(clahe_);
  histogramaverage::Parameters& parameters = average_.emplace();
  parameters.weight = histogramaverage::weight_of(clock_.elapsed(times), settings_.smoothing_time);
  parameters.cut_threshold =
      static_cast<int>(std::lrint(histogramaverage::whole_weight * settings_.scene_cut_threshold));
}

void EqualizeProcessor::run(const ConstFrame& in, const Frame* out, const FrameInfo& info,
                            HistogramMessages* messages) {
  if (!messages) {
    run(in, out, {});
    return;
  }
  const LuminanceNoise noise = measure_noise(in);
  messages->read_back(info.times, run(in, out, messages->bins()), noise);
}

const histogramaverage::Status* EqualizeProcessor::run(const ConstFrame& in, const Frame* out,
                                                       View<std::uint32_t> bins) {
  if (out)
    regions_.run(in, *out,
                 [&](const ConstFrame& from, const Frame& to, const regions::ActiveCells*) {
                   equalize(from, to, bins);
                 });
  const bool counted = out && !is_clahe();
  if (bins && !counted) {
    if (histequalize::RegionHistogram* regions = counted_regions())
      regions->run(in, bins);
    else
      histogram_.run(in, bins);
  }
  return out ? status() : nullptr;
}

// CLAHE does not write `bins`, because it counts per tile only.
void EqualizeProcessor::equalize(const ConstFrame& in, const Frame& out, View<std::uint32_t> bins) {
  if (is_clahe())
    clahe_->run(in, out, average_);
  else
    equalize_->run(in, out, bins, average_, counted_regions());
  if (chroma_ && settings_.chroma == ChromaMode::scale)
    chroma_->run(in, out);
}

histequalize::RegionHistogram* EqualizeProcessor::counted_regions() {
  return settings_.counts_regions() ? &*region_histogram_ : nullptr;
}

const histogramaverage::Status* EqualizeProcessor::status() const {
  if (!average_)
    return nullptr;
  return is_clahe() ? clahe_->status() : equalize_->status();
}

LuminanceNoise EqualizeProcessor::measure_noise(const ConstFrame& in) {
  if (!noise_)
    noise_ = std::make_unique<noise::Estimate>(device_, format_.layout);
  noise_->restart();
  noise_->run(in);
  LuminanceNoise noise{noise_->states(), {}};
  for (int c = 0; c < format_.layout.channel_count; ++c) {
    const Role role = format_.layout.channels[c].role;
    noise.counted[c] = role != Role::chroma && role != Role::alpha;
  }
  return noise;
}

void EqualizeProcessor::restart() {
  restart_average(equalize_);
  restart_average(clahe_);
  clock_.reset();
}

}  // namespace cudavision
