// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of SmoothedEqualize for up to 10 bits. Averages lie between the count and the
// table, so the steps are launches of their own.

#include <algorithm>

#include "cuda/core/cuda_check.h"
#include "cuda/histequalize/backend.h"
#include "cuda/histequalize/make_tables.cuh"
#include "cuda/histequalize/narrow.cuh"
#include "cuda/histequalize/smoothed_backend.h"
#include "cuda/histequalize/untouched_planes.h"

namespace cudavision::histequalize {
namespace {

/// All packs that a thread loads before it uses the first one.
template <class Pack>
constexpr int batch = Pack::words == 4 ? 4 : 1;

constexpr int blocks_per_multiprocessor = 2;

/* Counting red, green and blue */

struct CountEachArguments {
  PackedImage picture;
  PackStride stride;      // from one pack of a thread to its next
  std::uint32_t* counts;  // 3·kChunk, all zero
};

template <class Pack, Rows kRows>
__global__ void __launch_bounds__(applying_threads, blocks_per_multiprocessor)
    count_each_kernel(const __grid_constant__ CountEachArguments a) {
  constexpr int bins = 3 * kChunk;
  __shared__ std::uint32_t counts[bins];
  for_each_of<bins, applying_threads>([&](int bin) { counts[bin] = 0; });
  grid_dependency_wait();
  launch_dependents();
  __syncthreads();
  const PackCursor<kRows> first(a.picture, blockIdx.x * applying_threads + threadIdx.x);
  for_packs<Pack, batch<Pack>>(a.picture, first, a.stride,
                               [&](const std::uint32_t* data, const PackCursor<kRows>& at) {
                                 count_pack<Pack, Action::each, kRows>(data, at, a.picture, counts);
                               });
  __syncthreads();
  for_each_of<bins, applying_threads>([&](int bin) {
    if (counts[bin] != 0)
      DeviceAtomics::add(a.counts + bin, counts[bin]);
  });
}

/* Applying tables */

struct LookUpArguments {
  Arguments equalize;           // without the members for counting
  const std::uint16_t* tables;  // entries, of one table after the other
  int entries;
};

template <class Pack, Rows kRows, Action kAction, int kChunks>
__global__ void __launch_bounds__(applying_threads, blocks_per_multiprocessor)
    look_up_kernel(const __grid_constant__ LookUpArguments a) {
  using S = Sizes<kAction, kChunks>;
  using Entry = typename S::Entry;
  __shared__ alignas(16) Entry table[S::bins];
  grid_dependency_wait();
  launch_dependents();
  for_each_of<S::bins, applying_threads>([&](int i) {
    if (i >= a.entries)
      return;
    const int level = a.tables[i];
    table[i] = static_cast<Entry>(
        kAction == Action::shift ? level : blended(i % S::table_bins, level, a.equalize.blend));
  });
  __syncthreads();
  const std::uint32_t thread = blockIdx.x * applying_threads + threadIdx.x;
  for_packs<Pack, batch<Pack>>(a.equalize.picture, PackCursor<kRows>(a.equalize.picture, thread),
                               a.equalize.stride,
                               [&](std::uint32_t* data, const PackCursor<kRows>& at) {
                                 apply_table<Pack, kAction>(data, at, a.equalize, table);
                                 Pack::template store<kRows>(a.equalize.picture, at, data);
                               });
  copy_planes(a.equalize, thread, gridDim.x * applying_threads);
}

/* The choice of kernels */

using CountEachKernel = Launcher<CountEachArguments>::Kernel;
using LookUpKernel = Launcher<LookUpArguments>::Kernel;

constexpr int word_chunks = (1 << narrow_bits) / kChunk;

template <class Pack>
CountEachKernel count_each_kernel_for(Rows rows) {
  return rows == Rows::linear  ? count_each_kernel<Pack, Rows::linear>
         : rows == Rows::whole ? count_each_kernel<Pack, Rows::whole>
                               : count_each_kernel<Pack, Rows::ragged>;
}

CountEachKernel count_each_kernel_for(const Picture& picture) {
  switch (picture.kind) {
    case AccessPattern::packed_colour_3:
      return count_each_kernel_for<PackedColour<3>>(picture.rows);
    case AccessPattern::packed_colour_4:
      return count_each_kernel_for<PackedColour<4>>(picture.rows);
    case AccessPattern::planar_colour:
      return count_each_kernel_for<PlanarColour>(picture.rows);
    default:
      return count_each_kernel<ScatteredColour, Rows::ragged>;
  }
}

template <class Pack, Action kAction, int kChunks>
LookUpKernel look_up_kernel_for(Rows rows) {
  return rows == Rows::linear  ? look_up_kernel<Pack, Rows::linear, kAction, kChunks>
         : rows == Rows::whole ? look_up_kernel<Pack, Rows::whole, kAction, kChunks>
                               : look_up_kernel<Pack, Rows::ragged, kAction, kChunks>;
}

template <class Pack>
LookUpKernel colour_kernel_for(Rows rows, bool each) {
  return each ? look_up_kernel_for<Pack, Action::each, 1>(rows)
              : look_up_kernel_for<Pack, Action::shift, 1>(rows);
}

/// With each, there are three tables.
LookUpKernel look_up_kernel_for(const Picture& picture, bool each) {
  switch (picture.kind) {
    case AccessPattern::luma_bytes_1:
      return look_up_kernel_for<LumaBytes<1, 0>, Action::map, 1>(picture.rows);
    case AccessPattern::luma_bytes_2_0:
      return look_up_kernel_for<LumaBytes<2, 0>, Action::map, 1>(picture.rows);
    case AccessPattern::luma_bytes_2_1:
      return look_up_kernel_for<LumaBytes<2, 1>, Action::map, 1>(picture.rows);
    case AccessPattern::luma_words:
      return look_up_kernel_for<LumaWords<false>, Action::map, word_chunks>(picture.rows);
    case AccessPattern::packed_colour_3:
      return colour_kernel_for<PackedColour<3>>(picture.rows, each);
    case AccessPattern::packed_colour_4:
      return colour_kernel_for<PackedColour<4>>(picture.rows, each);
    case AccessPattern::planar_colour:
      return colour_kernel_for<PlanarColour>(picture.rows, each);
    case AccessPattern::scattered_luma_1:
      return look_up_kernel<ScatteredLuma<1>, Rows::ragged, Action::map, 1>;
    case AccessPattern::scattered_luma_2:
      return look_up_kernel<ScatteredLuma<2>, Rows::ragged, Action::map, word_chunks>;
    default:
      return each ? look_up_kernel<ScatteredColour, Rows::ragged, Action::each, 1>
                  : look_up_kernel<ScatteredColour, Rows::ragged, Action::shift, 1>;
  }
}

class SmoothedEqualizeCuda final : public SmoothedEqualize::Backend {
 public:
  SmoothedEqualizeCuda(Device& device, const FrameLayout& layout)
      : device_(device),
        maker_(layout),
        count_each_(device.stream(), count_each_kernel<ScatteredColour, Rows::ragged>),
        tables_(device),
        look_up_(device.stream(), look_up_kernel<ScatteredLuma<1>, Rows::ragged, Action::map, 1>),
        multiprocessors_(multiprocessor_count()) {}

  void count_each(const ConstFrame& in, View<std::uint32_t> counts) override {
    const int bytes = counts.height * static_cast<int>(counts.pitch);
    device_.fill({reinterpret_cast<std::uint8_t*>(counts.data), bytes, 1, bytes}, 0);
    const Picture picture = maker_.make(in, Frame{});
    CountEachArguments a{};
    a.picture = picture.packs;
    a.stride = stride(picture);
    a.counts = counts.data;
    count_each_(count_each_kernel_for(picture), blocks(picture), applying_threads, 0, a);
  }

  void make_tables(View<const std::uint32_t> counts, const Parameters& parameters,
                   View<std::uint16_t> tables) override {
    tables_.run(counts, parameters, tables);
  }

  void look_up(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables,
               const Parameters& parameters) override {
    const Picture picture = maker_.make(in, out);
    if (picture.scattered())
      copy_untouched_planes(device_, maker_, picture, in, out);
    LookUpArguments a{};
    a.equalize.picture = picture.packs;
    a.equalize.stride = stride(picture);
    std::copy(picture.copies, picture.copies + picture.copy_count, a.equalize.copies);
    a.equalize.copy_count = picture.copy_count;
    a.equalize.blend = parameters.blend;
    a.tables = tables.data;
    a.entries = tables.width * tables.height;
    look_up_(look_up_kernel_for(picture, tables.height > 1), blocks(picture), applying_threads, 0,
             a);
  }

 private:
  unsigned blocks(const Picture& picture) const {
    return std::min<std::uint32_t>(multiprocessors_ * blocks_per_multiprocessor,
                                   (picture.packs.count + applying_threads - 1) / applying_threads);
  }

  PackStride stride(const Picture& picture) const {
    return {blocks(picture) * applying_threads, picture.packs.per_row};
  }

  Device& device_;
  PictureMaker maker_;
  Launcher<CountEachArguments> count_each_;
  TableMaker tables_;
  Launcher<LookUpArguments> look_up_;
  int multiprocessors_;
};

}  // namespace

std::unique_ptr<SmoothedEqualize::Backend> make_smoothed_equalize_cuda(Device& device,
                                                                       const FrameLayout& layout) {
  if (layout.bits > narrow_bits)
    return make_smoothed_equalize_wide_cuda(device, layout);
  return std::make_unique<SmoothedEqualizeCuda>(device, layout);
}

}  // namespace cudavision::histequalize
