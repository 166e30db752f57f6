// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/integralwork.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "cuda/noise/noise.h"
#include "gst/base/frameregions.h"
#include "gst/integral/framewindow.h"
#include "gst/integral/guidedwork.h"
#include "gst/integral/noisemessages.h"

namespace cudavision {
namespace {

class Table final : public IntegralWork {
 public:
  Table(Device& device, const FrameFormat& in, const OutputForm& form)
      : device_(device),
        element_bytes_(bytes_of(form.element_for(in.layout))),
        integral_(
            device, in.layout,
            {form.kind(), form.element_for(in.layout), form.layout == TableLayout::same_size}) {}

  void run(const ConstFrame& in, const Frame& out) override {
    const View<std::uint8_t>& table = out.planes[0];
    if (is_aligned(table)) {
      integral_.run(in, table);
    } else {
      integral_.run(in, own_table(table));
      device_.copy(own_table(table), table);
    }
  }

 private:
  bool is_aligned(const View<std::uint8_t>& table) const {
    return reinterpret_cast<std::uintptr_t>(table.data) % element_bytes_ == 0 &&
           table.pitch % static_cast<std::ptrdiff_t>(element_bytes_) == 0;
  }

  // Returns a table of the same shape in our own memory, for which downstream's memory may not be
  // aligned.
  View<std::uint8_t> own_table(const View<std::uint8_t>& table) {
    if (!memory_.data())
      memory_ = device_.allocate(static_cast<std::size_t>(table.width) * table.height);
    return {memory_.as<std::uint8_t>(), table.width, table.height, table.width};
  }

  Device& device_;
  const std::size_t element_bytes_;
  integral::Integral integral_;
  Buffer memory_;  // allocated with the first table that needs it
};

class TablePicture final : public IntegralWork {
 public:
  TablePicture(Device& device, const FrameFormat& in, const FrameFormat& out,
               const OutputForm& form)
      : picture_(device, in.layout, form.kind(), form.layout == TableLayout::same_size,
                 out.layout.bits) {}

  void run(const ConstFrame& in, const Frame& out) override { picture_.run(in, out.planes[0]); }

 private:
  integral::IntegralPicture picture_;
};

class Statistics final : public IntegralWork {
 public:
  Statistics(Device& device, const FrameFormat& in, const FrameFormat& out, const OutputForm& form,
             const IntegralSettings& settings)
      : output_(form.output),
        limited_range_(in.low > 0),
        parameters_(statistics_parameters(output_, settings, limited_range_)),
        statistics_(device, in.layout, out.layout.bits, parameters_) {}

  void apply(const IntegralSettings& settings) override {
    const localstatistics::Parameters parameters =
        statistics_parameters(output_, settings, limited_range_);
    if (parameters == parameters_)
      return;
    statistics_.set_parameters(parameters);
    parameters_ = parameters;
  }

  void run(const ConstFrame& in, const Frame& out) override { statistics_.run(in, out.planes[0]); }

 private:
  const IntegralOutput output_;
  const bool limited_range_;
  localstatistics::Parameters parameters_;
  localstatistics::LocalStatistics statistics_;
};

class Denoising final : public IntegralWork {
 public:
  Denoising(Device& device, const FrameFormat& in, const IntegralSettings& settings,
            RegionFinder& finder, Device* arrivals)
      : frames_(arrivals ? settings.denoise_frames : 1),
        parameters_(parameters_for(settings, frames_)),
        layout_(in.layout),
        noise_(device, in.layout),
        denoise_(device, in.layout, parameters_),
        regions_(device, in.layout, settings, finder) {
    if (frames_ > 1)
      window_.emplace(*arrivals, device, in.layout, frames_);
  }

  void apply(const IntegralSettings& settings) override {
    regions_.set_settings(settings);
    set(parameters_for(settings, frames_));
  }

  bool begin_frame(const FrameInfo& frame) override {
    measured_ = false;
    set_frames(frames_);  // run() finds out how many there are
    return regions_.select(frame) && !denoise_.identity();
  }
  void run(const ConstFrame& in, const Frame& out) override {
    std::span<const ConstFrame> neighbours;
    if (window_)
      neighbours = window_->neighbours();
    set_frames(static_cast<int>(neighbours.size()) + 1);
    // This may be called twice for a frame, which counts once in the average.
    if (denoise_.needs_noise() && !std::exchange(measured_, true))
      noise_.run(in);
    regions_.run(in, out,
                 [&](const ConstFrame& from, const Frame& to, const regions::ActiveCells* active) {
                   denoise_.run(from, neighbours, to, active, noise_.states());
                 });
  }

  void report_noise(const ConstFrame& in, const FrameTimes& times,
                    NoiseMessages& messages) override {
    if (!std::exchange(measured_, false))
      noise_.run(in);
    messages.read_back(times, layout_, parameters_, noise_.states());
  }
  void restart() noexcept override { noise_.restart(); }
  FrameWindow* window() override { return window_ ? &*window_ : nullptr; }

 private:
  static nlmeans::Parameters parameters_for(const IntegralSettings& settings, int frames) {
    nlmeans::Parameters parameters = denoise_parameters(settings);
    parameters.frames = frames;
    return parameters;
  }

  void set(const nlmeans::Parameters& parameters) {
    if (parameters == parameters_)
      return;
    denoise_.set_parameters(parameters);
    parameters_ = parameters;
  }

  void set_frames(int frames) {
    nlmeans::Parameters parameters = parameters_;
    parameters.frames = frames;
    set(parameters);
  }

  const int frames_;
  nlmeans::Parameters parameters_;  ///< with the frames that were there for the last one
  FrameLayout layout_;
  noise::Estimate noise_;
  bool measured_ = false;  ///< the noise of the current frame
  nlmeans::NlMeans denoise_;
  FrameRegions regions_;
  std::optional<FrameWindow> window_;
};

}  // namespace

std::unique_ptr<IntegralWork> make_integral_work(Device& device, const FrameFormat& in,
                                                 const FrameFormat& out, const OutputForm& form,
                                                 const IntegralSettings& settings,
                                                 RegionFinder& finder, Device* arrivals) {
  if (form.output == IntegralOutput::denoise)
    return std::make_unique<Denoising>(device, in, settings, finder, arrivals);
  if (form.output == IntegralOutput::guided)
    return make_guided_work(device, in, settings, finder);
  if (!form.is_table())
    return std::make_unique<Statistics>(device, in, out, form, settings);
  if (out.is_video())
    return std::make_unique<TablePicture>(device, in, out, form);
  return std::make_unique<Table>(device, in, form);
}

}  // namespace cudavision
