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
#include "gst/base/filterelement.h"
#include "gst/base/frameclock.h"
#include "gst/histequalize/equalizesettings.h"
#include "gst/histequalize/histogrammessages.h"

namespace cudavision {

/// cudahistequalize: see FilterElement. Equalises and counts frames with the operations that the
/// settings choose.
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
  /// tiles_x and tiles_y stay those of the constructor.
  void apply(const Settings& settings);
  bool begin_frame(const FrameInfo& info);
  void run(const ConstFrame& in, const Frame* out, const FrameInfo& info,
           HistogramMessages* messages);
  /// The next frame begins a new average.
  void restart();

  /// Takes the property `channels` of the next frame. Returns true if that differs from the last
  /// one.
  bool change_channels(EqualizeChannels channels);
  /// Upstream has been asked for RGB, and can give it.
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
  /// Equalises the frame into out, unless out is nullptr, and counts its luminance in bins, unless
  /// they have no data. Returns the status of the average over time in which the frame takes part,
  /// or nullptr.
  const histogramaverage::Status* run(const ConstFrame& in, const Frame* out,
                                      View<std::uint32_t> bins);
  void equalize(const ConstFrame& in, const Frame& out, View<std::uint32_t> bins);
  const histogramaverage::Status* status() const;

  Device& device_;
  const FrameFormat format_;
  const clahe::Tiles tiles_;
  EqualizeSettings settings_;  ///< in force: the last valid ones
  EqualizeChannels channels_;  ///< for which the caps were negotiated
  bool awaits_rgb_ = false;
  FrameRegions regions_;
  FrameClock clock_;  ///< of the frames in an average
  /// The smoothing of the current frame. None if it is equalised by itself.
  std::optional<histogramaverage::Parameters> average_;

  // Each is made when the first settings need it, because its tables can be large; CLAHE once more
  // when the first settings need its averages.
  std::unique_ptr<histequalize::HistogramEqualize> equalize_;
  std::unique_ptr<clahe::Clahe> clahe_;
  /// Created when the first settings with chroma=scale come, if the frames have chroma.
  std::unique_ptr<chroma::ChromaScale> chroma_;

  /// Counts the frames that no operation counts while it equalises them.
  histequalize::Histogram histogram_;
  /// Created with the first frame of which only regions count.
  std::optional<histequalize::RegionHistogram> region_histogram_;
  /// Created with the first message.
  std::unique_ptr<noise::Estimate> noise_;
};

}  // namespace cudavision
