// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cuda/chroma/chroma.h"
#include "cuda/clahe/clahe.h"
#include "cuda/histequalize/histequalize.h"
#include "cuda/histequalize/regionhistogram.h"
#include "cuda/noise/noise.h"
#include "gst/base/filter/filterelement.h"
#include "gst/base/frameclock.h"
#include "gst/histequalize/equalizesettings.h"
#include "gst/histequalize/histogrammessages.h"

namespace cudavision {

/// The processor of cudahistequalize; FilterElement documents its interface.
class EqualizeProcessor {
 public:
  using Settings = EqualizeSettings;
  using Messages = HistogramMessages;

  static constexpr FilterDescription description = {
      "GstCudaHistEqualize",
      "cudahistequalize",
      "CUDA histogram equaliser",
      "Filter/Effect/Video/Hardware",
      "Raises contrast by global or adaptive (CLAHE) histogram equalisation and reports luminance "
      "statistics, on an NVIDIA GPU or the CPU",
      "smaller frames or, with method=clahe, smaller tiles-x and tiles-y"};

  static void add_properties(ElementProperties<Settings>& all);
  static std::string error(const Settings& settings, const FrameFormat& in);
  static void extend_class(GstCudaVisionFilterClass* klass);

  EqualizeProcessor(GstCudaVisionFilter* self, Device& device, const FrameFormat& in,
                    const FrameFormat& out, const Settings& settings);

  void reserve(HistogramMessages& messages) { messages.reserve(format_.layout.bits); }
  /// Applies all settings except tiles_x and tiles_y.
  void apply(const Settings& settings);
  bool begin_frame(const FrameInfo& info);
  void run(const ConstFrame& in, const Frame* out, const FrameInfo& info,
           HistogramMessages* messages);
  void restart();

  /// Stores the property `channels`. Returns true if it has changed.
  bool change_channels(EqualizeChannels channels) {
    return std::exchange(channels_, channels) != channels;
  }
  bool awaits_rgb() const noexcept { return awaits_rgb_; }
  void await_rgb(bool awaits) noexcept { awaits_rgb_ = awaits; }

 private:
  bool is_clahe() const noexcept { return settings_.method == EqualizeMethod::clahe; }
  void update_average(const FrameTimes& times);
  histequalize::RegionHistogram* counted_regions();
  LuminanceNoise measure_noise(const ConstFrame& in);
  /// Equalises to `out` unless it is nullptr, and writes the luminance histogram to `bins` unless
  /// the view is empty. Returns the status of the frame's average, or nullptr.
  const histogramaverage::Status* run(const ConstFrame& in, const Frame* out,
                                      View<std::uint32_t> bins);
  void equalize(const ConstFrame& in, const Frame& out, View<std::uint32_t> bins);
  const histogramaverage::Status* status() const;

  Device& device_;
  const FrameFormat format_;
  const clahe::Tiles tiles_;
  EqualizeSettings settings_;  ///< the last valid settings
  EqualizeChannels channels_;  ///< the value that the caps were negotiated for
  bool awaits_rgb_ = false;
  FrameRegions regions_;
  FrameClock clock_;
  std::optional<histogramaverage::Parameters> average_;  ///< set if the current frame is smoothed
  histequalize::Histogram
      histogram_;  ///< for messages about frames that equalize_ does not process

  // Created when first needed, to save memory.
  std::unique_ptr<histequalize::HistogramEqualize> equalize_;
  std::unique_ptr<clahe::Clahe> clahe_;  ///< recreated when averages are first needed
  std::unique_ptr<chroma::ChromaScale> chroma_;
  std::optional<histequalize::RegionHistogram> region_histogram_;
  std::unique_ptr<noise::Estimate> noise_;
};

}  // namespace cudavision
