// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The stages on the CPU, each in a file of its own. What these loops compute is the definition: the
// CUDA kernels must compute the same. Those that need memory to work in are classes, which allocate
// it when they are made.

#include <cstddef>
#include <vector>

#include "cuda/core/parallel.h"
#include "cuda/sgm/backend.h"

namespace cudavision::sgm {

class CensusCpu {
 public:
  CensusCpu(Device& device, const Config& config);
  void run(const SamplePlane& picture, void* features) const;

 private:
  template <class Value>
  void run_as(const SamplePlane& picture, std::uint8_t* features) const;

  Config config_;
  Bands bands_;
  std::vector<Buffer> scratch_;  // of each band
};

class HorizontalPaths;
class VerticalPaths;

class AggregateCpu {
 public:
  AggregateCpu(Device& device, const Config& config);
  ~AggregateCpu();
  void run(const SamplePlane& picture, const void* left, const void* right,
           const Penalties& penalties, std::uint16_t* sums) const;

 private:
  std::unique_ptr<HorizontalPaths> horizontal_;
  std::unique_ptr<VerticalPaths> vertical_;
};

class SelectCpu {
 public:
  SelectCpu(Device& device, const Config& config);
  void run(const std::uint16_t* sums, float uniqueness, bool subpixel,
           const Stages::Winners& winners) const;

 private:
  Config config_;
  Bands bands_;
  std::vector<Buffer> scratch_;  // of each band
};

void median_cpu(const Config& config, const std::uint16_t* from, std::uint16_t* to);

void check_cpu(const Config& config, const SamplePlane& picture, const std::uint16_t* right,
               bool subpixel, int max_diff, std::uint16_t* left);

class SpecklesCpu {
 public:
  SpecklesCpu(Device& device, const Config& config);
  void run(int size, int most_step, std::uint16_t* map) const;

 private:
  Config config_;
  Buffer parents_, counts_;
};

class HolesCpu {
 public:
  HolesCpu(Device& device, const Config& config);
  void run(std::uint16_t* map) const;

 private:
  Config config_;
  Buffer has_known_;  // of each row
};

void write_cpu(const Config& config, const std::uint16_t* map, const DisparityScale& scale,
               View<std::uint8_t> disparity);
void write_confidence_cpu(const Config& config, const std::uint16_t* map,
                          const std::uint8_t* confidence, View<std::uint8_t> out);

}  // namespace cudavision::sgm
