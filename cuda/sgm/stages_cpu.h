// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The stages on the CPU; backend.h defines them. A stage that needs scratch memory or tables is a
// class that allocates them when it is constructed; the others are functions. The CUDA kernels must
// compute the same bits as these loops.

#include <memory>
#include <vector>

#include "cuda/core/parallel.h"
#include "cuda/sgm/backend.h"

namespace cudavision::sgm {

/// Returns a number of only ones if the condition holds, else 0. Loops that choose between values
/// by such masks are vectorised. GCC 12 turns ?: into a branch if one of the values comes from
/// memory; the winners then took about seven times as long with AVX2.
template <class Number>
[[gnu::always_inline]] inline Number mask_of(bool condition) {
  return static_cast<Number>(-static_cast<int>(condition));
}

class CensusCpu {
 public:
  CensusCpu(Device& device, const StageConfig& config);
  void run(const SamplePlane& picture, void* features) const;
  /// Makes the features of a filtered picture.
  void run_filtered(const SamplePlane& filtered, const NoiseLevel& noise, void* features) const;

 private:
  template <class Value>
  void run_as(const SamplePlane& picture, std::uint8_t* features) const;
  template <class Value>
  void run_gradient(const SamplePlane& picture, int dead_zone, std::uint32_t* features) const;
  template <class Value, class Work>
  void for_each_row(const SamplePlane& picture, const Work& work) const;

  StageConfig config_;
  Bands bands_;
  std::vector<Buffer> scratch_;  // one per band
};

/// Writes row y in levels of 8 bits.
void read_eight_bits(const SamplePlane& picture, int y, std::uint8_t* to);

class NoiseCpu {
 public:
  NoiseCpu(Device& device, const StageConfig& config);
  void estimate(const SamplePlane& picture, bool first_frame, NoiseState* state) const;
  void filter(const SamplePlane& picture, const NoiseLevel& noise, std::uint16_t* filtered) const;

 private:
  StageConfig config_;
  Bands bands_;
  std::vector<Buffer> scratch_;  // one per band
};

class HorizontalPathsCpu;
class VerticalPathsCpu;

class AggregateCpu {
 public:
  AggregateCpu(Device& device, const StageConfig& config);
  ~AggregateCpu();
  void run(const SamplePlane& picture, const void* left, const void* right,
           const Penalties& penalties, std::uint16_t* sums) const;

 private:
  bool eight_bit_;
  std::unique_ptr<HorizontalPathsCpu> horizontal_;
  std::unique_ptr<VerticalPathsCpu> vertical_;
};

class SelectCpu {
 public:
  SelectCpu(Device& device, const StageConfig& config);
  void run(const std::uint16_t* sums, float uniqueness, Subpixel subpixel,
           const WtaResult& winners) const;

 private:
  StageConfig config_;
  Bands bands_;
  std::vector<Buffer> scratch_;  // one per band
};

std::uint32_t luminance_at(const SamplePlane& picture, int x, int y);

void median_cpu(const StageConfig& config, const std::uint16_t* from, std::uint16_t* to);

void check_cpu(const StageConfig& config, const SamplePlane& picture, const std::uint16_t* right,
               bool subpixel, int max_diff, std::uint16_t* left);

void write_cpu(const StageConfig& config, const std::uint16_t* map, const DisparityScale& scale,
               View<std::uint8_t> disparity);

void apply_mask_cpu(const StageConfig& config, View<const std::uint32_t> mask, std::uint16_t* map);

/// The stages that look at the samples around each pixel: refine, refine_filled, write_confidence
/// and keep_confident.
class RefineCpu {
 public:
  RefineCpu(Device& device, const StageConfig& config);
  void run(const SamplePlane& picture, const std::uint16_t* from, std::uint16_t* to) const;
  void run_filled(const SamplePlane& picture, const std::uint16_t* map, const std::uint16_t* filled,
                  std::uint16_t* to) const;
  void write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                        View<std::uint8_t> out) const;
  void keep_confident(const std::uint16_t* map, const std::uint8_t* confidence, int threshold,
                      View<std::uint8_t> out, std::uint16_t* to) const;

 private:
  template <class Row>
  void for_each_confidence_row(const std::uint16_t* map, const std::uint8_t* confidence,
                               const Row& row) const;

  StageConfig config_;
  Bands bands_;
  std::vector<Buffer> scratch_;  // one per band
};

void filter_over_time_cpu(const StageConfig& config, const std::uint16_t* map,
                          const std::uint16_t* measured, const TemporalFilter& filter,
                          const History& history);

class SpecklesCpu {
 public:
  SpecklesCpu(Device& device, const StageConfig& config);
  void run(int size, int max_step, std::uint16_t* map) const;

 private:
  class Runs;

  StageConfig config_;
  Bands bands_;
  Buffer ends_, parents_, counts_;  // of the runs
  std::vector<Buffer> flags_;       // one per band, each for a row of pixels
};

class HolesCpu {
 public:
  HolesCpu(Device& device, const StageConfig& config);
  void run(std::uint16_t* map) const;

 private:
  StageConfig config_;
  Buffer has_known_;  // one flag per row
};

/// Makes the rows without known pixels copies of the nearest others, as fill_holes() does.
/// has_known has a flag per row.
void fill_empty_rows(const StageConfig& config, const bool* has_known, std::uint16_t* map);

class SharpenCpu {
 public:
  SharpenCpu(Device& device, const StageConfig& config);
  void run(const SamplePlane& left_picture, const SamplePlane& right_picture,
           const std::uint16_t* from, std::uint16_t* to) const;

 private:
  StageConfig config_;
  Bands bands_;
  std::vector<Buffer> scratch_;  // one per band
};

class SlopesCpu {
 public:
  SlopesCpu(Device& device, const StageConfig& config);
  void run(const std::uint16_t* from, std::uint16_t* to, std::uint8_t* confidence) const;

 private:
  StageConfig config_;
  Buffer has_known_;  // one flag per row
};

class SmoothCpu {
 public:
  SmoothCpu(Device& device, const StageConfig& config);
  void run(const SamplePlane& picture, const std::uint8_t* confidence, const std::uint16_t* from,
           std::uint16_t* to, std::uint16_t* scratch) const;

 private:
  void run_pass(const SamplePlane& picture, const std::uint8_t* confidence, int step,
                const std::uint16_t* from, std::uint16_t* to) const;

  StageConfig config_;
  Bands bands_;
  std::vector<Buffer> scratch_;  // one per band
};

}  // namespace cudavision::sgm
