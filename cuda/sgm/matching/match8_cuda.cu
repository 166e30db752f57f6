// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/sgm/matching/match8_cuda.h"

namespace cudavision::sgm {
namespace {

// Launches do not start early, because blocks that wait for the previous kernel would occupy the
// multiprocessors, which would double the time for small pictures.
template <class Arguments>
void launch(LaunchQueue& queue, const BlocksOf<Arguments>& paths, const Arguments& a) {
  queue.launch(paths.kernel, paths.blocks, paths.threads, paths.shared_bytes, a, Start::in_order);
}

template <class Arguments>
void prepare(const BlocksOf<Arguments>& paths) {
  cuda_check(cudaFuncSetAttribute(paths.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(paths.shared_bytes)),
             "reserving shared memory for the path kernels");
  // All path kernels need the same carveout of shared memory to share a multiprocessor.
  cuda_check(cudaFuncSetAttribute(paths.kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared),
             "reserving shared memory for the path kernels");
}

/// Returns true if columns should start before rows, which is faster if each kernel fills the GPU.
/// Otherwise rows start first, because their blocks take longer.
bool columns_first(const StageConfig& config, int band_rows) {
  const unsigned blocks =
      std::min(columns_launch(config).blocks, rows_launch(config, band_rows).blocks);
  return blocks > 7 * static_cast<unsigned>(multiprocessor_count());
}

int plane_pitch(const StageConfig& config) {
  const MatchExtent extent(config);
  return right_margin(extent.disparities) + extent.columns;
}

/// Counts the rows of all planes: two of features, and P2 of vertical, horizontal and (8 paths)
/// two diagonal steps. Upward paths also read the row below the picture and a few words after it.
int plane_rows(const StageConfig& config) {
  return (config.paths == 4 ? 4 : 6) * (config.height + 1) + 1;
}

std::size_t volume_bytes_of_one(const StageConfig& config, int rows) {
  const MatchExtent extent(config);
  return static_cast<std::size_t>(extent.sum_pitch()) * extent.disparities *
         round_up(rows, MatchExtent::row_unit);
}

}  // namespace

bool Match8Cuda::supports(const StageConfig& config) {
  return config.feature_bytes() == 4 && config.disparities <= MatchExtent::max_disparities &&
         Select8Cuda::supports(config);
}

Match8Cuda::Match8Cuda(Device& device, LaunchQueue& queue, const StageConfig& config, int band_rows,
                       std::uint8_t* volumes)
    : queue_(queue),
      config_(config),
      band_rows_(band_rows),
      columns_first_(columns_first(config, band_rows)),
      plane_memory_(
          device.allocate(sizeof(std::uint32_t) * static_cast<std::size_t>(plane_pitch(config)) *
                          plane_rows(config))),
      winners_(queue, config) {
  prepare(columns_launch(config));
  prepare(rows_launch(config, band_rows));
  prepare(states_launch(config));
  if (const std::size_t bytes = state_bytes(config, band_rows))
    states_ = device.allocate(bytes);
  const std::size_t words = static_cast<std::size_t>(plane_pitch(config)) * (config.height + 1);
  const MatchExtent extent(config);
  auto* const first = plane_memory_.as<std::uint32_t>() + right_margin(extent.disparities);
  planes_ = {first, first + words, first + 2 * words, first + 3 * words, {}, plane_pitch(config)};
  const std::size_t volume = volume_bytes_of_one(config, band_rows);
  volumes += SumVolumes::margin * extent.disparities;
  sums_ = {volumes, volumes + volume, {}, extent.sum_pitch()};
  if (config.paths == 8)
    for (const int i : {0, 1}) {
      planes_.diagonal[i] = first + (4 + i) * words;
      sums_.diagonals[i] = volumes + (2 + i) * volume;
    }
  // Paths also read P2 outside the picture, where it must be 0.
  const auto bytes = static_cast<int>(sizeof(std::uint32_t)) * planes_.pitch;
  device.fill({plane_memory_.as<std::uint8_t>(), bytes, plane_rows(config), bytes}, 0);
}

std::size_t Match8Cuda::volume_bytes(const StageConfig& config, int band_rows) {
  return config.paths / 2 * volume_bytes_of_one(config, band_rows);
}

std::size_t Match8Cuda::state_bytes(const StageConfig& config, int band_rows) {
  const int edges = (config.height - 1) / band_rows;
  // One more slot holds the state of the downward paths.
  return edges == 0 ? 0 : (edges + 1) * sizeof(uint2) * state_vectors(config);
}

bool Match8Cuda::fits(const Penalties& penalties) const {
  const int p2 = *std::max_element(penalties.p2.begin(), penalties.p2.end());
  // A volume sums L − C of two paths, and C up to 4 times (4 paths) or up to 3 times (8 paths).
  return 2 * p2 + (config_.paths == 4 ? 4 : 3) * census_bits(config_.census) <= 255;
}

void Match8Cuda::run(const PathPenalty& penalty, float uniqueness, Subpixel subpixel,
                     const WtaResult& winners) const {
  PathsArguments picture{};
  picture.planes = planes_;
  picture.sums = sums_;
  picture.width = config_.width;
  picture.height = config_.height;
  picture.columns = MatchExtent(config_).columns;
  picture.disparities = config_.disparities;
  picture.penalty = penalty;
  for (int top = 0; top < config_.height; top += band_rows_) {
    const PathsArguments band = band_arguments(picture, top);
    const auto follow_rows = [&] { launch(queue_, rows_launch(config_, band.height), band); };
    const auto follow_columns = [&] {
      if (top == 0 && band.height < config_.height)
        launch(queue_, states_launch(config_),
               StatesArguments{picture, states_.as<uint2>(), band_rows_});
      launch(queue_, columns_launch(config_), band);
    };
    if (columns_first_)
      queue_.run_concurrently(follow_columns, follow_rows);
    else
      queue_.run_concurrently(follow_rows, follow_columns);
    const std::int64_t pixel = static_cast<std::int64_t>(top) * config_.width;
    winners_.run(sums_, band.height, uniqueness, subpixel, winners.from_pixel(pixel));
  }
}

PathsArguments Match8Cuda::band_arguments(PathsArguments a, int top) const {
  const std::int64_t words = static_cast<std::int64_t>(top) * a.planes.pitch;
  for (std::uint32_t** plane : {&a.planes.right, &a.planes.left, &a.planes.vertical,
                                &a.planes.horizontal, &a.planes.diagonal[0], &a.planes.diagonal[1]})
    if (*plane)
      *plane += words;
  a.top = top;
  a.height = std::min(band_rows_, config_.height - top);

  const auto states_at = [&](int edge) {
    return states_.as<uint2>() + edge * static_cast<std::int64_t>(state_vectors(config_));
  };
  const int band = top / band_rows_, edges = (config_.height - 1) / band_rows_;
  if (band > 0)
    a.states.from_above = states_at(edges);
  if (band < edges) {
    a.states.from_below = states_at(band);
    a.states.to_below = states_at(edges);
  }
  return a;
}

MatchInput Match8Cuda::input(int bits, const Penalties& penalties) const {
  MatchInput to;
  to.left = {config_, planes_.left};
  to.right = {config_, planes_.right};
  to.left.pitch = to.right.pitch = planes_.pitch;
  const MatchExtent extent(config_);
  to.right.begin = -right_margin(extent.disparities);
  to.right.end = extent.columns;
  to.right.shift = config_.minimum;
  to.right.replicates = config_.replicates_features();
  to.steps.vertical = planes_.vertical;
  to.steps.horizontal = planes_.horizontal;
  std::copy_n(planes_.diagonal, 2, to.steps.diagonal);
  to.steps.pitch = planes_.pitch;
  to.steps.step_shift = config_.eight_bit() ? 0 : bits - 8;
  std::copy(penalties.p2.begin(), penalties.p2.end(), to.steps.table);
  return to;
}

}  // namespace cudavision::sgm
