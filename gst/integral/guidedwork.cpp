// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/integral/guidedwork.h"

#include "gst/base/frameregions.h"

namespace cudavision {
namespace {

class Guided final : public IntegralWork {
 public:
  Guided(Device& device, const FrameFormat& in, const IntegralSettings& settings,
         RegionFinder& finder)
      : filter_(device, in.layout, guided_parameters(settings)),
        regions_(device, in.layout, settings, finder) {}

  void apply(const IntegralSettings& settings) override {
    regions_.set_settings(settings);
    filter_.set_parameters(guided_parameters(settings));
  }

  bool begin_frame(const FrameInfo& frame) override {
    return regions_.select(frame) && !filter_.identity();
  }
  void run(const ConstFrame& in, const Frame& out) override {
    regions_.run(in, out,
                 [&](const ConstFrame& from, const Frame& to, const regions::ActiveCells* active) {
                   filter_.run(from, to, active);
                 });
  }

 private:
  guided::Guided filter_;
  FrameRegions regions_;
};

}  // namespace

std::unique_ptr<IntegralWork> make_guided_work(Device& device, const FrameFormat& in,
                                               const IntegralSettings& settings,
                                               RegionFinder& finder) {
  return std::make_unique<Guided>(device, in, settings, finder);
}

}  // namespace cudavision
