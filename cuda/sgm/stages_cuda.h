// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the stages on CUDA, which backend.h and mapstages.h define. aggregate_cuda.h and
// match8_cuda.h declare the aggregation.

#include <algorithm>
#include <array>
#include <initializer_list>

#include "cuda/sgm/backend.h"
#include "cuda/sgm/launchqueue_cuda.h"
#include "cuda/sgm/path_penalty.cuh"

namespace cudavision::sgm {

constexpr unsigned whole_warp = 0xffffffffu;

struct SumVolumes;

struct StageResources {
  StageConfig config;
  LaunchQueue& queue;
  void* scratch;                        ///< each stage may overwrite it
  int filter_strips;                    ///< see resident_filter_strips()
  std::array<int, 3> smooth_tile_rows;  ///< see smooth_tile_rows_for()
};

/// Returns the alignment that all rows of a map have: 16, 4, 2 or 1 bytes.
inline int alignment_of(const void* data, std::int64_t pitch) {
  const auto places = reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(pitch);
  return places % 16 == 0 ? 16 : places % 4 == 0 ? 4 : places % 2 == 0 ? 2 : 1;
}

/// The output of a stage: a map, or disparities in a DisparityScale.
struct NumbersOut {
  std::uint8_t* data = nullptr;
  std::int64_t pitch = 0;
  std::uint16_t added = 0, invalid = unknown;
  int alignment = 1;  ///< see alignment_of()

  NumbersOut() = default;
  NumbersOut(const StageConfig& config, std::uint16_t* map)
      : NumbersOut(contiguous_rows(reinterpret_cast<std::uint8_t*>(map), 2 * config.width,
                                   config.height)) {}
  NumbersOut(const StageConfig& config, const Write& stage) : NumbersOut(stage.disparity) {
    added = static_cast<std::uint16_t>(config.minimum * stage.scale.per_pixel);
    invalid = stage.scale.invalid;
  }

  __device__ void write(int x, int y, std::uint16_t number) const {
    const std::uint16_t out = converted(number);
    std::uint8_t* const to = at(x, y);
    if (alignment > 1) {
      *reinterpret_cast<std::uint16_t*>(to) = out;
    } else {
      to[0] = static_cast<std::uint8_t>(out);
      to[1] = static_cast<std::uint8_t>(out >> 8);
    }
  }
  /// Writes two values from the even column x on. Skips column x + 1 if it is width.
  __device__ void write_pair(int x, int y, int width, std::uint32_t numbers) const {
    const auto first = static_cast<std::uint16_t>(numbers);
    const auto second = static_cast<std::uint16_t>(numbers >> 16);
    if (alignment >= 4 && x + 1 < width) {
      *reinterpret_cast<std::uint32_t*>(at(x, y)) = converted_pair(numbers);
    } else {
      write(x, y, first);
      if (x + 1 < width)
        write(x + 1, y, second);
    }
  }
  /// Writes eight values from column x on, a multiple of 8. Skips columns from width on.
  __device__ void write_eight(int x, int y, int width, const std::uint32_t (&numbers)[4]) const {
    if (alignment == 16 && x + 8 <= width) {
      *reinterpret_cast<uint4*>(at(x, y)) = {converted_pair(numbers[0]), converted_pair(numbers[1]),
                                             converted_pair(numbers[2]),
                                             converted_pair(numbers[3])};
      return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (x + 2 * i < width)
        write_pair(x + 2 * i, y, width, numbers[i]);
  }

 private:
  explicit NumbersOut(View<std::uint8_t> rows)
      : data(rows.data), pitch(rows.pitch), alignment(alignment_of(rows.data, rows.pitch)) {}
  __device__ std::uint16_t converted(std::uint16_t number) const {
    return static_cast<std::uint16_t>(number == unknown ? invalid : number + added);
  }
  __device__ std::uint32_t converted_pair(std::uint32_t numbers) const {
    const auto first = static_cast<std::uint16_t>(numbers);
    const auto second = static_cast<std::uint16_t>(numbers >> 16);
    return static_cast<std::uint32_t>(converted(second)) << 16 | converted(first);
  }
  __device__ std::uint8_t* at(int x, int y) const {
    return data + pitch * y + 2 * static_cast<std::int64_t>(x);
  }
};

inline int resident_blocks(const void* kernel, int threads, std::size_t shared_bytes = 0) {
  int resident = 0;  // blocks per multiprocessor
  cuda_check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared_bytes),
      "querying the occupancy of a kernel");
  return std::max(1, resident) * multiprocessor_count();
}

struct RowBand {
  int begin = 0, end = 0;

  int rows() const { return end - begin; }
};

/// The output of a census, in columns [begin, end). Picture column x becomes column x + shift.
/// Columns without a picture column repeat the outermost feature or, without replicates, become 0.
struct FeaturePlane {
  void* data = nullptr;    ///< points to column 0 of row 0
  std::int64_t pitch = 0;  ///< in features
  int begin = 0, end = 0, shift = 0;
  bool replicates = false;

  FeaturePlane() = default;
  FeaturePlane(const StageConfig& config, void* features)
      : data(features), pitch(config.width), end(config.width) {}

  __device__ bool has(int x) const { return x + shift >= begin && x + shift < end; }
  __device__ bool has_margins() const { return begin < 0; }
};

/// The output planes of P2, with P2 in both halves of a word. Entry (x, y) is for the step to (x,
/// y) from the pixel above, to the left, above left or above right. P2 is 0 for steps from outside
/// the picture. Rows are aligned to 16 bytes. Up to 3 words after a row's last pixel become 0.
/// Diagonal planes are not written if they are null, and no plane is written if vertical is null.
struct StepPenalties {
  std::uint32_t *vertical = nullptr, *horizontal = nullptr, *diagonal[2] = {};
  std::int64_t pitch = 0;     ///< in words
  int step_shift = 0;         ///< right shift from luminance steps to table indices
  std::uint8_t table[256]{};  ///< P2 for each step
};

struct CensusTask {
  SamplePlane picture;
  FeaturePlane features;
};

/// Compute the census of one or two pictures in a launch and, with steps, P2 of the first picture.
/// census_filtered_cuda() is for census_gradient, and census_cuda() for the other censuses.
void census_cuda(const StageResources& resources, std::initializer_list<CensusTask> tasks,
                 const StepPenalties& steps = {});
void census_filtered_cuda(const StageResources& resources, std::initializer_list<CensusTask> tasks,
                          const NoiseSource& noise, const StepPenalties& steps = {},
                          const PathPenalty& penalty = {});

struct FilteredPlane {
  std::uint16_t* data = nullptr;
  std::int64_t pitch = 0;  ///< in bytes
};

struct FilterTask {
  SamplePlane picture;
  FilteredPlane filtered;
};

/// Runs filter_noise() for one or two pictures in a launch.
void filter_noise_cuda(const StageResources& resources, std::initializer_list<FilterTask> tasks,
                       const NoiseSource& noise);
int resident_filter_strips();

struct NoiseCounts;  ///< histograms and counters of the noise estimate
Buffer make_noise_counts(Device& device);
void estimate_noise_cuda(const StageResources& resources, NoiseCounts* counts,
                         const SamplePlane& picture, bool first_frame, NoiseState* state);

/// Runs select() for 16-bit sums. sums and winners point to the first row.
void select16_cuda(const StageResources& resources, const std::uint16_t* sums, int rows,
                   float uniqueness, Subpixel subpixel, const WtaResult& winners);

class Select8Cuda {
 public:
  Select8Cuda(LaunchQueue& queue, const StageConfig& config);
  static bool supports(const StageConfig& config);
  void run(const SumVolumes& sums, int rows, float uniqueness, Subpixel subpixel,
           const WtaResult& winners) const;

 private:
  LaunchQueue& queue_;
  StageConfig config_;
  int resident_blocks_;  // blocks that run at once
};

void run_stage(const StageResources& resources, const Median& stage);
void run_stage(const StageResources& resources, const Check& stage);
void run_stage(const StageResources& resources, const ApplyMask& stage);
void run_stage(const StageResources& resources, const RemoveSpeckles& stage);
void run_stage(const StageResources& resources, const Write& stage);
void run_stage(const StageResources& resources, const KeepConfident& stage);
void run_stage(const StageResources& resources, const FillHoles& stage);
void run_stage(const StageResources& resources, const Refine& stage);
void run_stage(const StageResources& resources, const Sharpen& stage);
void run_stage(const StageResources& resources, const FillSlopes& stage);
void run_stage(const StageResources& resources, const RefineFilled& stage);
void run_stage(const StageResources& resources, const Smooth& stage);
void run_stage(const StageResources& resources, const FilterOverTime& stage);

/// Run stages and write the result to `out`. smooth() still overwrites stage.to and stage.scratch.
void median_and_check(const StageResources& resources, const Median& median, const Check& check,
                      const NumbersOut& out);
void refine(const StageResources& resources, const Refine& stage, const NumbersOut& out);
void smooth(const StageResources& resources, const Smooth& stage, const NumbersOut& out);

std::size_t speckles_scratch_bytes(const StageConfig& config);
/// Returns the rows per tile of each pass of Smooth.
std::array<int, 3> smooth_tile_rows_for(const StageConfig& config);

}  // namespace cudavision::sgm
