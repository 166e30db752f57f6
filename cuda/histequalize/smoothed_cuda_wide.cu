// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of SmoothedEqualize for 11 to 16 bits.

#include <algorithm>

#include "cuda/core/cuda_check.h"
#include "cuda/histequalize/make_tables.cuh"
#include "cuda/histequalize/smoothed_backend.h"
#include "cuda/histequalize/untouched_planes.h"
#include "cuda/histequalize/wide.cuh"
#include "cuda/pixels/access_pattern.h"

namespace cudavision::histequalize {
namespace {

struct WideLookUpArguments {
  PackedImage picture;
  PackStride stride;           // from one pack of a thread to its next
  const std::uint16_t* table;  // 2^bits
  int bins;
  int blend;
};

/// With kShared, each block copies the table to shared memory. GPUs whose SMs have no room for it
/// use the kernel without kShared.
template <class Pack, Rows kRows, bool kShared>
__global__ void __launch_bounds__(kThreads, 1)
    look_up_wide_kernel(const __grid_constant__ WideLookUpArguments a) {
  extern __shared__ uint4 shared_table[];
  grid_dependency_wait();
  launch_dependents();
  const PackCursor<kRows> first(a.picture, blockIdx.x * kThreads + threadIdx.x);
  stream_packs<Pack>(
      a.picture, first, a.stride,
      [&] {
        if (kShared) {
          const uint4* from = reinterpret_cast<const uint4*>(a.table);
#pragma unroll 8
          for (int i = threadIdx.x; i < a.bins / 8; i += kThreads)
            shared_table[i] = from[i];
          __syncthreads();
        }
      },
      [&](std::uint32_t* data, const PackCursor<kRows>& at) {
        const std::uint16_t* table =
            kShared ? reinterpret_cast<const std::uint16_t*>(shared_table) : a.table;
        const int existing = pixels_in<Pack, kRows>(a.picture, at);
#pragma unroll
        for (int i = 0; i < Pack::pixels; ++i) {
          if (i >= existing)
            break;
          const auto value = static_cast<int>(Pack::value(data, i, a.picture));
          Pack::set(data, i, static_cast<std::uint32_t>(blended(value, table[value], a.blend)),
                    a.picture);
        }
        Pack::template store<kRows>(a.picture, at, data);
      });
}

using Kernel = Launcher<WideLookUpArguments>::Kernel;

template <class Pack, bool kShared>
Kernel kernel_for(Rows rows) {
  return rows == Rows::linear  ? look_up_wide_kernel<Pack, Rows::linear, kShared>
         : rows == Rows::whole ? look_up_wide_kernel<Pack, Rows::whole, kShared>
                               : look_up_wide_kernel<Pack, Rows::ragged, kShared>;
}

template <bool kShared>
Kernel kernel_for(AccessPattern kind, Rows rows, bool all_bits) {
  return kind == AccessPattern::scattered_luma_2
             ? look_up_wide_kernel<ScatteredLuma<2>, Rows::ragged, kShared>
         : all_bits ? kernel_for<LumaWords<true>, kShared>(rows)
                    : kernel_for<LumaWords<false>, kShared>(rows);
}

class SmoothedEqualizeWideCuda final : public SmoothedEqualize::Backend {
 public:
  SmoothedEqualizeWideCuda(Device& device, const FrameLayout& layout)
      : device_(device),
        all_bits_(layout.bits == 16),
        maker_(layout),
        tables_(device),
        look_up_(device.stream(), kernel_for<LumaWords<true>, false>(Rows::ragged)),
        multiprocessors_(multiprocessor_count()) {
    const int table_bytes = static_cast<int>(sizeof(std::uint16_t)) << layout.bits;
    const int available =
        device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory");
    if (table_bytes > available)
      return;
    shared_bytes_ = table_bytes;
    for (const AccessPattern kind : {AccessPattern::luma_words, AccessPattern::scattered_luma_2})
      for (const Rows rows : {Rows::ragged, Rows::whole, Rows::linear})
        cuda_check(cudaFuncSetAttribute(kernel_for<true>(kind, rows, all_bits_),
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes_),
                   "reserving shared memory on the GPU");
  }

  void count_each(const ConstFrame&, View<std::uint32_t>) override {
    // Layouts of this depth have luma, which Histogram counts.
  }

  void make_tables(View<const std::uint32_t> counts, const Parameters& parameters,
                   View<std::uint16_t> tables) override {
    tables_.run(counts, parameters, tables);
  }

  void look_up(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables,
               const Parameters& parameters) override {
    const Picture picture = maker_.make(in, out);
    copy_untouched_planes(device_, maker_, picture, in, out);
    const unsigned blocks =
        std::min<std::uint32_t>(multiprocessors_, (picture.packs.count + kThreads - 1) / kThreads);
    WideLookUpArguments a{};
    a.picture = picture.packs;
    a.stride = PackStride(blocks * kThreads, picture.packs.per_row);
    a.table = tables.data;
    a.bins = tables.width;
    a.blend = parameters.blend;
    const Kernel kernel = shared_bytes_ ? kernel_for<true>(picture.kind, picture.rows, all_bits_)
                                        : kernel_for<false>(picture.kind, picture.rows, all_bits_);
    look_up_(kernel, blocks, kThreads, shared_bytes_, a);
  }

 private:
  Device& device_;
  bool all_bits_;
  PictureMaker maker_;
  TableMaker tables_;
  Launcher<WideLookUpArguments> look_up_;
  int multiprocessors_;
  int shared_bytes_ = 0;
};

}  // namespace

std::unique_ptr<SmoothedEqualize::Backend> make_smoothed_equalize_wide_cuda(
    Device& device, const FrameLayout& layout) {
  return std::make_unique<SmoothedEqualizeWideCuda>(device, layout);
}

}  // namespace cudavision::histequalize
