// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>

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

/// cudahistequalize: see FilterElement.
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
  static std::string error(const Settings& settings, const FrameFormat& in) {
    return validation_error(settings, in);
  }
  static void extend_class(GstCudaVisionFilterClass* klass);

  EqualizeProcessor(GstCudaVisionFilter* self, Device& device, const FrameFormat& in,
                    const FrameFormat& out, const Settings& settings);

  void reserve(HistogramMessages& messages) { messages.reserve(format_.layout.bits); }
  /// Does not change tiles_x and tiles_y.
  void apply(const Settings& settings);
  bool begin_frame(const FrameInfo& info);
  void run(const ConstFrame& in, const Frame* out, const FrameInfo& info,
           HistogramMessages* messages);
  void restart();

  /// Returns true if the property `channels` changes.
  bool change_channels(EqualizeChannels channels);
  bool awaits_rgb() const noexcept { return awaits_rgb_; }
  void await_rgb(bool awaits) noexcept { awaits_rgb_ = awaits; }

 private:
  void apply(const histequalize::Parameters& parameters);
  void apply(const clahe::Parameters& parameters, clahe::Averages averages);
  bool is_clahe() const noexcept { return settings_.method == EqualizeMethod::clahe; }
  void update_average(const FrameTimes& times);
  void update_region_histogram();
  histequalize::RegionHistogram* counted_regions();
  LuminanceNoise measure_noise(const ConstFrame& in);
  /// Equalises to out and counts luminance in bins, unless they are nullptr or without data.
  /// Returns the status of the frame's average, or nullptr.
  const histogramaverage::Status* run(const ConstFrame& in, const Frame* out,
                                      View<std::uint32_t> bins);
  void equalize(const ConstFrame& in, const Frame& out, View<std::uint32_t> bins);
  const histogramaverage::Status* status() const;

  Device& device_;
  const FrameFormat format_;
  const clahe::Tiles tiles_;
  EqualizeSettings settings_;  ///< the last valid settings
  EqualizeChannels channels_;  ///< in the negotiated caps
  bool awaits_rgb_ = false;
  FrameRegions regions_;
  FrameClock clock_;  ///< of the frames in an average
  /// The smoothing of the current frame, if any.
  std::optional<histogramaverage::Parameters> average_;

  // Created when first needed, because of large tables; CLAHE again when it first needs averages.
  std::unique_ptr<histequalize::HistogramEqualize> equalize_;
  std::unique_ptr<clahe::Clahe> clahe_;
  /// Created when the first settings with chroma=scale come, if the frames have chroma.
  std::unique_ptr<chroma::ChromaScale> chroma_;

  /// For frames that are not counted while they are equalised.
  histequalize::Histogram histogram_;
  /// Created when statistics-region is first used.
  std::optional<histequalize::RegionHistogram> region_histogram_;
  std::unique_ptr<noise::Estimate> noise_;
};

}  // namespace cudavision
