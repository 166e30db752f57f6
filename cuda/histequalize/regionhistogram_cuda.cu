// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts regions on CUDA. Each block has a tile of the picture. Where regions reach it, the block
// finds out for each pack which of its pixels are selected, and counts these.

#include "cuda/core/cuda_launch.h"
#include "cuda/histequalize/regionhistogram_backend.h"
#include "cuda/histequalize/selectedpixels.h"
#include "cuda/pixels/access_pattern.h"
#include "cuda/pixels/pixel_pack.h"
#include "cuda/regions/regionuploader.h"
#include "cuda/sync/interblock.cuh"

namespace cudavision::histequalize {
namespace {

using regions::Box;

/// A tile is 32 packs in 32 rows. The lanes of a warp have packs side by side.
constexpr int lanes = 32, warps = 8;
constexpr int region_threads = lanes * warps;
constexpr int thread_rows = 4;
constexpr int region_blocks = 4;  // that must fit on a multiprocessor
constexpr int tile_rows = warps * thread_rows;

/// The largest number of bins that blocks count in shared memory: 2^12, or three times 2^8.
constexpr int max_shared_bins = 1 << 12;
constexpr int channel_bins = 256;  // of red, green or blue

struct RegionCountArguments {
  PackedImage picture;
  PixelSelection selection;
  int tiles_per_row;
  std::uint32_t* counts;  // all zero
  int bins;               // of all histograms
};

template <class Pack, bool kEach>
__device__ void count_pixel(const std::uint32_t* data, int number, const PackedImage& picture,
                            std::uint32_t* counts) {
  if constexpr (kEach) {
    const std::uint32_t pixel = Pack::pixel(data, number);
#pragma unroll
    for (int b = 0; b < Pack::bytes; ++b)
      if (byte_of(picture.keep, b) == 0)
        atomicAdd(counts + picture.table_of[b] * channel_bins + byte_of(pixel, b), 1u);
  } else if constexpr (Pack::colour) {
    atomicAdd(counts + packed_luminance(Pack::pixel(data, number), picture), 1u);
  } else {
    atomicAdd(counts + Pack::value(data, number, picture), 1u);
  }
}

/// Returns a bit for each pixel of a pack: 1 if it is selected.
template <class Pack>
__device__ std::uint32_t selected_in_pack(const RegionCountArguments& a, const std::uint16_t* near,
                                          int near_count, int pack, int y) {
  const int left = pack * Pack::pixels;
  const int pixels = a.picture.width - left < Pack::pixels ? a.picture.width - left : Pack::pixels;
  return pixels > 0 ? selected_pixels(a.selection, near, near_count, left, pixels, y) : 0;
}

/// With kShared, each block counts in shared memory first.
template <class Pack, bool kEach, bool kShared>
__global__ void __launch_bounds__(region_threads, region_blocks)
    count_regions_kernel(const __grid_constant__ RegionCountArguments a) {
  __shared__ std::uint32_t shared_counts[kShared ? max_shared_bins : 1];
  __shared__ std::uint32_t selected[thread_rows][region_threads];
  __shared__ std::uint16_t near[regions::Parameters::max_count];
  __shared__ int near_count;
  grid_dependency_wait();
  launch_dependents();
  const int thread = static_cast<int>(threadIdx.x);
  const int first_pack = static_cast<int>(blockIdx.x) % a.tiles_per_row * lanes;
  const int top = static_cast<int>(blockIdx.x) / a.tiles_per_row * tile_rows;
  const Box tile{first_pack * Pack::pixels, top, (first_pack + lanes) * Pack::pixels,
                 top + tile_rows};
  if (!a.selection.everywhere && !a.selection.active.touch(tile))
    return;

  if (thread == 0)
    near_count = 0;
  if (kShared)
    for (int bin = thread; bin < a.bins; bin += region_threads)
      shared_counts[bin] = 0;
  __syncthreads();
  for (int i = thread; i < a.selection.region_count; i += region_threads)
    if (overlap(grown(a.selection.regions[i].box, a.selection.feather), tile))
      near[atomicAdd(&near_count, 1)] = static_cast<std::uint16_t>(i);
  __syncthreads();

  const int pack = first_pack + thread % lanes;
  const int y = top + thread / lanes;
  // Shared memory holds the selection, to save registers.
#pragma unroll 1
  for (int row = 0; row < thread_rows; ++row)
    selected[row][thread] = pack < a.picture.per_row && y + row * warps < a.picture.rows
                                ? selected_in_pack<Pack>(a, near, near_count, pack, y + row * warps)
                                : 0;
  std::uint32_t* const counts = kShared ? shared_counts : a.counts;
#pragma unroll 1
  for (int row = 0; row < thread_rows; ++row) {
    const std::uint32_t pixels = selected[row][thread];
    if (pixels == 0)
      continue;
    const PackCursor<Rows::ragged> at(
        a.picture, static_cast<std::uint32_t>((y + row * warps) * a.picture.per_row + pack));
    std::uint32_t data[Pack::words];
    Pack::template load<Rows::ragged>(a.picture, at, data);
#pragma unroll
    for (int i = 0; i < Pack::pixels; ++i)
      if ((pixels >> i & 1) != 0)
        count_pixel<Pack, kEach>(data, i, a.picture, counts);
  }

  if (!kShared)
    return;
  __syncthreads();
  for (int bin = thread; bin < a.bins; bin += region_threads)
    if (shared_counts[bin] != 0)
      DeviceAtomics::add(a.counts + bin, shared_counts[bin]);
}

using Kernel = Launcher<RegionCountArguments>::Kernel;

template <class Pack>
Kernel words_kernel(bool shared) {
  return shared ? count_regions_kernel<Pack, false, true>
                : count_regions_kernel<Pack, false, false>;
}

template <class Pack>
Kernel colour_kernel(bool each) {
  return each ? count_regions_kernel<Pack, true, true> : count_regions_kernel<Pack, false, true>;
}

Kernel kernel_for(AccessPattern kind, bool each, bool shared) {
  switch (kind) {
    case AccessPattern::luma_bytes_1:
      return count_regions_kernel<LumaBytes<1, 0>, false, true>;
    case AccessPattern::luma_bytes_2_0:
      return count_regions_kernel<LumaBytes<2, 0>, false, true>;
    case AccessPattern::luma_bytes_2_1:
      return count_regions_kernel<LumaBytes<2, 1>, false, true>;
    case AccessPattern::luma_words:
      return words_kernel<LumaWords<false>>(shared);
    case AccessPattern::packed_colour_3:
      return colour_kernel<PackedColour<3>>(each);
    case AccessPattern::packed_colour_4:
      return colour_kernel<PackedColour<4>>(each);
    case AccessPattern::planar_colour:
      return colour_kernel<PlanarColour>(each);
    case AccessPattern::scattered_luma_1:
      return count_regions_kernel<ScatteredLuma<1>, false, true>;
    case AccessPattern::scattered_luma_2:
      return words_kernel<ScatteredLuma<2>>(shared);
    default:
      return colour_kernel<ScatteredColour>(each);
  }
}

class RegionHistogramCuda final : public RegionHistogram::Backend {
 public:
  RegionHistogramCuda(Device& device, const FrameLayout& layout)
      : device_(device),
        planner_(layout),
        uploader_(device),
        launch_(device.stream(), count_regions_kernel<ScatteredLuma<1>, false, true>) {
    arguments_.selection.regions = uploader_.regions();
  }

  void set(const regions::Parameters& parameters, const regions::Selection& selection) override {
    PixelSelection& s = arguments_.selection;
    s.region_count = selection.regions.count;
    s.shape = parameters.shape;
    s.feather = parameters.feather;
    s.invert = parameters.invert;
    s.everywhere = selection.everywhere;
    s.active = selection.active;
    uploader_.upload(selection.regions);
  }

  void count(const ConstFrame& in, View<std::uint32_t> bins) override {
    const int bytes = bins.width * bins.height * static_cast<int>(sizeof(std::uint32_t));
    device_.fill({reinterpret_cast<std::uint8_t*>(bins.data), bytes, 1, bytes}, 0);
    const AccessPlan plan = planner_.plan(in, Frame{});
    RegionCountArguments& a = arguments_;
    a.picture = plan.packs;
    a.counts = bins.data;
    a.bins = bins.width * bins.height;
    const Kernel kernel = kernel_for(plan.kind, bins.height > 1, a.bins <= max_shared_bins);
    a.tiles_per_row = (a.picture.per_row + lanes - 1) / lanes;
    const int tiles = a.tiles_per_row * ((a.picture.rows + tile_rows - 1) / tile_rows);
    launch_(kernel, static_cast<unsigned>(tiles), region_threads, 0, a);
  }

 private:
  Device& device_;
  AccessPlanner planner_;
  regions::RegionUploader uploader_;
  Launcher<RegionCountArguments> launch_;
  RegionCountArguments arguments_{};
};

}  // namespace

std::unique_ptr<RegionHistogram::Backend> make_region_histogram_cuda(Device& device,
                                                                     const FrameLayout& layout) {
  return std::make_unique<RegionHistogramCuda>(device, layout);
}

}  // namespace cudavision::histequalize
