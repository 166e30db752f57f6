// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the stages on CUDA; backend.h defines them. Each class is implemented beside its
// kernels in a file of its own. The aggregation has a folder: aggregate/cuda.h.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/backend.h"

namespace cudavision::sgm {

struct CensusArguments;
struct SelectArguments;
struct MapArguments;
struct SpecklesArguments;
struct HolesArguments;

class CensusCuda {
 public:
  CensusCuda(Device& device, const StageConfig& config);
  void run(const SamplePlane& picture, void* features) const;

 private:
  Launcher<CensusArguments>::Kernel kernel_;
  bool clear_border_;
  Launcher<CensusArguments> launch_;
};

class SelectCuda {
 public:
  SelectCuda(Device& device, const StageConfig& config);
  void run(const std::uint16_t* sums, float uniqueness, bool subpixel,
           const Winners& winners) const;

 private:
  /// A kernel and how it is launched. select_right() explains pairs and tasks.
  struct KernelPlan {
    Launcher<SelectArguments>::Kernel kernel;
    unsigned threads;
    std::size_t shared_bytes;
    int pairs, tasks;
  };
  template <class Plan>
  static KernelPlan kernel_plan(int disparities);
  static KernelPlan kernel_plan_for(const StageConfig& config);

  StageConfig config_;
  KernelPlan plan_;
  Launcher<SelectArguments> launch_;
};

/// The stages that visit each pixel of a map once.
class MapsCuda {
 public:
  MapsCuda(Device& device, const StageConfig& config);
  void median(const std::uint16_t* from, std::uint16_t* to) const;
  void check(const SamplePlane& picture, const std::uint16_t* right, bool subpixel, int max_diff,
             std::uint16_t* left) const;
  void write(const std::uint16_t* map, const DisparityScale& scale,
             View<std::uint8_t> disparity) const;
  void write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                        View<std::uint8_t> out) const;

 private:
  MapArguments arguments() const;
  void launch(Launcher<MapArguments>::Kernel kernel, const MapArguments& a) const;

  StageConfig config_;
  Launcher<MapArguments> launch_;
};

class SpecklesCuda {
 public:
  /// scratch has 8 bytes for each pixel.
  SpecklesCuda(Device& device, const StageConfig& config, void* scratch);
  void run(int size, int most_step, std::uint16_t* map) const;

 private:
  StageConfig config_;
  void* scratch_;
  Launcher<SpecklesArguments> launch_;
};

class HolesCuda {
 public:
  /// scratch has 2 bytes for each pixel.
  HolesCuda(Device& device, const StageConfig& config, void* scratch);
  void run(std::uint16_t* map) const;

 private:
  StageConfig config_;
  void* scratch_;
  Launcher<HolesArguments> launch_;
};

}  // namespace cudavision::sgm
