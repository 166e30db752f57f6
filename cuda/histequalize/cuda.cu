// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend for up to 10 bits: chooses the kernels for a picture and launches them.

#include <algorithm>

#include "cuda/core/cuda_check.h"
#include "cuda/core/division.h"
#include "cuda/histequalize/backend.h"
#include "cuda/histequalize/make_tables.cuh"
#include "cuda/histequalize/narrow.cuh"
#include "cuda/histequalize/narrow_steps.cuh"
#include "cuda/pixels/access_pattern.h"

namespace cudavision::histequalize {
namespace {

using Kernel = Launcher<Arguments>::Kernel;

/// Packs that a thread keeps in registers. The loops over packs are unrolled, so small pictures use
/// the kernel for few packs, which has less code to skip.
template <class Pack>
constexpr int many_resident = Pack::words == 4 ? 8 : 2;
template <class Pack>
constexpr int few_resident = Pack::words == 4 ? 2 : 1;

template <class Pack, Rows kRows, Action kAction, int kChunks>
Kernel applying_kernel(std::uint32_t packs_per_thread) {
  // Ragged rows always use the kernel for few packs, which saves an instance.
  constexpr int many = kRows == Rows::ragged ? few_resident<Pack> : many_resident<Pack>;
  return packs_per_thread > few_resident<Pack>
             ? equalize_kernel<Pack, kRows, kAction, kChunks, many>
             : equalize_kernel<Pack, kRows, kAction, kChunks, few_resident<Pack>>;
}

template <class Pack>
constexpr int chunks_of = is_words<Pack> ? (1 << narrow_bits) / kChunk : 1;

Kernel find_kernel(const AccessPlan& plan, Action action, std::uint32_t packs_per_thread) {
  return with_pack_and_rows(plan, [&]<class Pack, Rows kRows>() -> Kernel {
    constexpr int chunks = chunks_of<Pack>;
    if (action == Action::histogram)
      return equalize_kernel<Pack, kRows, Action::histogram, chunks, 0>;
    if constexpr (!Pack::colour)
      return applying_kernel<Pack, kRows, Action::map, chunks>(packs_per_thread);
    else
      return action == Action::shift
                 ? applying_kernel<Pack, kRows, Action::shift, 1>(packs_per_thread)
                 : applying_kernel<Pack, kRows, Action::each, 1>(packs_per_thread);
  });
}

using CountEachKernel = Launcher<CountEachArguments>::Kernel;
using LookUpKernel = Launcher<LookUpArguments>::Kernel;

LookUpKernel find_look_up_kernel(const AccessPlan& plan, bool each) {
  return with_pack_and_rows(plan, [&]<class Pack, Rows kRows>() -> LookUpKernel {
    if constexpr (!Pack::colour)
      return look_up_kernel<Pack, kRows, Action::map, chunks_of<Pack>>;
    else
      return each ? look_up_kernel<Pack, kRows, Action::each, 1>
                  : look_up_kernel<Pack, kRows, Action::shift, 1>;
  });
}

class HistEqualizeCuda final : public Histogram::Backend {
 public:
  HistEqualizeCuda(Device& device, const FrameLayout& layout)
      : device_(device),
        layout_(layout),
        colour_(layout.find(Role::luma) < 0),
        planner_(layout),
        luminance_state_(zeroed_words(
            device, layout.bits == 8
                        ? Sizes<Action::map, 1>::Exchange::words
                        : Sizes<Action::map, chunks_of<LumaWords<false>>>::Exchange::words)),
        each_state_(zeroed_words(device, Sizes<Action::each, 1>::Exchange::words)),
        launch_(device.stream(), applying_kernel<LumaBytes<1, 0>, Rows::linear, Action::map, 1>(1)),
        count_each_(device.stream(), count_each_kernel<ScatteredColour, Rows::ragged>),
        tables_(device),
        look_up_(device.stream(), look_up_kernel<ScatteredLuma<1>, Rows::ragged, Action::map, 1>),
        multiprocessors_(multiprocessor_count()) {}

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void count(const ConstFrame& in, View<std::uint32_t> bins) override {
    enqueue(Action::histogram, in, Frame{}, bins);
  }

  bool run(const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram) override {
    const bool each = parameters_.channels == Parameters::Channels::each;
    if (each && histogram)
      count(in, histogram);
    enqueue(each ? Action::each : colour_ ? Action::shift : Action::map, in, out, histogram);
    return true;
  }

  void count_each(const ConstFrame& in, View<std::uint32_t> counts) override {
    const int bytes = counts.height * static_cast<int>(counts.pitch);
    device_.fill({reinterpret_cast<std::uint8_t*>(counts.data), bytes, 1, bytes}, 0);
    const AccessPlan plan = planner_.plan(in, Frame{});
    CountEachArguments a{};
    a.picture = plan.packs;
    a.stride = stride_of_step(plan);
    a.counts = counts.data;
    const auto kernel = with_pack_and_rows(plan, [&]<class Pack, Rows kRows>() -> CountEachKernel {
      if constexpr (Pack::colour)
        return count_each_kernel<Pack, kRows>;
      else
        return nullptr;
    });
    count_each_(kernel, blocks_of_step(plan), applying_threads, 0, a);
  }

  void make_tables(View<const std::uint32_t> counts, View<std::uint16_t> tables) override {
    tables_.run(counts, parameters_, tables);
  }

  void look_up(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables) override {
    AccessPlan plan = planner_.plan(in, out);
    if (plan.scattered())
      plan.copy_planes(device_);
    LookUpArguments a{};
    a.equalize.picture = plan.packs;
    a.equalize.stride = stride_of_step(plan);
    std::copy(plan.copies, plan.copies + plan.copy_count, a.equalize.copies);
    a.equalize.copy_count = plan.copy_count;
    a.equalize.blend = parameters_.blend;
    a.tables = tables.data;
    a.entries = tables.width * tables.height;
    look_up_(find_look_up_kernel(plan, tables.height > 1), blocks_of_step(plan), applying_threads,
             0, a);
  }

 private:
  void enqueue(Action action, const ConstFrame& in, const Frame& out,
               View<std::uint32_t> histogram) {
    AccessPlan plan = planner_.plan(in, out);
    if (plan.scattered())
      plan.copy_planes(device_);

    Arguments a{};
    a.picture = plan.packs;
    std::copy(plan.copies, plan.copies + plan.copy_count, a.copies);
    a.copy_count = plan.copy_count;
    a.state = action == Action::each ? each_state_.as<std::uint32_t>()
                                     : luminance_state_.as<std::uint32_t>();
    a.total =
        static_cast<std::uint32_t>(layout_.width) * static_cast<std::uint32_t>(layout_.height);
    a.histogram = histogram.data;
    a.histogram_bins = 1 << layout_.bits;
    a.low = parameters_.low;
    a.high = parameters_.high;
    a.blend = parameters_.blend;

    // The blocks wait for each other, so the launch is cooperative. One block per SM always fits.
    const int threads = action == Action::histogram ? counting_threads : applying_threads;
    const auto useful = divide_up(plan.packs.count, threads);
    const unsigned blocks = std::min<std::uint32_t>(multiprocessors_, useful);
    const std::uint32_t stride = blocks * threads;
    a.stride = PackStride(stride, plan.packs.per_row);
    const std::uint32_t packs_per_thread = divide_up(plan.packs.count, stride);
    launch_(find_kernel(plan, action, packs_per_thread), blocks, threads, 0, a, true);
  }

  unsigned blocks_of_step(const AccessPlan& plan) const {
    return std::min<std::uint32_t>(multiprocessors_ * step_blocks,
                                   divide_up(plan.packs.count, applying_threads));
  }

  PackStride stride_of_step(const AccessPlan& plan) const {
    return {blocks_of_step(plan) * applying_threads, plan.packs.per_row};
  }

  Device& device_;
  FrameLayout layout_;
  bool colour_;
  Parameters parameters_;
  AccessPlanner planner_;
  Buffer luminance_state_;  // for exchanging the counts of one table
  Buffer each_state_;       // for exchanging the counts of three tables
  Launcher<Arguments> launch_;
  Launcher<CountEachArguments> count_each_;
  TableMaker tables_;
  Launcher<LookUpArguments> look_up_;
  int multiprocessors_;
};

}  // namespace

std::unique_ptr<Histogram::Backend> make_histequalize_cuda(Device& device,
                                                           const FrameLayout& layout) {
  if (layout.bits > narrow_bits)
    return make_histequalize_wide_cuda(device, layout);
  return std::make_unique<HistEqualizeCuda>(device, layout);
}

}  // namespace cudavision::histequalize
