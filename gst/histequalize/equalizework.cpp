// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/histequalize/equalizework.h"

namespace cudavision {
namespace {

template <class Operation>
void restart(const std::unique_ptr<Operation>& operation) {
  if (operation)
    operation->restart();
}

}  // namespace

EqualizeWork::EqualizeWork(Device& device, const FrameFormat& format,
                           const EqualizeSettings& settings, RegionFinder& finder)
    : device_(device),
      format_(format),
      tiles_{settings.tiles_x, settings.tiles_y},
      regions_(device, format.layout, settings, finder),
      clock_(format.info),
      histogram_(device, format.layout) {
  apply(settings);
}

void EqualizeWork::apply(const EqualizeSettings& settings) {
  if (settings.method == EqualizeMethod::clahe)
    apply(clahe_parameters(settings, format_),
          settings.smoothing_time > 0 ? clahe::Averages::kept : clahe::Averages::none);
  else
    apply(equalize_parameters(settings, format_));
  regions_.set_settings(settings);
  settings_ = settings;
}

void EqualizeWork::apply(const histequalize::Parameters& parameters) {
  if (equalize_)
    equalize_->set_parameters(parameters);
  else
    equalize_ =
        std::make_unique<histequalize::HistogramEqualize>(device_, format_.layout, parameters);
}

void EqualizeWork::apply(const clahe::Parameters& parameters, clahe::Averages averages) {
  if (clahe_ && (averages == clahe::Averages::none || clahe_->keeps_averages()))
    clahe_->set_parameters(parameters);
  else
    clahe_ = std::make_unique<clahe::Clahe>(device_, format_.layout, tiles_, parameters, averages);
}

bool EqualizeWork::begin_frame(const FrameInfo& info) {
  const bool selected = regions_.select(info);
  if (settings_.counts_regions())
    update_region_histogram();
  if (!selected || settings_.blend() == 0)
    return false;
  update_average(info.times);
  return true;
}

void EqualizeWork::update_region_histogram() {
  if (region_histogram_)
    region_histogram_->set_parameters(regions_.parameters());
  else
    region_histogram_.emplace(device_, format_.layout, regions_.parameters());
}

// Decides whether and how the frame takes part in an average.
void EqualizeWork::update_average(const FrameTimes& times) {
  average_.reset();
  if (settings_.smoothing_time == 0)
    return restart_average();
  // An average must not go on where it ended before the method changed.
  if (is_clahe())
    restart(equalize_);
  else
    restart(clahe_);
  average_ = average_parameters(settings_, clock_.elapsed(times));
}

const histogramaverage::Status* EqualizeWork::run(const ConstFrame& in, const Frame* out,
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

// CLAHE, which has the histograms of tiles only, leaves bins alone.
void EqualizeWork::equalize(const ConstFrame& in, const Frame& out, View<std::uint32_t> bins) {
  if (is_clahe())
    clahe_->run(in, out, average_);
  else
    equalize_->run(in, out, bins, average_, counted_regions());
}

histequalize::RegionHistogram* EqualizeWork::counted_regions() {
  return settings_.counts_regions() ? &*region_histogram_ : nullptr;
}

const histogramaverage::Status* EqualizeWork::status() const {
  if (!average_)
    return nullptr;
  return is_clahe() ? clahe_->status() : equalize_->status();
}

LuminanceNoise EqualizeWork::measure_noise(const ConstFrame& in) {
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

void EqualizeWork::restart_average() {
  restart(equalize_);
  restart(clahe_);
  clock_.reset();
}

}  // namespace cudavision
