// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The stages on CUDA, each in a file of its own; stages.h says what they compute. Those that need
// memory to work in allocate it when they are made. Volumes begin at multiples of 16 bytes.

#include <memory>

#include "cuda/sgm/backend.h"

namespace cudavision::sgm {

class CensusCuda {
 public:
  virtual ~CensusCuda() = default;
  virtual void run(const SamplePlane& picture, void* features) const = 0;
};
std::unique_ptr<CensusCuda> make_census_cuda(Device& device, const Config& config);

class AggregateCuda {
 public:
  virtual ~AggregateCuda() = default;
  virtual void run(const SamplePlane& picture, const void* left, const void* right,
                   const Penalties& penalties, std::uint16_t* sums) const = 0;
};
/// scratch: 8 bytes for each pixel.
std::unique_ptr<AggregateCuda> make_aggregate_cuda(Device& device, const Config& config,
                                                   void* scratch);

class SelectCuda {
 public:
  virtual ~SelectCuda() = default;
  virtual void run(const std::uint16_t* sums, float uniqueness, bool subpixel,
                   const Stages::Winners& winners) const = 0;
};
std::unique_ptr<SelectCuda> make_select_cuda(Device& device, const Config& config);

/// What looks at each pixel of a map once.
class MapsCuda {
 public:
  virtual ~MapsCuda() = default;
  virtual void median(const std::uint16_t* from, std::uint16_t* to) const = 0;
  virtual void check(const SamplePlane& picture, const std::uint16_t* right, bool subpixel,
                     int max_diff, std::uint16_t* left) const = 0;
  virtual void write(const std::uint16_t* map, const DisparityScale& scale,
                     View<std::uint8_t> disparity) const = 0;
  virtual void write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                                View<std::uint8_t> out) const = 0;
};
std::unique_ptr<MapsCuda> make_maps_cuda(Device& device, const Config& config);

class SpecklesCuda {
 public:
  virtual ~SpecklesCuda() = default;
  virtual void run(int size, int most_step, std::uint16_t* map) const = 0;
};
/// scratch: 8 bytes for each pixel.
std::unique_ptr<SpecklesCuda> make_speckles_cuda(Device& device, const Config& config,
                                                 void* scratch);

class HolesCuda {
 public:
  virtual ~HolesCuda() = default;
  virtual void run(std::uint16_t* map) const = 0;
};
/// scratch: 2 bytes for each pixel.
std::unique_ptr<HolesCuda> make_holes_cuda(Device& device, const Config& config, void* scratch);

}  // namespace cudavision::sgm
