// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/denoise/denoiseprocessor.h"

namespace cudavision {
namespace {

nlmeans::Parameters parameters_of(const DenoiseProcessor::Settings& settings, int frames) {
  nlmeans::Parameters parameters;
  parameters.search = settings.search_size;
  parameters.patch = settings.patch_size;
  parameters.strength = settings.strength;
  parameters.chroma_strength = settings.chroma_strength;
  parameters.frames = frames;
  return parameters;
}

}  // namespace

void DenoiseProcessor::add_properties(ElementProperties<Settings>& all) {
  using Ranges = nlmeans::Parameters::Ranges;
  all.add({"strength", "Strength",
           "Filter strength in 8-bit grey levels: how much the surroundings of averaged pixels may "
           "differ (-1 = automatic, from the measured noise; 0 = luma and RGB stay unchanged)"},
          &Settings::strength, {nlmeans::Parameters::automatic_strength, Ranges::strength.max});
  all.add({"chroma-strength", "Chroma strength",
           "Filter strength for the chroma of YUV (-1 = the same as strength or, if strength is "
           "automatic, from the measured noise of the chroma; 0 = chroma stays unchanged)"},
          &Settings::chroma_strength, {nlmeans::Parameters::same_strength, Ranges::strength.max});
  all.add({"search-size", "Search size",
           "Side of the square that is searched for similar pixels, in pixels; must be odd"},
          &Settings::search_size, Ranges::search);
  all.add({"patch-size", "Patch size",
           "Side of the square patches that are compared, in pixels; must be odd"},
          &Settings::patch_size, Ranges::patch);
  all.add({"frames", "Frames",
           "Number of frames to search for similar pixels; must be odd: the current frame, and as "
           "many before as after it. Later frames delay the output (1 = only the current frame)"},
          &Settings::frames, Ranges::frames);
  add_message_properties(all, "Post an element message with the measured noise and the strengths");
}

std::string DenoiseProcessor::error(const Settings& settings, const FrameFormat&) {
  for (const std::string& error : {odd_size_error("search-size", settings.search_size),
                                   odd_size_error("patch-size", settings.patch_size),
                                   odd_size_error("frames", settings.frames)})
    if (!error.empty())
      return error;
  return {};
}

DenoiseProcessor::DenoiseProcessor(GstCudaVisionFilter* self, Device& device, const FrameFormat& in,
                                   const FrameFormat&, const Settings& settings)
    : requested_frames_(settings.frames),
      frames_(is_pulled(self) ? 1 : settings.frames),
      parameters_(parameters_of(settings, frames_)),
      layout_(in.layout),
      noise_(device, in.layout),
      denoise_(device, in.layout, parameters_),
      regions_(gst_cuda_vision_filter_session(self), in.layout, settings,
               gst_cuda_vision_filter_regions(self)) {
  if (frames_ == 1)
    return;
  delay_.emplace(gst_cuda_vision_filter_session(self), in, frames_);
  gst_cuda_vision_filter_set_latency(self, static_cast<std::size_t>(frames_ / 2));
}

void DenoiseProcessor::apply(const Settings& settings) {
  regions_.set_settings(settings);
  parameters_ = parameters_of(settings, frames_);
}

bool DenoiseProcessor::begin_frame(const FrameInfo& info) {
  measured_ = false;
  set_frames(frames_);  // denoise() sets the number of available frames
  if (delay_)
    delay_->search();
  const bool changes = regions_.select(info) && !denoise_.identity();
  // Releases upstream's buffer before the push. For a changed frame, run() calls finish_upload().
  if (delay_ && !changes)
    delay_->finish_upload();
  return changes;
}

void DenoiseProcessor::run(const ConstFrame& in, const Frame* out, const FrameInfo& info,
                           NoiseMessages* messages) {
  if (out)
    denoise(in, *out);
  // Waits for the upload only after denoise(), so that the device has work meanwhile. If the newest
  // frame begins a scene, neighbours() must not include it: select them again and rerun denoise().
  if (delay_ && delay_->finish_upload() && out) {
    delay_->search();
    denoise(in, *out);
  }
  if (!messages)
    return;
  if (!std::exchange(measured_, false))
    noise_.run(in);
  messages->read_back(info.times, layout_, parameters_, noise_.states());
}

void DenoiseProcessor::restart() noexcept {
  noise_.restart();
  if (delay_)
    delay_->clear();
}

void DenoiseProcessor::denoise(const ConstFrame& in, const Frame& out) {
  std::span<const ConstFrame> neighbours;
  if (delay_)
    neighbours = delay_->neighbours();
  set_frames(static_cast<int>(neighbours.size()) + 1);
  // Measures the noise once per frame. At a scene cut, denoise() runs twice for a frame.
  if (denoise_.needs_noise() && !std::exchange(measured_, true))
    noise_.run(in);
  regions_.run(in, out,
               [&](const ConstFrame& from, const Frame& to, const regions::ActiveCells* active) {
                 denoise_.run(from, neighbours, to, active, noise_.states());
               });
}

void DenoiseProcessor::set_frames(int frames) {
  parameters_.frames = frames;
  denoise_.set_parameters(parameters_);
}

}  // namespace cudavision
