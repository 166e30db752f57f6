// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The stages on the CPU; backend.h defines them. CUDA kernels must compute the same bits.

#include <memory>

#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"
#include "cuda/sgm/backend.h"
#include "cuda/speckles/runs.h"

namespace cudavision::sgm {

/// Returns all ones if the condition holds, else 0. GCC 12 makes branches of ?: with values from
/// memory: winners then took seven times as long with AVX2.
template <class Number>
[[gnu::always_inline]] inline Number mask_of(bool condition) {
  return static_cast<Number>(-static_cast<int>(condition));
}

/// Shared by the stages. bands has enough scratch memory for each of them.
struct StageRows {
  StageConfig config;
  Bands bands;

  template <class Entry>
  Entry* row(Entry* map, int y) const {
    return map + std::int64_t{y} * config.width;
  }
};

std::size_t census_scratch(const StageConfig& config);
std::size_t noise_scratch(const StageConfig& config);
std::size_t paths_scratch(const StageConfig& config);
std::size_t winners_scratch(const StageConfig& config);
std::size_t speckles_scratch(const StageConfig& config);
std::size_t samples_scratch(const StageConfig& config);  ///< of refine to smooth
std::size_t sharpen_scratch(const StageConfig& config);

void census_cpu(const StageRows& rows, const SamplePlane& picture, void* features);
void census_filtered_cpu(const StageRows& rows, const SamplePlane& filtered,
                         const NoiseLevel& noise, void* features);

void estimate_noise_cpu(const StageRows& rows, const SamplePlane& picture, bool first_frame,
                        NoiseState* state);
void filter_noise_cpu(const StageRows& rows, const SamplePlane& picture, const NoiseLevel& noise,
                      std::uint16_t* filtered);

class VerticalPathsCpu;

class AggregateCpu {
 public:
  AggregateCpu(Device& device, const StageConfig& config);
  ~AggregateCpu();
  void run(const StageRows& rows, const SamplePlane& picture, const void* left, const void* right,
           const Penalties& penalties, std::uint16_t* sums) const;

 private:
  std::unique_ptr<VerticalPathsCpu> vertical_;
};

void select_cpu(const StageRows& rows, const std::uint16_t* sums, float uniqueness,
                Subpixel subpixel, const WtaResult& winners);

void median_cpu(const StageRows& rows, const std::uint16_t* from, std::uint16_t* to);
void check_cpu(const StageRows& rows, const SamplePlane& picture, const std::uint16_t* right,
               bool subpixel, int max_diff, std::uint16_t* left);
void write_cpu(const StageRows& rows, const std::uint16_t* map, const DisparityScale& scale,
               View<std::uint8_t> disparity);
void apply_mask_cpu(const StageRows& rows, View<const std::uint32_t> mask, std::uint16_t* map);

void refine_cpu(const StageRows& rows, const SamplePlane& picture, const std::uint16_t* from,
                std::uint16_t* to);
void refine_filled_cpu(const StageRows& rows, const SamplePlane& picture, const std::uint16_t* map,
                       const std::uint16_t* filled, std::uint16_t* to);
/// Also implements WriteConfidence, where `to` is null.
void keep_confident_cpu(const StageRows& rows, const std::uint16_t* map,
                        const std::uint8_t* confidence, int threshold, View<std::uint8_t> out,
                        std::uint16_t* to);

void filter_over_time_cpu(const StageRows& rows, const std::uint16_t* map,
                          const std::uint16_t* measured, const TemporalFilter& filter,
                          const History& history);

void remove_speckles_cpu(const StageRows& rows, const speckles::RunMemory& memory, int size,
                         int max_step, std::uint16_t* map);

/// has_known receives a flag per row.
void fill_holes_cpu(const StageRows& rows, bool* has_known, std::uint16_t* map);
/// Copies the nearest other rows to rows without known pixels, as FillHoles does.
void fill_empty_rows(const StageRows& rows, const bool* has_known, std::uint16_t* map);

void sharpen_cpu(const StageRows& rows, const SamplePlane& left_picture,
                 const SamplePlane& right_picture, const std::uint16_t* from, std::uint16_t* to);
void fill_slopes_cpu(const StageRows& rows, const std::uint16_t* from, bool* has_known,
                     std::uint16_t* to, std::uint8_t* confidence);
void smooth_cpu(const StageRows& rows, const SamplePlane& picture, const std::uint8_t* confidence,
                const std::uint16_t* from, std::uint16_t* to, std::uint16_t* scratch);

inline void read_eight_bits(const SamplePlane& picture, int y, std::uint8_t* to) {
  gather_levels(picture.rows.row(y), 1, picture.width, picture.bits, picture.shift, to);
}

}  // namespace cudavision::sgm
