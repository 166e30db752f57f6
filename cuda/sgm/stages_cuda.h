// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the stages on CUDA; backend.h defines them. README.md lists the file of each
// class. aggregate_cuda.h and match8_cuda.h declare the aggregation and match().

#include "cuda/sgm/backend.h"
#include "cuda/sgm/launchqueue_cuda.h"

namespace cudavision::sgm {

struct CensusArguments;
struct FilteredCensusArguments;
struct PathPenalty;
struct Samples;
struct SumVolumes;
struct SelectArguments;
struct MapArguments;
struct HolesArguments;
struct RefineArguments;
struct SharpenArguments;
struct SlopesArguments;
struct SmoothArguments;
struct TemporalArguments;

/// The output of a stage: another map, or disparities in a DisparityScale.
struct NumbersOut {
  std::uint8_t* data = nullptr;
  std::int64_t pitch = 0;
  std::uint16_t added = 0, invalid = unknown;
  int alignment = 1;  ///< of rows: 16, 4, 2 or 1 bytes

  NumbersOut() = default;
  NumbersOut(const StageConfig& config, std::uint16_t* map)
      : NumbersOut({reinterpret_cast<std::uint8_t*>(map), 2 * config.width, config.height,
                    2 * static_cast<std::ptrdiff_t>(config.width)}) {}
  NumbersOut(const StageConfig& config, const DisparityScale& scale, View<std::uint8_t> disparity)
      : NumbersOut(disparity) {
    added = static_cast<std::uint16_t>(config.minimum * scale.per_pixel);
    invalid = scale.invalid;
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
  /// Writes two numbers from the even column x on. Skips column x + 1 if it is width.
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
  /// Writes eight numbers from column x on, a multiple of 8. Skips columns from width on.
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
  explicit NumbersOut(View<std::uint8_t> rows) : data(rows.data), pitch(rows.pitch) {
    const auto places = reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uintptr_t>(pitch);
    alignment = places % 16 == 0 ? 16 : places % 4 == 0 ? 4 : places % 2 == 0 ? 2 : 1;
  }
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

struct RowBand {
  int begin = 0, end = 0;

  int rows() const { return end - begin; }
};

/// The output of census features. Column x goes to column x + shift if this is in [begin, end). The
/// other columns of [begin, end) repeat the outermost feature or, without replicates, become 0.
struct FeaturePlane {
  void* data = nullptr;    ///< column 0 of row 0
  std::int64_t pitch = 0;  ///< in features
  int begin = 0, end = 0, shift = 0;
  bool replicates = false;

  __device__ bool has(int x) const { return x + shift >= begin && x + shift < end; }
  __device__ bool has_margins() const { return begin < 0; }
};

/// The output of P2 for luminance steps in the left picture, in both halves of a word. The steps
/// lead to (x, y) from the pixel above, to the left, above left and above right. P2 is 0 if the
/// other pixel is outside the picture. Rows are aligned to 16 bytes and have 3 more words than
/// pixels, which become 0. Null planes are not written; a null vertical disables all planes.
struct StepPenalties {
  std::uint32_t *vertical = nullptr, *horizontal = nullptr, *diagonal[2] = {};
  std::int64_t pitch = 0;     ///< in words
  int step_shift = 0;         ///< from luminance steps to table indices
  std::uint8_t table[256]{};  ///< P2
};

class CensusCuda {
 public:
  CensusCuda(LaunchQueue& queue, const StageConfig& config);
  /// features is dense.
  void run(const SamplePlane& picture, void* features) const;
  void run(const SamplePlane& left, const SamplePlane& right, const FeaturePlane& left_features,
           const FeaturePlane& right_features, const StepPenalties& penalties) const;
  FeaturePlane dense(void* features) const;

 private:
  void launch(CensusArguments& a, int pictures) const;

  StageConfig config_;
  LaunchQueue& queue_;
  Kernel<CensusArguments> kernel_;
};

/// Histograms of the noise estimate; zero between frames.
struct NoiseCounts {
  std::uint32_t bins[noise_spacings][noise_bins];
  std::uint32_t flat;
  std::uint32_t finished;  ///< thread blocks of the launch
};

struct FilteredPlane {
  std::uint16_t* data = nullptr;
  std::int64_t pitch = 0;  ///< in bytes
};

class NoiseCuda {
 public:
  NoiseCuda(Device& device, LaunchQueue& queue, const StageConfig& config);
  void estimate(const SamplePlane& picture, bool first_frame, NoiseState* state) const;

 private:
  StageConfig config_;
  LaunchQueue& queue_;
  Buffer counts_;
};

class NoiseFilterCuda {
 public:
  NoiseFilterCuda(LaunchQueue& queue, const StageConfig& config);
  void run(const SamplePlane* const* pictures, const FilteredPlane* filtered, int count,
           const NoiseSource& noise) const;

 private:
  StageConfig config_;
  LaunchQueue& queue_;
  int resident_strips_;  // that fit the card at once
};

class FilteredCensusCuda {
 public:
  FilteredCensusCuda(LaunchQueue& queue, const StageConfig& config);
  void run(const FilteredPlane& filtered, const NoiseSource& noise,
           const FeaturePlane& features) const;
  void run(const FilteredPlane& left, const FilteredPlane& right, const NoiseSource& noise,
           const FeaturePlane& left_features, const FeaturePlane& right_features,
           const StepPenalties& steps, const PathPenalty& penalty) const;

 private:
  Samples samples_of(const FilteredPlane& filtered) const;
  void launch(FilteredCensusArguments& a, int pictures) const;

  StageConfig config_;
  LaunchQueue& queue_;
};

class Select16Cuda {
 public:
  Select16Cuda(LaunchQueue& queue, const StageConfig& config);
  /// sums and winners point to the first row.
  void run(const std::uint16_t* sums, int rows, float uniqueness, Subpixel subpixel,
           const WtaResult& winners) const;

 private:
  /// A kernel and its launch parameters. select_right() explains pairs and tasks.
  struct KernelPlan {
    Kernel<SelectArguments> kernel;
    unsigned threads;
    std::size_t shared_bytes;
    int pairs, tasks;
  };
  template <class Plan>
  static KernelPlan kernel_plan(int disparities);
  KernelPlan kernel_plan_for(int rows) const;

  StageConfig config_;
  LaunchQueue& queue_;
};

class Select8Cuda {
 public:
  Select8Cuda(LaunchQueue& queue, const StageConfig& config);
  static bool supports(const StageConfig& config);
  void run(const SumVolumes& sums, int rows, float uniqueness, Subpixel subpixel,
           const WtaResult& winners) const;

 private:
  LaunchQueue& queue_;
  StageConfig config_;
  int resident_blocks_;  // that the card runs at once
};

/// Median, Check and Write.
class MapsCuda {
 public:
  MapsCuda(LaunchQueue& queue, const StageConfig& config);
  void median(const std::uint16_t* from, std::uint16_t* to) const;
  void check(const SamplePlane& picture, const std::uint16_t* right, bool subpixel, int max_diff,
             std::uint16_t* left) const;
  void median_and_check(const SamplePlane& picture, const std::uint16_t* left,
                        const std::uint16_t* right, bool subpixel, int max_diff,
                        const NumbersOut& out) const;
  void write(const std::uint16_t* map, const NumbersOut& out) const;

 private:
  MapArguments arguments() const;
  MapArguments check_arguments(const SamplePlane& picture, bool subpixel, int max_diff) const;
  int alignment(const std::uint16_t* map) const;
  void divide_groups(MapArguments& a) const;
  void launch(Kernel<MapArguments> kernel, const MapArguments& a) const;
  void launch_groups(Kernel<MapArguments> kernel, const MapArguments& a) const;

  StageConfig config_;
  LaunchQueue& queue_;
};

void apply_mask_cuda(LaunchQueue& queue, const StageConfig& config, View<const std::uint32_t> mask,
                     std::uint16_t* map);

class SpecklesCuda {
 public:
  static std::size_t scratch_bytes(const StageConfig& config);

  SpecklesCuda(Device& device, LaunchQueue& queue, const StageConfig& config, void* scratch);
  void run(int size, int max_step, std::uint16_t* map) const;

 private:
  StageConfig config_;
  void* scratch_;
  Buffer words_;
  LaunchQueue& queue_;
};

class HolesCuda {
 public:
  /// scratch has 2 bytes for each pixel.
  HolesCuda(LaunchQueue& queue, const StageConfig& config, void* scratch);
  void run(std::uint16_t* map) const;

 private:
  StageConfig config_;
  void* scratch_;
  LaunchQueue& queue_;
};

/// Copies the nearest other rows to rows without known pixels. has_known has a flag per row.
void fill_empty_rows_cuda(LaunchQueue& queue, const StageConfig& config, bool* has_known,
                          std::uint16_t* map);

/// Refine, RefineFilled, WriteConfidence and KeepConfident.
class RefineCuda {
 public:
  RefineCuda(LaunchQueue& queue, const StageConfig& config);
  void run(const SamplePlane& picture, const std::uint16_t* from, const NumbersOut& out) const;
  void run_filled(const SamplePlane& picture, const std::uint16_t* map, const std::uint16_t* filled,
                  std::uint16_t* to) const;
  void write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                        View<std::uint8_t> out) const;
  /// `to` may be null.
  void keep_confident(const std::uint16_t* map, const std::uint8_t* confidence, int threshold,
                      View<std::uint8_t> out, std::uint16_t* to) const;

 private:
  RefineArguments arguments() const;
  /// Launches a block for each tile of width × height pixels.
  void launch(Kernel<RefineArguments> kernel, int width, int height, unsigned threads,
              RefineArguments& a) const;
  void launch_refinement(Kernel<RefineArguments> kernel, const SamplePlane& picture,
                         const std::uint16_t* from, const std::uint16_t* map,
                         const NumbersOut& out) const;

  StageConfig config_;
  LaunchQueue& queue_;
};

class SharpenCuda {
 public:
  SharpenCuda(LaunchQueue& queue, const StageConfig& config);
  void run(const SamplePlane& left_picture, const SamplePlane& right_picture,
           const std::uint16_t* from, std::uint16_t* to) const;

 private:
  StageConfig config_;
  LaunchQueue& queue_;
};

class SlopesCuda {
 public:
  /// scratch has 8 bytes for each pixel.
  SlopesCuda(LaunchQueue& queue, const StageConfig& config, void* scratch);
  void run(const std::uint16_t* from, std::uint16_t* to, std::uint8_t* confidence) const;

 private:
  StageConfig config_;
  void* scratch_;
  LaunchQueue& queue_;
};

class SmoothCuda {
 public:
  SmoothCuda(LaunchQueue& queue, const StageConfig& config);
  /// Both scratches have room for a map.
  void run(const SamplePlane& picture, const std::uint8_t* confidence, const std::uint16_t* from,
           const NumbersOut& out, std::uint16_t* scratch, std::uint16_t* other_scratch) const;

 private:
  StageConfig config_;
  LaunchQueue& queue_;
  int tile_rows_[3];  ///< of each pass
};

class TemporalCuda {
 public:
  TemporalCuda(LaunchQueue& queue, const StageConfig& config);
  void filter(const std::uint16_t* map, const std::uint16_t* measured, const TemporalFilter& filter,
              const History& history) const;

 private:
  StageConfig config_;
  LaunchQueue& queue_;
};

}  // namespace cudavision::sgm
