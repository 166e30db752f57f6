// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Matching with sums in bytes: lays out what the paths read, and runs the kernels in order.

#include <algorithm>

#include "cuda/sgm/bytesums/cuda.h"

namespace cudavision::sgm {
namespace {

// The launches are not programmatic, because blocks that wait for the kernel before them would take
// the place of blocks that compute. On an H200, a pair of 640×480 and 64 disparities then took 287
// µs instead of 122.
void launch(const PathsLaunch& paths, cudaStream_t stream, const PathsArguments& a) {
  paths.kernel<<<paths.blocks, paths.threads, paths.shared_bytes, stream>>>(a);
  cuda_check(cudaGetLastError(), "launching a kernel on the GPU");
}

PathsLaunch prepared(PathsLaunch launch) {
  cuda_check(cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(launch.shared_bytes)),
             "asking for shared memory for the paths");
  // Columns and rows share a multiprocessor only if they agree on its shared memory.
  cuda_check(cudaFuncSetAttribute(launch.kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared),
             "asking for shared memory for the paths");
  return launch;
}

int plane_pitch(const StageConfig& config) {
  const MatchExtent extent(config);
  return right_margin(extent.disparities) + extent.columns;
}

/// Rows of features of both pictures, and of penalties of steps along columns, rows and both kinds
/// of diagonals. Paths from below the picture read a row beyond it, and a few words after that.
int plane_rows(const StageConfig& config) {
  return (config.paths == 4 ? 4 : 6) * (config.height + 1) + 1;
}

int volume_count(const StageConfig& config) {
  return config.paths / 2;
}

}  // namespace

SideStream::SideStream(cudaStream_t main)
    : main_(main), forked_(make_event()), joined_(make_event()) {
  cudaStream_t stream = nullptr;
  cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  side_.reset(stream);
}

SideStream::Owned<cudaEvent_t> SideStream::make_event() {
  cudaEvent_t event = nullptr;
  cuda_check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  return Owned<cudaEvent_t>(event);
}

void SideStream::fork() const {
  cuda_check(cudaEventRecord(forked_.get(), main_), "recording an event");
  cuda_check(cudaStreamWaitEvent(side_.get(), forked_.get()), "ordering two streams");
}

void SideStream::join() const {
  cuda_check(cudaEventRecord(joined_.get(), side_.get()), "recording an event");
  cuda_check(cudaStreamWaitEvent(main_, joined_.get()), "ordering two streams");
}

bool ByteSumsCuda::supports(const StageConfig& config) {
  return config.feature_bytes() == 4 && config.disparities <= MatchExtent::most_disparities &&
         WinnersCuda::supports(config);
}

ByteSumsCuda::ByteSumsCuda(Device& device, const StageConfig& config, std::uint8_t* volumes)
    : stream_(device.stream()),
      config_(config),
      plane_memory_(
          device.allocate(sizeof(std::uint32_t) * static_cast<std::size_t>(plane_pitch(config)) *
                          plane_rows(config))),
      side_(device.stream()),
      columns_(prepared(columns_launch(config))),
      rows_(prepared(rows_launch(config))),
      winners_(device, config) {
  const std::size_t words = static_cast<std::size_t>(plane_pitch(config)) * (config.height + 1);
  const MatchExtent extent(config);
  auto* const first = plane_memory_.as<std::uint32_t>() + right_margin(extent.disparities);
  const std::size_t volume = volume_bytes(config) / volume_count(config);
  planes_ = {first, first + words, first + 2 * words, first + 3 * words, {}, plane_pitch(config)};
  volumes += SumVolumes::margin * extent.disparities;
  sums_ = {volumes, volumes + volume, {}, extent.sum_pitch()};
  if (config.paths == 8)
    for (const int i : {0, 1}) {
      planes_.diagonal[i] = first + (4 + i) * words;
      sums_.diagonals[i] = volumes + (2 + i) * volume;
    }
  // The paths read columns and a row beyond the picture, where P2 = 0.
  const auto bytes = static_cast<int>(sizeof(std::uint32_t)) * planes_.pitch;
  device.fill({plane_memory_.as<std::uint8_t>(), bytes, plane_rows(config), bytes}, 0);
}

std::size_t ByteSumsCuda::volume_bytes(const StageConfig& config) {
  const MatchExtent extent(config);
  return volume_count(config) * static_cast<std::size_t>(extent.sum_pitch()) *
         static_cast<std::size_t>(extent.rows) * static_cast<std::size_t>(extent.disparities);
}

bool ByteSumsCuda::fits(const Penalties& penalties) const {
  const int p2 = *std::max_element(penalties.p2.begin(), penalties.p2.end());
  // A volume contains L − C along two paths, and the matching costs up to 4 or 3 times.
  return 2 * p2 + (config_.paths == 4 ? 4 : 3) * census_bits(config_.census) <= 255;
}

void ByteSumsCuda::run(const CensusCuda& census, const SamplePlane& left, const SamplePlane& right,
                       const Penalties& penalties, float uniqueness, Subpixel subpixel,
                       const Winners& winners) const {
  make_planes(census, left, right, penalties);
  PathsArguments a{};
  a.planes = planes_;
  a.sums = sums_;
  a.width = config_.width;
  a.height = config_.height;
  a.columns = MatchExtent(config_).columns;
  a.disparities = config_.disparities;
  a.p1 = static_cast<std::uint32_t>(penalties.p1) * 0x10001u;
  a.twice_p1 = static_cast<std::uint32_t>(2 * penalties.p1) * 0x01010101u;
  side_.fork();
  launch(rows_, side_.get(), a);
  launch(columns_, stream_, a);
  side_.join();
  winners_.run(sums_, uniqueness, subpixel, winners);
}

void ByteSumsCuda::make_planes(const CensusCuda& census, const SamplePlane& left,
                               const SamplePlane& right, const Penalties& penalties) const {
  FeaturePlane left_features, right_features;
  left_features.data = planes_.left;
  left_features.pitch = planes_.pitch;
  left_features.end = config_.width;
  right_features.data = planes_.right;
  right_features.pitch = planes_.pitch;
  const MatchExtent extent(config_);
  right_features.begin = -right_margin(extent.disparities);
  right_features.end = extent.columns;
  right_features.shift = config_.minimum;
  right_features.replicates = config_.replicates_features();
  StepPenalties steps;
  steps.vertical = planes_.vertical;
  steps.horizontal = planes_.horizontal;
  std::copy_n(planes_.diagonal, 2, steps.diagonal);
  steps.pitch = planes_.pitch;
  steps.step_shift = config_.eight_bit() ? 0 : left.bits - 8;
  std::copy(penalties.p2.begin(), penalties.p2.end(), steps.table);
  census.run(left, right, left_features, right_features, steps);
}

}  // namespace cudavision::sgm
