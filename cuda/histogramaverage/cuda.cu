// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backends. update_kernel averages a frame. Unless the frame begins an average,
// sums_kernel first sums the differences, because a scene cut depends on the whole frame.

#include <algorithm>

#include "cuda/core/cuda_check.h"
#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/core/warp.cuh"
#include "cuda/histogramaverage/arithmetic.h"
#include "cuda/histogramaverage/backend.h"
#include "cuda/sync/interblock.cuh"

namespace cudavision::histogramaverage {
namespace {

constexpr int warp = 32;

/// Number of blocks, at most 8 per multiprocessor. Threads loop over the remaining elements.
unsigned blocks_for(std::int64_t elements, int per_block, int multiprocessors) {
  constexpr int resident = 8;
  return static_cast<unsigned>(
      std::min<std::int64_t>(divide_up(elements, per_block), multiprocessors * resident));
}

struct AverageArguments {
  View<const std::uint32_t> counts;  // rows of 2^bits
  int bits;
  int weight, cut_threshold;
  bool begins;
  const std::uint32_t* area_change;  // may be null
  int slices;  // threads of sums_kernel that share the histograms of a bin; a power of two
  unsigned parts;
  SceneSums* sums;  // one per block
  std::uint64_t* states;
  std::uint32_t* averages;
  Status* status;
};

constexpr int sums_threads = 512;
constexpr int max_slices = sums_threads / warp;  // so that a warp reads adjacent bins
constexpr int update_threads = 256;

template <int kThreads>
__device__ SceneSums sums_of_block(const SceneSums& sums) {
  return {sum_of_block<kThreads>(sums.difference), sum_of_block<kThreads>(sums.counts)};
}

/// Writes the sums over the bins of the block. A thread adds one bin of every slices-th histogram.
__global__ void __launch_bounds__(sums_threads)
    sums_kernel(const __grid_constant__ AverageArguments a) {
  struct Bin {
    std::uint64_t count, average;
  };
  __shared__ Bin parts[sums_threads];
  grid_dependency_wait();
  launch_dependents();
  const int block_bins = sums_threads / a.slices;
  const int slice = static_cast<int>(threadIdx.x) / block_bins;
  const int bin =
      static_cast<int>(blockIdx.x) * block_bins + static_cast<int>(threadIdx.x) % block_bins;
  Bin sum{0, 0};
  if (bin < a.counts.width) {
#pragma unroll 4
    for (int i = slice; i < a.counts.height; i += a.slices) {
      sum.count += a.counts.row(i)[bin];
      sum.average += rounded_average(a.states[static_cast<std::int64_t>(i) * a.counts.width + bin]);
    }
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  SceneSums sums{};
  if (slice == 0) {
    for (int s = 1; s < a.slices; ++s) {
      sum.count += parts[s * block_bins + threadIdx.x].count;
      sum.average += parts[s * block_bins + threadIdx.x].average;
    }
    add_bin(sums, sum.count, sum.average);
  }
  sums = sums_of_block<sums_threads>(sums);
  if (threadIdx.x == 0)
    a.sums[blockIdx.x] = sums;
}

__global__ void __launch_bounds__(update_threads)
    update_kernel(const __grid_constant__ AverageArguments a) {
  grid_dependency_wait();
  launch_dependents();
  bool cut = false;
  if (!a.begins) {
    SceneSums sums{};
    for (unsigned part = threadIdx.x; part < a.parts; part += update_threads) {
      sums.difference += a.sums[part].difference;
      sums.counts += a.sums[part].counts;
    }
    cut = is_scene_cut(sums_of_block<update_threads>(sums), a.cut_threshold, a.area_change);
  }
  const bool begins = a.begins || cut;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    a.status->restarted = begins;
    a.status->is_cut = cut;
    a.status->cuts += cut;
  }
  const std::int64_t entries = static_cast<std::int64_t>(a.counts.height) * a.counts.width;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * update_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * update_threads + threadIdx.x;
       i < entries; i += stride) {
    const std::uint32_t count =
        a.counts.row(static_cast<int>(i >> a.bits))[i & (a.counts.width - 1)];
    const std::uint64_t state =
        begins ? first_state(count) : next_state(a.states[i], count, a.weight);
    a.states[i] = state;
    a.averages[i] = rounded_average(state);
  }
}

class HistogramAverageCuda final : public HistogramAverage::Backend {
 public:
  HistogramAverageCuda(Device& device, int max_histograms, int bits)
      : bits_(bits),
        states_(device.allocate(sizeof(std::uint64_t) * max_histograms << bits)),
        averages_(device.allocate(sizeof(std::uint32_t) * max_histograms << bits)),
        sums_(device.allocate(sizeof(SceneSums) * parts(max_slices))),
        status_(zeroed_words(device, sizeof(Status) / sizeof(std::uint32_t))),
        launch_(device.stream(), update_kernel),
        multiprocessors_(multiprocessor_count()) {}

  View<const std::uint32_t> run(View<const std::uint32_t> counts, const Parameters& parameters,
                                bool begins, const std::uint32_t* area_change) override {
    AverageArguments a{};
    a.counts = counts;
    a.bits = bits_;
    a.weight = parameters.weight;
    a.cut_threshold = parameters.cut_threshold;
    a.begins = begins;
    a.area_change = area_change;
    a.slices = 1;
    while (a.slices < max_slices && a.slices < counts.height)
      a.slices *= 2;
    a.parts = parts(a.slices);
    a.sums = sums_.as<SceneSums>();
    a.states = states_.as<std::uint64_t>();
    a.averages = averages_.as<std::uint32_t>();
    a.status = status_.as<Status>();
    if (!begins)
      launch_(sums_kernel, a.parts, sums_threads, 0, a);
    launch_(update_kernel,
            blocks_for(static_cast<std::int64_t>(counts.height) << bits_, update_threads,
                       multiprocessors_),
            update_threads, 0, a);
    return contiguous_rows(a.averages, counts.width, counts.height);
  }

  const Status* status() const noexcept override { return status_.as<Status>(); }

 private:
  unsigned parts(int slices) const {
    return static_cast<unsigned>(divide_up(1 << bits_, sums_threads / slices));
  }

  int bits_;
  Buffer states_;
  Buffer averages_;
  Buffer sums_;
  Buffer status_;
  Launcher<AverageArguments> launch_;
  int multiprocessors_;
};

struct TableArguments {
  View<const std::uint16_t> made;  // rows of 2^bits
  int bits;
  std::uint16_t* in_use;
  const Status* status;
  int play;
};

constexpr int table_threads = 256;
constexpr int thread_entries = 4;

struct alignas(8) Entries {
  std::uint16_t values[thread_entries];
};

__global__ void __launch_bounds__(table_threads)
    hysteresis_kernel(const __grid_constant__ TableArguments a) {
  grid_dependency_wait();
  launch_dependents();
  const bool restarted = a.status->restarted;
  const std::int64_t entries = static_cast<std::int64_t>(a.made.height) * a.made.width;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * table_threads * thread_entries;
  for (std::int64_t i =
           (static_cast<std::int64_t>(blockIdx.x) * table_threads + threadIdx.x) * thread_entries;
       i < entries; i += stride) {
    const auto* row = a.made.row(static_cast<int>(i >> a.bits));
    Entries next = *reinterpret_cast<const Entries*>(row + (i & (a.made.width - 1)));
    auto* const in_use = reinterpret_cast<Entries*>(a.in_use + i);
    if (!restarted) {
      const Entries last = *in_use;
#pragma unroll
      for (int e = 0; e < thread_entries; ++e)
        next.values[e] =
            static_cast<std::uint16_t>(followed(last.values[e], next.values[e], a.play));
    }
    *in_use = next;
  }
}

class TableHysteresisCuda final : public TableHysteresis::Backend {
 public:
  TableHysteresisCuda(Device& device, int max_tables, int bits)
      : bits_(bits),
        in_use_(device.allocate(sizeof(std::uint16_t) * max_tables << bits)),
        launch_(device.stream(), hysteresis_kernel),
        multiprocessors_(multiprocessor_count()) {}

  View<const std::uint16_t> run(View<const std::uint16_t> made, const Status* status) override {
    const TableArguments a{made, bits_, in_use_.as<std::uint16_t>(), status, play_of(bits_)};
    launch_(hysteresis_kernel,
            blocks_for(static_cast<std::int64_t>(made.height) << bits_,
                       table_threads * thread_entries, multiprocessors_),
            table_threads, 0, a);
    return contiguous_rows(a.in_use, made.width, made.height);
  }

 private:
  int bits_;
  Buffer in_use_;
  Launcher<TableArguments> launch_;
  int multiprocessors_;
};

}  // namespace

std::unique_ptr<HistogramAverage::Backend> make_histogram_average_cuda(Device& device,
                                                                       int max_histograms,
                                                                       int bits) {
  return std::make_unique<HistogramAverageCuda>(device, max_histograms, bits);
}

std::unique_ptr<TableHysteresis::Backend> make_table_hysteresis_cuda(Device& device, int max_tables,
                                                                     int bits) {
  return std::make_unique<TableHysteresisCuda>(device, max_tables, bits);
}

}  // namespace cudavision::histogramaverage
