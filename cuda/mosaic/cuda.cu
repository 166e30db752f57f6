// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The mosaic on CUDA, with one launch for all planes. For means, a thread block sums the samples of
// adjacent blocks in shared memory and divides the sums.

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/mosaic/backend.h"
#include "cuda/mosaic/launch.h"

namespace cudavision::mosaic {
namespace {

#if __CUDACC_VER_MAJOR__ < 13
constexpr int max_warps = 20;  // more would spill 4 bytes on compute capability 9.0
#else
constexpr int max_warps = 24;
#endif
/// Rows of pixels per thread to aim at. Fewer rows would not hide the memory latency.
constexpr int thread_rows = 4;

/// A thread's share of a tile: each warp reads whole rows, each lane every 32nd chunk of a row.
struct ThreadShare {
  int lane, warp, warps;

  __device__ ThreadShare()
      : lane(static_cast<int>(threadIdx.x) % warp_lanes),
        warp(static_cast<int>(threadIdx.x) / warp_lanes),
        warps(static_cast<int>(blockDim.x) / warp_lanes) {}
};

template <int kSampleBytes>
__device__ inline void add_samples(const MosaicArguments& a, const MosaicTile& tile,
                                   const ThreadShare& share, std::uint32_t* sums) {
  const MosaicPlane& plane = tile.plane;
  for (int x = tile.first_chunk() + share.lane * Vec16::bytes; x < tile.end;
       x += warp_lanes * Vec16::bytes) {
    const int count = min(plane.row_bytes - x, Vec16::bytes);
    const bool whole = plane.aligned && count == Vec16::bytes;
    ChunkSums<kSampleBytes> of_chunk;
#pragma unroll 4
    for (int y = tile.top + share.warp; y < tile.bottom; y += share.warps) {
      Vec16 in;
      in.load(plane.in_row(y) + x, count, whole);
      of_chunk.add(in, a);
    }
    add_to_slots(a, tile, x, of_chunk,
                 [&](int slot, std::uint32_t sum) { atomicAdd(&sums[slot], sum); });
  }
}

template <int kSampleBytes>
__device__ inline void write_samples(const MosaicArguments& a, const MosaicTile& tile,
                                     const ThreadShare& share, const std::uint32_t* values) {
  const MosaicPlane& plane = tile.plane;
  for (int x = tile.first_chunk() + share.lane * Vec16::bytes; x < tile.end;
       x += warp_lanes * Vec16::bytes) {
    const int count = min(plane.row_bytes - x, Vec16::bytes);
    const bool whole = plane.aligned && count == Vec16::bytes;
    const bool in_tile = whole && x >= tile.begin && x + Vec16::bytes <= tile.end;
    const Replacement chunk =
        replacement<kSampleBytes>(a, tile, x, [&](int slot) { return values[slot]; });
    for (int y = tile.top + share.warp; y < tile.bottom; y += share.warps) {
      if (chunk.keeps) {
        Vec16 in;
        in.load(plane.in_row(y) + x, count, whole);
        store_in_tile(chunk.in_place_of(in), tile, x, plane.out_row(y), in_tile);
      } else {
        store_in_tile(chunk.result, tile, x, plane.out_row(y), in_tile);
      }
    }
  }
}

template <int kSampleBytes>
__global__ void __launch_bounds__(max_warps* warp_lanes)
    hide_blocks(const __grid_constant__ MosaicArguments a) {
  __shared__ std::uint32_t values[MosaicArguments::max_slots];
  const int number = static_cast<int>(blockIdx.x);
  const MosaicPlane& plane = plane_of_tile(a, number);
  const MosaicTile tile(a, plane, number);
  if (!tile.is_needed(a)) {
    // Even if idle, block 0 waits for the previous launch, so that launches finish in order.
    if (number == 0)
      grid_dependency_wait();
    launch_dependents();
    return;
  }
  const ThreadShare share;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int slot = thread; slot < tile.slots(); slot += threads)
    values[slot] = a.solid ? plane.value[slot % plane.channel_count] : 0;
  __syncthreads();
  grid_dependency_wait();
  // If only some tiles are processed, the next launch may use the idle multiprocessors.
  if (!a.everywhere)
    launch_dependents();
  if (!a.solid) {
    add_samples<kSampleBytes>(a, tile, share, values);
    __syncthreads();
    for (int slot = thread; slot < tile.slots(); slot += threads) {
      const int samples = tile.samples(a, slot);
      if (samples > 0)
        values[slot] = mean_of(values[slot], static_cast<std::uint32_t>(samples));
    }
    __syncthreads();
  }
  write_samples<kSampleBytes>(a, tile, share, values);
}

class MosaicCuda final : public Mosaic::Backend {
 public:
  MosaicCuda(Device& device, const FrameLayout& layout)
      : device_(device),
        layout_(layout),
        launcher_(device.stream(), hide_blocks<1>),
        kernel_(layout.bits > 8 ? hide_blocks<2> : hide_blocks<1>),
        launch_(layout, Parameters()) {}

  void set(const Parameters& parameters) override { launch_ = MosaicLaunch(layout_, parameters); }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) override {
    launch_.set_frames(in, out, active);
    const MosaicArguments& a = launch_.arguments;
    const int warps = std::clamp(a.block_size / thread_rows, 1, max_warps);
    if (a.tile_count > 0)
      launcher_(kernel_, static_cast<unsigned>(a.tile_count),
                static_cast<unsigned>(warps * warp_lanes), 0, a);
    if (!active)
      regions::copy_unused_rows(device_, layout_, in, out);
  }

 private:
  Device& device_;
  FrameLayout layout_;
  Launcher<MosaicArguments> launcher_;
  Launcher<MosaicArguments>::Kernel kernel_;
  MosaicLaunch launch_;
};

}  // namespace

std::unique_ptr<Mosaic::Backend> make_mosaic_cuda(Device& device, const FrameLayout& layout) {
  return std::make_unique<MosaicCuda>(device, layout);
}

}  // namespace cudavision::mosaic
