// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The stages on the CPU, which backend.h and mapstages.h define. CUDA computes the same bits.

#include <memory>

#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"
#include "cuda/sgm/backend.h"
#include "cuda/speckles/runs.h"

namespace cudavision::sgm {

/// Returns all ones if the condition holds, and 0 otherwise. GCC 12 compiles ?: on values from
/// memory to branches, which would make select_cpu() with AVX2 seven times slower.
template <class Number>
[[gnu::always_inline]] inline Number mask_of(bool condition) {
  return static_cast<Number>(-static_cast<int>(condition));
}

/// Shared by the stages. bands has enough scratch memory for each stage.
struct StageRows {
  StageConfig config;
  Bands bands;
  Buffer has_known;  ///< one flag per row
  speckles::RunMemory speckles;

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
std::size_t samples_scratch(const StageConfig& config);  ///< scratch memory of SampleRows
std::size_t sharpen_scratch(const StageConfig& config);

/// Supports all censuses except census_gradient, whose features come from filtered pictures.
void census_cpu(const StageRows& rows, const SamplePlane& picture, void* features);
void census_filtered_cpu(const StageRows& rows, const SamplePlane& filtered,
                         const NoiseLevel& noise, void* features);

void estimate_noise_cpu(const StageRows& rows, const SamplePlane& picture, bool first_frame,
                        NoiseState* state);
void filter_noise_cpu(const StageRows& rows, const SamplePlane& picture, const NoiseLevel& noise,
                      std::uint16_t* filtered);

class VerticalPathsCpu;
std::shared_ptr<VerticalPathsCpu> make_vertical_paths(Device& device, const StageConfig& config);
void aggregate_cpu(const StageRows& rows, const VerticalPathsCpu& vertical,
                   const SamplePlane& picture, const void* left, const void* right,
                   const Penalties& penalties, std::uint16_t* sums);

void select_cpu(const StageRows& rows, const std::uint16_t* sums, float uniqueness,
                Subpixel subpixel, const WtaResult& winners);

void run_stage(const StageRows& rows, const Median& stage);
void run_stage(const StageRows& rows, const Check& stage);
void run_stage(const StageRows& rows, const ApplyMask& stage);
void run_stage(const StageRows& rows, const RemoveSpeckles& stage);
void run_stage(const StageRows& rows, const Write& stage);
void run_stage(const StageRows& rows, const KeepConfident& stage);
void run_stage(const StageRows& rows, const FillHoles& stage);
void run_stage(const StageRows& rows, const Refine& stage);
void run_stage(const StageRows& rows, const Sharpen& stage);
void run_stage(const StageRows& rows, const FillSlopes& stage);
void run_stage(const StageRows& rows, const RefineFilled& stage);
void run_stage(const StageRows& rows, const Smooth& stage);
void run_stage(const StageRows& rows, const FilterOverTime& stage);

inline void read_eight_bits(const SamplePlane& picture, int y, std::uint8_t* to) {
  gather_levels(picture.rows.row(y), 1, picture.width, picture.bits, picture.shift, to);
}

}  // namespace cudavision::sgm
