// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The blend of regions on CUDA: one launch for all planes. From sm_90 on, it may start while the
// previous operation is still running. Until the operation ends, it copies tiles whose weights are
// all 0, and finds the weights of other tiles, which need the operation's result. If all weights
// are 0, the operation may have launched nothing, and this launch copies the frame.

#include <cstring>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/core/tableuploader.h"
#include "cuda/regions/backend.h"
#include "cuda/regions/tile.h"
#include "cuda/regions/tileselection.h"

namespace cudavision::regions {
namespace {

/// Minimum number of blocks per multiprocessor. A copy needs many threads to hide the memory
/// latency: with eight warps, whose lanes load twice each, it took 3.05 µs for 3840×2160 bytes on
/// an H200, and 3.99 with four warps, whose lanes load four times.
#if __CUDACC_VER_MAJOR__ < 13
constexpr int weighing_blocks = 7;  // eight would spill 8 bytes
#else
constexpr int weighing_blocks = 8;
#endif
constexpr int copying_threads = 2 * BlendTile::threads;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
constexpr int selecting_blocks = 8, copying_blocks = 4;
#elif __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
constexpr int selecting_blocks = 9, copying_blocks = 8;
#else
constexpr int selecting_blocks = 9, copying_blocks = 6;
#endif

template <int kRows>
__device__ inline void load_input(const ThreadPart& part, int first, Vec16 (&in)[kRows]) {
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    if (part.has(first + r))
      in[r].load(part.plane.in_row(part.row(first + r)) + part.x, part.left, part.whole());
}

template <int kRows>
__device__ inline void store_output(const ThreadPart& part, int first, const Vec16 (&out)[kRows]) {
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    if (part.has(first + r))
      out[r].store(part.plane.out_row(part.row(first + r)) + part.x, part.left, part.whole());
}

__device__ inline void load_processed(const ThreadPart& part, int row, Vec16& vec) {
  const BlendPlane& plane = part.plane;
  vec.load(
      plane.processed + static_cast<std::int64_t>(part.row(row)) * plane.processed_pitch + part.x,
      part.left, part.whole());
}

/// Called by threads that need no result of the operation. Block 0 waits, so launches end in order.
__device__ inline void end_copy(int block) {
  if (block == 0)
    grid_dependency_wait();
}

/// Copies the frame if all weights are 0. Two threads share the rows of a part.
__global__ void __launch_bounds__(copying_threads, copying_blocks)
    copy_planes(const __grid_constant__ BlendArguments a) {
  constexpr int rows = BlendTile::thread_rows / 2;
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const ThreadPart part(plane_of_block(a, block), block, thread % BlendTile::threads);
  const int first = thread / BlendTile::threads * rows;
  launch_dependents();
  grid_dependency_wait();
  Vec16 in[rows];
  load_input(part, first, in);
  store_output(part, first, in);
}

/// Copies processed bytes in rectangles without a feather (tileselection.h), and input elsewhere.
template <int kSampleBytes>
__global__ void __launch_bounds__(BlendTile::threads, selecting_blocks)
    select_regions(const __grid_constant__ BlendArguments a) {
  constexpr int rows = BlendTile::thread_rows;
  __shared__ SelectedPart near[BlendTile::threads];
  __shared__ int near_count;

  launch_dependents();
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const BlendPlane& plane = plane_of_block(a, block);
  const ThreadPart part(plane, block, thread);
  Vec16 in[rows];
  load_input(part, 0, in);
  const Box tile = covered_by_tile(plane, a.fields, block);
  SelectedBytes selected;
  if (a.active.touch(tile)) {
    const ThreadPart first(plane, block, 0);
    for (int begin = 0; begin < a.region_count; begin += BlendTile::threads) {
      __syncthreads();
      if (thread == 0)
        near_count = 0;
      __syncthreads();
      const int number = begin + thread;
      if (number < a.region_count && overlap(a.regions[number].box, tile))
        near[atomicAdd(&near_count, 1)] = selected_part(a, plane, first.x, first.y, number);
      __syncthreads();
      for (int i = 0; i < near_count; ++i)
        selected.add(a, part, thread, near[i]);
    }
    selected.keep_samples(part);
  }
  if (!__any_sync(~0u, selected.any())) {
    store_output(part, 0, in);
    end_copy(block);
    return;
  }

  grid_dependency_wait();
  Vec16 processed[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r)
    if (part.has(r) && selected.row(r) != 0)
      load_processed(part, r, processed[r]);
#pragma unroll
  for (int r = 0; r < rows; ++r)
    if (selected.row(r) != 0)
#pragma unroll
      for (int w = 0; w < Vec16::word_count; ++w)
        in[r].words[w] = selected_word<kSampleBytes>(a, in[r].words[w], processed[r].words[w],
                                                     selected.row(r) >> (4 * w) & 15);
  store_output(part, 0, in);
}

/// Blends by the weights of regions. Rotated regions and masks require kAnyShape.
template <int kSampleBytes, bool kAnyShape>
__global__ void __launch_bounds__(BlendTile::threads, weighing_blocks)
    blend_regions(const __grid_constant__ BlendArguments a) {
  constexpr int rows = BlendTile::thread_rows, samples = Vec16::bytes / kSampleBytes;
  __shared__ std::uint16_t weights[rows][samples][BlendTile::threads];
  __shared__ std::uint16_t near[Parameters::max_count];
  __shared__ int near_count;

  launch_dependents();
  const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const BlendPlane& plane = plane_of_block(a, block);
  const ThreadPart part(plane, block, thread);
  Vec16 in[rows];
  const Box tile = covered_by_tile(plane, a.fields, block);
  if (!a.invert && !a.active.touch(tile)) {
    load_input(part, 0, in);
    store_output(part, 0, in);
    end_copy(block);
    return;
  }

  if (thread == 0)
    near_count = 0;
  __syncthreads();
  for (int i = thread; i < a.region_count; i += BlendTile::threads)
    if (overlap(grown(a.regions[i].box, a.feather), tile))
      near[atomicAdd(&near_count, 1)] = static_cast<std::uint16_t>(i);
  if (kAnyShape)
    for (int i = thread; i < a.rotated_count; i += BlendTile::threads)
      if (overlap(a.rotated[i].reached, tile))
        near[atomicAdd(&near_count, 1)] = static_cast<std::uint16_t>(a.region_count + i);
  __syncthreads();
  if (near_count == 0 && !a.invert && !(kAnyShape && a.distances)) {
    load_input(part, 0, in);
    store_output(part, 0, in);
    end_copy(block);
    return;
  }
  const auto weight_of = [&](int row, int sample) -> std::uint16_t& {
    return weights[row][sample][thread];
  };
  if (kAnyShape) {
    const bool any = find_weights_by_pixel<kSampleBytes>(a, part, {near, near_count}, weight_of);
    if (!__any_sync(~0u, any)) {
      load_input(part, 0, in);
      store_output(part, 0, in);
      end_copy(block);
      return;
    }
  } else {
    find_weights<kSampleBytes>(a, part, {near, near_count}, weight_of);
  }

  load_input(part, 0, in);
  grid_dependency_wait();
  Vec16 processed[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r)
    if (part.has(r))
      load_processed(part, r, processed[r]);
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int w = 0; w < Vec16::word_count; ++w)
      in[r].words[w] = blended_word<kSampleBytes>(
          a, in[r].words[w], processed[r].words[w],
          [&](int i) { return int{weights[r][w * (4 / kSampleBytes) + i][thread]}; });
  store_output(part, 0, in);
}

class RegionBlendCuda final : public RegionBlend::Backend {
 public:
  RegionBlendCuda(Device& device, const FrameLayout& layout)
      : uploader_(device, Parameters::max_count * words_of<RotatedRegion>),
        launcher_(device.stream(), select_regions<1>),
        blend_(layout.bits > 8 ? blend_regions<2, false> : blend_regions<1, false>),
        blend_any_(layout.bits > 8 ? blend_regions<2, true> : blend_regions<1, true>),
        select_(layout.bits > 8 ? select_regions<2> : select_regions<1>) {
    BlendArguments& a = arguments_;
    a.plane_count = layout.plane_count;
    a.shift = layout.shift;
    a.largest = (1u << layout.bits) - 1;
    a.width = layout.width;
    a.height = layout.height;
    a.regions = reinterpret_cast<const Region*>(uploader_.tables());
    for (int p = 0; p < layout.plane_count; ++p) {
      a.planes[p] = describe_plane(layout, p);
      a.planes[p].first_block = static_cast<int>(blocks_);
      blocks_ += static_cast<unsigned>(a.planes[p].strips) *
                 ((a.planes[p].rows + BlendTile::height - 1) / BlendTile::height);
    }
  }

  void set(const Parameters& parameters, const Selection& selection) override {
    arguments_.region_count = selection.count;
    arguments_.shape = parameters.shape;
    arguments_.feather = parameters.feather;
    arguments_.invert = parameters.invert;
    arguments_.fields = parameters.fields;
    arguments_.active = selection.active;
    arguments_.rotated =
        reinterpret_cast<const RotatedRegion*>(arguments_.regions + selection.count);
    arguments_.rotated_count = selection.rotated_count;
    const bool whole_pixels =
        parameters.shape == Shape::rectangle && parameters.feather == 0 && !parameters.invert;
    const bool none = !parameters.invert && !selection.active.any();
    masked_ = parameters.mask_count > 0;
    arguments_.mask_margin = parameters.mask_margin();
    arguments_.mask_feather = parameters.mask_feather();
    kernel_ = none                                     ? copy_planes
              : selection.rotated_count > 0 || masked_ ? blend_any_
              : whole_pixels                           ? select_
                                                       : blend_;
    const auto count = static_cast<std::size_t>(selection.count);
    const auto rotated = static_cast<std::size_t>(selection.rotated_count);
    if (count + rotated == 0)
      return;
    std::uint32_t* const tables = uploader_.next();
    std::memcpy(tables, selection.regions.data(), count * sizeof(Region));
    std::memcpy(tables + count * words_of<Region>, selection.rotated.data(),
                rotated * sizeof(RotatedRegion));
    uploader_.upload(count * words_of<Region> + rotated * words_of<RotatedRegion>);
  }

  void run(const ConstFrame& in, const ConstFrame& processed, const Frame& out,
           View<const std::uint8_t> distances) override {
    arguments_.distances = masked_ ? distances.data : nullptr;
    arguments_.distances_pitch = distances.pitch;
    for (int p = 0; p < arguments_.plane_count; ++p)
      set_addresses(in.planes[p], processed.planes[p], out.planes[p], arguments_.planes[p]);
    const int threads = kernel_ == copy_planes ? copying_threads : BlendTile::threads;
    launcher_(kernel_, blocks_, static_cast<unsigned>(threads), 0, arguments_);
  }

 private:
  static void set_addresses(View<const std::uint8_t> in, View<const std::uint8_t> processed,
                            View<std::uint8_t> out, BlendPlane& plane) {
    constexpr char operation[] = "region blending";
    static_cast<PlanePair&>(plane) = {in.data, out.data, kernel_pitch(operation, in.pitch),
                                      kernel_pitch(operation, out.pitch)};
    plane.processed = processed.data;
    plane.processed_pitch = kernel_pitch(operation, processed.pitch);
    plane.aligned = has_aligned_rows(in) && has_aligned_rows(processed) && has_aligned_rows(out);
  }

  template <class Table>
  static constexpr std::size_t words_of = sizeof(Table) / sizeof(std::uint32_t);
  static_assert(sizeof(Region) % sizeof(std::uint32_t) == 0);
  static_assert(sizeof(RotatedRegion) % sizeof(std::uint32_t) == 0 &&
                sizeof(RotatedRegion) >= sizeof(Region));

  TableUploader uploader_;
  Launcher<BlendArguments> launcher_;
  const Launcher<BlendArguments>::Kernel blend_, blend_any_, select_;
  Launcher<BlendArguments>::Kernel kernel_ = nullptr;
  BlendArguments arguments_;
  bool masked_ = false;
  unsigned blocks_ = 0;
};

}  // namespace

std::unique_ptr<RegionBlend::Backend> make_region_blend_cuda(Device& device,
                                                             const FrameLayout& layout) {
  return std::make_unique<RegionBlendCuda>(device, layout);
}

}  // namespace cudavision::regions
