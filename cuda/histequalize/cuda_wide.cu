// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend for 11 to 16 bits: the three launches of wide.cuh, or separate steps.

#include <algorithm>

#include "cuda/core/cuda_check.h"
#include "cuda/core/division.h"
#include "cuda/histequalize/backend.h"
#include "cuda/histequalize/make_tables.cuh"
#include "cuda/histequalize/wide.cuh"
#include "cuda/pixels/access_pattern.h"

namespace cudavision::histequalize {
namespace {

struct WideKernels {
  void (*count)(WideArguments);
  void (*apply)(WideArguments);
  void (*apply_alone)(WideArguments);
};

template <class Pack, Rows kRows, bool kShared>
constexpr WideKernels wide_kernels = {count_wide_kernel<Pack, kRows>,
                                      apply_wide_kernel<Pack, kRows, kShared, false>,
                                      apply_wide_kernel<Pack, kRows, kShared, true>};

template <class Pack, bool kShared>
WideKernels find_dense_kernels(Rows rows) {
  return rows == Rows::linear  ? wide_kernels<Pack, Rows::linear, kShared>
         : rows == Rows::whole ? wide_kernels<Pack, Rows::whole, kShared>
                               : wide_kernels<Pack, Rows::ragged, kShared>;
}

template <bool kShared>
WideKernels find_wide_kernels(AccessPattern kind, Rows rows, bool all_bits) {
  return kind == AccessPattern::scattered_luma_2
             ? wide_kernels<ScatteredLuma<2>, Rows::ragged, kShared>
         : all_bits ? find_dense_kernels<LumaWords<true>, kShared>(rows)
                    : find_dense_kernels<LumaWords<false>, kShared>(rows);
}

class HistEqualizeWideCuda final : public Histogram::Backend {
 public:
  HistEqualizeWideCuda(Device& device, const FrameLayout& layout)
      : device_(device),
        layout_(layout),
        planner_(layout),
        bins_(1 << layout.bits),
        counters_(zeroed_words(device, bins_ + bins_ / kChunk)),
        table_(device.allocate(sizeof(std::uint16_t) * bins_)),
        launch_(device.stream(), table_wide_kernel),
        tables_(device),
        multiprocessors_(multiprocessor_count()) {
    const int shared_bytes =
        device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory");
    range_bins_ = bins_;
    while (range_bins_ * static_cast<int>(sizeof(std::uint32_t)) > shared_bytes)
      range_bins_ /= 2;
    const int table_bytes = bins_ * static_cast<int>(sizeof(std::uint16_t));
    shared_table_bytes_ = table_bytes <= shared_bytes ? table_bytes : 0;

    for (const AccessPattern kind : {AccessPattern::luma_words, AccessPattern::scattered_luma_2})
      for (const Rows rows : {Rows::ragged, Rows::whole, Rows::linear}) {
        const WideKernels kernels = find_kernels(kind, rows);
        allow_shared(kernels.count, range_bytes());
        allow_shared(kernels.apply, shared_table_bytes_);
        allow_shared(kernels.apply_alone, shared_table_bytes_);
      }
  }

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void count(const ConstFrame& in, View<std::uint32_t> bins) override {
    const AccessPlan plan = planner_.plan(in, Frame{});
    const WideArguments a = arguments(plan, bins);
    launch_count(plan, a);
    launch_(take_histogram_kernel, divide_up(bins_, kTableThreads), kTableThreads, 0, a);
  }

  bool run(const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram) override {
    AccessPlan plan = planner_.plan(in, out);
    const WideArguments a = arguments(plan, histogram);
    // Most formats of this depth have small chroma planes or none, so separate copies cost little.
    plan.copy_planes(device_);
    launch_count(plan, a);
    launch_(table_wide_kernel, bins_ / kChunk, kTableThreads, 0, a);
    launch_(find_kernels(plan.kind, plan.rows).apply, applying_blocks(plan), kThreads,
            shared_table_bytes_, a);
    return true;
  }

  // Never called: layouts of this depth have luma.
  void count_each(const ConstFrame&, View<std::uint32_t>) override {}

  void make_tables(View<const std::uint32_t> counts, View<std::uint16_t> tables) override {
    tables_.run(counts, parameters_, tables);
  }

  void look_up(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables) override {
    AccessPlan plan = planner_.plan(in, out);
    plan.copy_planes(device_);
    WideArguments a = arguments(plan, {});
    a.table = const_cast<std::uint16_t*>(tables.data);  // the kernel only reads the table
    launch_(find_kernels(plan.kind, plan.rows).apply_alone, applying_blocks(plan), kThreads,
            shared_table_bytes_, a);
  }

 private:
  static void allow_shared(void (*kernel)(WideArguments), int bytes) {
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
               "reserving shared memory on the GPU");
  }

  int ranges() const { return bins_ / range_bins_; }

  /// Number of parts of the picture. Each part is read by one block per range of bins.
  unsigned counting_parts(const AccessPlan& plan) const {
    return std::clamp<std::uint32_t>(divide_up(plan.packs.count, kThreads), 1,
                                     std::max(1, multiprocessors_ / ranges()));
  }

  unsigned applying_blocks(const AccessPlan& plan) const {
    return std::min<std::uint32_t>(multiprocessors_, divide_up(plan.packs.count, kThreads));
  }

  int range_bytes() const { return range_bins_ * static_cast<int>(sizeof(std::uint32_t)); }

  WideArguments arguments(const AccessPlan& plan, View<std::uint32_t> histogram) const {
    WideArguments a{};
    a.picture = plan.packs;
    a.counting_stride = PackStride(counting_parts(plan) * kThreads, a.picture.per_row);
    a.applying_stride = PackStride(applying_blocks(plan) * kThreads, a.picture.per_row);
    a.counts = counters_.as<std::uint32_t>();
    a.chunk_sums = a.counts + bins_;
    a.table = table_.as<std::uint16_t>();
    a.histogram = histogram.data;
    a.total =
        static_cast<std::uint32_t>(layout_.width) * static_cast<std::uint32_t>(layout_.height);
    a.bins = bins_;
    a.range_bins = range_bins_;
    a.low = parameters_.low;
    a.high = parameters_.high;
    a.blend = parameters_.blend;
    return a;
  }

  void launch_count(const AccessPlan& plan, const WideArguments& a) {
    launch_(find_kernels(plan.kind, plan.rows).count, counting_parts(plan) * ranges(), kThreads,
            range_bytes(), a);
  }

  WideKernels find_kernels(AccessPattern kind, Rows rows) const {
    return shared_table_bytes_ ? find_wide_kernels<true>(kind, rows, bins_ == 1 << 16)
                               : find_wide_kernels<false>(kind, rows, bins_ == 1 << 16);
  }

  Device& device_;
  FrameLayout layout_;
  Parameters parameters_;
  AccessPlanner planner_;
  int bins_;
  Buffer counters_;
  Buffer table_;
  Launcher<WideArguments> launch_;
  TableMaker tables_;
  int multiprocessors_;
  int range_bins_ = 0;
  int shared_table_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Histogram::Backend> make_histequalize_wide_cuda(Device& device,
                                                                const FrameLayout& layout) {
  return std::make_unique<HistEqualizeWideCuda>(device, layout);
}

}  // namespace cudavision::histequalize
