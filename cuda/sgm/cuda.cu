// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of SgmStereo.

#include "cuda/sgm/aggregate/cuda.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

class StagesCuda final : public Stages {
 public:
  StagesCuda(Device& device, const StageConfig& config)
      : scratch_(device.allocate(8 * static_cast<std::size_t>(config.pixels()))),
        census_(device, config),
        aggregate_(device, config, scratch_.data()),
        select_(device, config),
        maps_(device, config),
        speckles_(device, config, scratch_.data()),
        holes_(device, config, scratch_.data()),
        refine_(device, config) {}

  void census(const SamplePlane& picture, void* features) override {
    census_.run(picture, features);
  }
  void aggregate(const SamplePlane& picture, const void* left, const void* right,
                 const Penalties& penalties, std::uint16_t* sums) override {
    aggregate_.run(picture, left, right, penalties, sums);
  }
  void select(const std::uint16_t* sums, float uniqueness, Subpixel subpixel,
              const Winners& winners) override {
    select_.run(sums, uniqueness, subpixel, winners);
  }
  void median(const std::uint16_t* from, std::uint16_t* to) override { maps_.median(from, to); }
  void check(const SamplePlane& picture, const std::uint16_t* right, bool subpixel, int max_diff,
             std::uint16_t* left) override {
    maps_.check(picture, right, subpixel, max_diff, left);
  }
  void remove_speckles(int size, int most_step, std::uint16_t* map) override {
    speckles_.run(size, most_step, map);
  }
  void write(const std::uint16_t* map, const DisparityScale& scale,
             View<std::uint8_t> disparity) override {
    maps_.write(map, scale, disparity);
  }
  void write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                        View<std::uint8_t> out) override {
    refine_.write_confidence(map, confidence, out);
  }
  void fill_holes(std::uint16_t* map) override { holes_.run(map); }
  void refine(const SamplePlane& picture, const std::uint16_t* from, std::uint16_t* to) override {
    refine_.run(picture, from, to);
  }

 private:
  Buffer scratch_;  // shared by the stages, which run one after the other
  CensusCuda census_;
  AggregateCuda aggregate_;
  SelectCuda select_;
  MapsCuda maps_;
  SpecklesCuda speckles_;
  HolesCuda holes_;
  RefineCuda refine_;
};

}  // namespace

std::unique_ptr<Stages> make_stages_cuda(Device& device, const StageConfig& config) {
  return std::make_unique<StagesCuda>(device, config);
}

}  // namespace cudavision::sgm
