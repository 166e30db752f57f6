// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>

#include "cuda/nlmeans/nlmeans.h"
#include "cuda/noise/noise.h"
#include "gst/base/filter/filterelement.h"
#include "gst/denoise/framedelay.h"
#include "gst/denoise/noisemessages.h"

namespace cudavision {

/// The processor of cudadenoise; FilterElement documents its interface.
class DenoiseProcessor {
 public:
  struct Settings : RegionSettings, MessageSettings {
    double strength = nlmeans::Parameters().strength;
    double chroma_strength = nlmeans::Parameters().chroma_strength;
    int search_size = nlmeans::Parameters().search;
    int patch_size = nlmeans::Parameters().patch;
    int frames = nlmeans::Parameters().frames;
  };
  using Messages = NoiseMessages;

  static constexpr FilterDescription description = {
      "GstCudaDenoise",
      "cudadenoise",
      "CUDA denoiser",
      "Filter/Effect/Video/Hardware",
      "Denoises by non-local means, also over several frames, with a strength that can follow the "
      "measured noise, on an NVIDIA GPU or the CPU",
      "smaller frames, or a smaller value of the frames property"};

  static void add_properties(ElementProperties<Settings>& all);
  static std::string error(const Settings& settings, const FrameFormat& in);
  static void extend_class(GstCudaVisionFilterClass* klass);

  DenoiseProcessor(GstCudaVisionFilter* self, Device& device, const FrameFormat& in,
                   const FrameFormat& out, const Settings& settings);

  void reserve(NoiseMessages& messages) { messages.reserve(); }
  void apply(const Settings& settings);
  bool begin_frame(const FrameInfo& info);
  void run(const ConstFrame& in, const Frame* out, const FrameInfo& info, NoiseMessages* messages);
  void restart() noexcept;

  int requested_frames() const noexcept { return requested_frames_; }
  /// Returns nullptr if frames are not delayed.
  FrameDelay* delay() { return delay_ ? &*delay_ : nullptr; }

 private:
  void set_frames(int frames);
  void denoise(const ConstFrame& in, const Frame& out);

  const int requested_frames_;
  const int frames_;                ///< 1 in pull mode, where frames cannot be delayed
  nlmeans::Parameters parameters_;  ///< for the current frame
  const FrameLayout layout_;
  noise::Estimate noise_;
  bool measured_ = false;  ///< noise_ has run for the current frame
  nlmeans::NlMeans denoise_;
  FrameRegions regions_;
  std::optional<FrameDelay> delay_;
};

}  // namespace cudavision
