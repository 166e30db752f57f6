// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend. A warp computes a segment of the output, and a block segments below each other,
// whose samples overlap, so that most of them come from the L1 cache.

#include <cstdint>
#include <type_traits>

#include "cuda/core/cuda_launch.h"
#include "cuda/remap/backend.h"
#include "cuda/remap/samples.cuh"

namespace cudavision::remap {
namespace {

constexpr unsigned warp = 32;
constexpr int thread_pixels = segment_pixels / static_cast<int>(warp);
constexpr unsigned block_rows = 8;
constexpr unsigned threads = warp * block_rows;

struct RemapArguments {
  const std::uint8_t* in;
  int in_pitch;
  int in_width, in_height;
  int shift;
  std::uint32_t largest;
  const Segment* segments;
  const void* offsets;
  unsigned segments_per_row;
  int height;  ///< rows of the output
  std::uint8_t* out;
  std::int64_t out_pitch;
};

/// Returns the sample at a place whose four neighbours are in the picture.
template <Access kAccess>
__device__ int pixel_inside(const RemapArguments& a, const Place& place) {
  constexpr int next = sample_bytes<kAccess>;
  const std::uint8_t* const top = a.in + static_cast<std::int64_t>(a.in_pitch) * place.row() +
                                  static_cast<std::int64_t>(next) * place.column();
  const std::uint8_t* const bottom = top + a.in_pitch;
  return blend(place, load_sample<kAccess>(a, top), load_sample<kAccess>(a, top + next),
               load_sample<kAccess>(a, bottom), load_sample<kAccess>(a, bottom + next));
}

/// Returns the sample at any place.
template <Access kAccess>
__device__ int pixel_anywhere(const RemapArguments& a, const Place& place) {
  const auto sample = [&](int x, int y) {
    const bool exists = static_cast<unsigned>(x) < static_cast<unsigned>(a.in_width) &&
                        static_cast<unsigned>(y) < static_cast<unsigned>(a.in_height);
    return exists
               ? load_sample<kAccess>(a, a.in + static_cast<std::int64_t>(a.in_pitch) * y +
                                             static_cast<std::int64_t>(sample_bytes<kAccess>) * x)
               : 0;
  };
  const int x = place.column(), y = place.row();
  return blend(place, sample(x, y), sample(x + 1, y), sample(x, y + 1), sample(x + 1, y + 1));
}

template <class Offset>
struct alignas(16) ThreadOffsets {
  Offset offset[thread_pixels];
};

template <class Sample>
struct alignas(sizeof(Sample) * thread_pixels) ThreadSamples {
  Sample sample[thread_pixels];
};

template <Access kAccess, class Offset>
__global__ void __launch_bounds__(threads) remap_kernel(const __grid_constant__ RemapArguments a) {
  using Sample = std::conditional_t<kAccess == Access::bytes, std::uint8_t, std::uint16_t>;
  launch_dependents();
  const int lane = static_cast<int>(threadIdx.x % warp);
  const int column = static_cast<int>(blockIdx.x % a.segments_per_row);
  const int y = static_cast<int>(blockIdx.x / a.segments_per_row * block_rows + threadIdx.x / warp);
  // No launch writes to the map, so it need not be waited for.
  const std::int64_t number =
      static_cast<std::int64_t>(a.segments_per_row) * min(y, a.height - 1) + column;
  const Segment segment = a.segments[number];
  const auto mine = static_cast<const ThreadOffsets<Offset>*>(a.offsets)[number * warp + lane];
  grid_dependency_wait();
  if (y >= a.height)
    return;

  ThreadSamples<Sample> samples;
  // All pixels of a thread take the same branch, so that their loads are in flight together.
  if (segment.inside) {
#pragma unroll
    for (int i = 0; i < thread_pixels; ++i)
      samples.sample[i] =
          static_cast<Sample>(pixel_inside<kAccess>(a, place_at(segment, mine.offset[i])));
  } else {
#pragma unroll
    for (int i = 0; i < thread_pixels; ++i)
      samples.sample[i] =
          static_cast<Sample>(pixel_anywhere<kAccess>(a, place_at(segment, mine.offset[i])));
  }
  reinterpret_cast<ThreadSamples<Sample>*>(a.out + a.out_pitch * y)[column * warp + lane] = samples;
}

using Kernel = Launcher<RemapArguments>::Kernel;

template <Access kAccess>
Kernel kernel_for(bool wide) {
  return wide ? remap_kernel<kAccess, std::uint64_t> : remap_kernel<kAccess, std::uint32_t>;
}

Kernel kernel_for(const SamplePlane& in, bool wide) {
  if (in.bits == 8)
    return kernel_for<Access::bytes>(wide);
  const bool even = (reinterpret_cast<std::uintptr_t>(in.rows.data) | in.rows.pitch) % 2 == 0;
  return even ? kernel_for<Access::words>(wide) : kernel_for<Access::split_words>(wide);
}

class RemapCuda final : public Remap::Backend {
 public:
  RemapCuda(Device& device, const PackedMap& map)
      : map_(map), launch_(device.stream(), remap_kernel<Access::bytes, std::uint32_t>) {}

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    RemapArguments a{};
    a.in = in.rows.data;
    a.in_pitch = static_cast<int>(in.rows.pitch);
    a.in_width = in.width;
    a.in_height = in.height();
    a.shift = in.shift;
    a.largest = (1u << in.bits) - 1;
    a.segments = map_.segments();
    a.offsets = map_.offsets();
    a.segments_per_row = static_cast<unsigned>(map_.segments_per_row());
    a.height = map_.height();
    a.out = out.data;
    a.out_pitch = out.pitch;
    const unsigned rows_of_blocks =
        (static_cast<unsigned>(map_.height()) + block_rows - 1) / block_rows;
    launch_(kernel_for(in, map_.wide()), rows_of_blocks * a.segments_per_row, threads, 0, a);
  }

 private:
  const PackedMap& map_;
  Launcher<RemapArguments> launch_;
};

}  // namespace

std::unique_ptr<Remap::Backend> make_remap_cuda(Device& device, const PackedMap& map) {
  return std::make_unique<RemapCuda>(device, map);
}

}  // namespace cudavision::remap
