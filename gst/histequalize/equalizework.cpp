// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/histequalize/equalizework.h"

namespace cudavision {
namespace {

template <class SmoothedEqualizer>
void restart(SmoothedEqualizer& equalizer) {
  if (equalizer.operation)
    equalizer.operation->restart();
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
  const bool smoothed = settings.smoothing_time > 0;
  if (settings.method == EqualizeMethod::clahe) {
    const clahe::Parameters parameters = clahe_parameters(settings, format_);
    if (smoothed)
      smoothed_clahe_.update(parameters, device_, format_.layout, tiles_);
    else
      clahe_.update(parameters, device_, format_.layout, tiles_);
  } else {
    const histequalize::Parameters parameters = equalize_parameters(settings, format_);
    if (smoothed || settings.counts_regions())
      smoothed_equalize_.update(parameters, device_, format_.layout);
    else
      equalize_.update(parameters, device_, format_.layout);
  }
  regions_.set_settings(settings);
  settings_ = settings;
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
    restart(smoothed_equalize_);
  else
    restart(smoothed_clahe_);
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
  histequalize::RegionHistogram* const regions = counted_regions();
  if (is_clahe() && average_)
    smoothed_clahe_.operation->run(in, out, *average_);
  else if (is_clahe())
    clahe_.operation->run(in, out);
  else if (average_ || regions)
    // With its default parameters, each frame begins a new average.
    smoothed_equalize_.operation->run(in, out, average_.value_or(histogramaverage::Parameters()),
                                      bins, regions);
  else
    equalize_.operation->run(in, out, bins);
}

histequalize::RegionHistogram* EqualizeWork::counted_regions() {
  return settings_.counts_regions() ? &*region_histogram_ : nullptr;
}

const histogramaverage::Status* EqualizeWork::status() const {
  if (!average_)
    return nullptr;
  return is_clahe() ? smoothed_clahe_.operation->status() : smoothed_equalize_.operation->status();
}

void EqualizeWork::restart_average() {
  restart(smoothed_equalize_);
  restart(smoothed_clahe_);
  clock_.reset();
}

}  // namespace cudavision
