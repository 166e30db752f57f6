// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/denoise/denoiseprocessor.h"

#include <span>
#include <utility>

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

// The property also allows values between 0 and the special value, which are errors.
std::string strength_error(const char* property, double strength, const char* special) {
  constexpr Range<double> known = nlmeans::Parameters::Ranges::strength;
  if (known.contains(strength) || strength == nlmeans::Parameters::automatic_strength)
    return {};
  return std::string(property) + "=" + text_of(strength) + " is out of range: set it to " +
         text_of(known) + ", or to -1 " + special + ".";
}

}  // namespace

void DenoiseProcessor::add_properties(ElementProperties<Settings>& all) {
  using Ranges = nlmeans::Parameters::Ranges;
  all.add(
      {"strength", "Strength",
       "How much the surroundings of two pixels may differ to be averaged, in 8-bit grey levels "
       "(-1 = automatic, by the noise measured in the frames; 0 = frames stay unchanged)"},
      &Settings::strength, {nlmeans::Parameters::automatic_strength, Ranges::strength.max});
  all.add({"chroma-strength", "Chroma strength",
           "The same for the chroma of YUV (-1 = that of strength or, if that is automatic, by the "
           "noise of the chroma; 0 = chroma stays unchanged)"},
          &Settings::chroma_strength, {nlmeans::Parameters::same_strength, Ranges::strength.max});
  all.add({"search-size", "Search size",
           "Side of the square that is searched for similar pixels, in pixels, odd"},
          &Settings::search_size, Ranges::search);
  all.add({"patch-size", "Patch size",
           "Side of the square around each pixel by which pixels are compared, in pixels, odd"},
          &Settings::patch_size, Ranges::patch);
  all.add({"frames", "Frames",
           "Number of frames that are searched for similar pixels, odd: half of the others come "
           "before the frame and half after it, for which it waits (1 = the frame itself)"},
          &Settings::frames, Ranges::frames);
  add_message_properties(all, "Post an element message with the noise and the strengths");
}

std::string DenoiseProcessor::error(const Settings& settings, const FrameFormat&) {
  std::string error = odd_size_error("search-size", settings.search_size,
                                     "is even, but the area that is searched has a pixel in its "
                                     "middle and equally many on either side");
  if (error.empty())
    error = odd_size_error(
        "patch-size", settings.patch_size,
        "is even, but a patch has a pixel in its middle and equally many on either side");
  if (error.empty())
    error = odd_size_error("frames", settings.frames,
                           "is even, but the film that is searched has a frame in its middle and "
                           "equally many on either side");
  if (error.empty())
    error = strength_error("strength", settings.strength, "to have it follow the measured noise");
  if (error.empty())
    error = strength_error("chroma-strength", settings.chroma_strength, "for the same as strength");
  return error;
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
  set_frames(frames_);  // denoise() counts the frames that are available
  if (delay_)
    delay_->search();
  const bool changes = regions_.select(info) && !denoise_.identity();
  // Otherwise run() finishes the upload; upstream must get its buffer back before the push.
  if (delay_ && !changes)
    delay_->finish_upload();
  return changes;
}

void DenoiseProcessor::run(const ConstFrame& in, const Frame* out, const FrameInfo& info,
                           NoiseMessages* messages) {
  if (out)
    denoise(in, *out);
  // The device has work during this wait. A last frame that begins a scene must not be searched.
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
  // After a scene cut this runs twice for a frame, which must count once in the average.
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
