// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/integralwork.h"

#include <cstdint>

#include "gst/base/frameregions.h"
#include "gst/integral/guidedwork.h"

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
        parameters_(statistics_parameters(output_, settings)),
        statistics_(device, in.layout, out.layout.bits, parameters_) {}

  void apply(const IntegralSettings& settings) override {
    const localstatistics::Parameters parameters = statistics_parameters(output_, settings);
    if (parameters == parameters_)
      return;
    statistics_.set_parameters(parameters);
    parameters_ = parameters;
  }

  void run(const ConstFrame& in, const Frame& out) override { statistics_.run(in, out.planes[0]); }

 private:
  const IntegralOutput output_;
  localstatistics::Parameters parameters_;
  localstatistics::LocalStatistics statistics_;
};

class Denoising final : public IntegralWork {
 public:
  Denoising(Device& device, const FrameFormat& in, const IntegralSettings& settings,
            RegionFinder& finder)
      : parameters_(denoise_parameters(settings)),
        denoise_(device, in.layout, parameters_),
        regions_(device, in.layout, settings, finder) {}

  void apply(const IntegralSettings& settings) override {
    regions_.set_settings(settings);
    const nlmeans::Parameters parameters = denoise_parameters(settings);
    if (parameters == parameters_)
      return;
    denoise_.set_parameters(parameters);
    parameters_ = parameters;
  }

  bool begin_frame(const FrameInfo& frame) override {
    return regions_.select(frame) && !denoise_.identity();
  }
  void run(const ConstFrame& in, const Frame& out) override {
    regions_.run(in, out,
                 [&](const ConstFrame& from, const Frame& to, const regions::ActiveCells* active) {
                   denoise_.run(from, to, active);
                 });
  }

 private:
  nlmeans::Parameters parameters_;
  nlmeans::NlMeans denoise_;
  FrameRegions regions_;
};

}  // namespace

std::unique_ptr<IntegralWork> make_integral_work(Device& device, const FrameFormat& in,
                                                 const FrameFormat& out, const OutputForm& form,
                                                 const IntegralSettings& settings,
                                                 RegionFinder& finder) {
  if (form.output == IntegralOutput::denoise)
    return std::make_unique<Denoising>(device, in, settings, finder);
  if (form.output == IntegralOutput::guided)
    return make_guided_work(device, in, settings, finder);
  if (!form.is_table())
    return std::make_unique<Statistics>(device, in, out, form, settings);
  if (out.is_video())
    return std::make_unique<TablePicture>(device, in, out, form);
  return std::make_unique<Table>(device, in, form);
}

}  // namespace cudavision
