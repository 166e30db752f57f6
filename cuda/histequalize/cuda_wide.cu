// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Pictures of 11 to 16 bits, in three launches. The first counts: up to 65536 bins do not fit one
// SM's shared memory, so the blocks share the bins out in ranges and each reads the part of the
// picture that it shares with the blocks of the other ranges. (Two counters of 16 bits in a word
// would fit, but adding to a half word costs a flat picture one operation per pixel, where adding
// one to a word is merged over the warp.) The second launch builds the table, the third one applies
// it and clears the counters for the next frame.

#include <algorithm>

#include "cuda/core/cuda_check.h"
#include "cuda/core/cuda_launch.h"
#include "cuda/histequalize/cuda.h"

namespace cudavision::histequalize {
namespace {

constexpr int kThreads = 1024;
constexpr int kChunk = 1024;  // bins whose sum is kept beside their counts
constexpr int kBatch = 2;     // groups of a thread whose loads are under way together
constexpr int kTableThreads = 256;
constexpr int kTableBins = kChunk / kTableThreads;
static_assert(kTableBins == 4, "a thread loads its counts as one vector");

struct WideArguments {
  PackedImage picture;
  GroupStride counting_stride;  // from one of a thread's groups to the next
  GroupStride applying_stride;
  std::uint32_t* counts;      // 2^bits, then one sum per chunk
  std::uint32_t* chunk_sums;  // 2^bits / kChunk
  std::uint16_t* table;       // 2^bits
  std::uint32_t* histogram;   // 2^bits counts, or nullptr
  std::uint32_t total;
  int bins;
  int range_bins;  // that one block counts; divides bins
  int low, high, blend;
};

/// Uses the cursor's group and those that follow at the stride. While a batch is used the next one
/// is on its way, since one block has an SM to itself; prepare() runs with the first batch on its
/// way, once in every thread.
template <class Group, Rows kRows, class Prepare, class Use>
__device__ void stream_groups(const PackedImage& picture, GroupCursor<kRows> cursor,
                              const GroupStride& stride, const Prepare& prepare, const Use& use) {
  std::uint32_t next[kBatch][Group::words];
  GroupCursor<kRows> ahead = cursor;
  const auto load_next = [&] {
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (ahead.inside(picture))
        Group::template load<kRows>(picture, ahead, next[k]);
      ahead.advance(picture, stride);
    }
  };
  load_next();
  prepare();
  while (cursor.inside(picture)) {
    std::uint32_t data[kBatch][Group::words];
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
#pragma unroll
      for (int w = 0; w < Group::words; ++w)
        data[k][w] = next[k][w];
    load_next();
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (cursor.inside(picture))
        use(data[k], cursor);
      cursor.advance(picture, stride);
    }
  }
}

template <class Group, Rows kRows>
__global__ void __launch_bounds__(kThreads, 1)
    count_wide_kernel(const __grid_constant__ WideArguments a) {
  extern __shared__ uint4 shared_words[];
  std::uint32_t* counts = reinterpret_cast<std::uint32_t*>(shared_words);  // range_bins
  const std::uint32_t ranges = a.bins / a.range_bins;
  const std::uint32_t base = blockIdx.x % ranges * a.range_bins;
  for (int i = threadIdx.x; i < a.range_bins / 4; i += kThreads)
    shared_words[i] = make_uint4(0, 0, 0, 0);
  __syncthreads();
  grid_dependency_wait();
  launch_dependents();  // not before: the applying launch counts on the picture being there
  const GroupCursor<kRows> first(a.picture, blockIdx.x / ranges * kThreads + threadIdx.x);
  stream_groups<Group>(
      a.picture, first, a.counting_stride, [] {},
      [&](const std::uint32_t* data, const GroupCursor<kRows>& at) {
        const int existing = pixels_in<Group, kRows>(a.picture, at);
#pragma unroll
        for (int i = 0; i < Group::pixels; ++i) {
          const std::uint32_t bin = Group::value(data, i, a.picture) - base;
          if (i < existing && bin < static_cast<std::uint32_t>(a.range_bins))
            atomicAdd(counts + bin, 1u);
        }
      });
  __syncthreads();

  // A warp adds a chunk at a time, so that the chunk's sum costs one addition more. Blocks begin at
  // different bins: additions to the same words wait for each other.
  const int lane = threadIdx.x % 32;
  const int turn = blockIdx.x / ranges % 32;
  for (int chunk = threadIdx.x / 32; chunk < a.range_bins / kChunk; chunk += kThreads / 32) {
    std::uint32_t sum = 0;
#pragma unroll 8
    for (int step = 0; step < kChunk / 32; ++step) {
      const int bin = chunk * kChunk + (step + turn) % 32 * 32 + lane;
      const std::uint32_t count = counts[bin];
      if (count != 0)
        DeviceAtomics::add(a.counts + base + bin, count);
      sum += count;
    }
    for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane == 0 && sum != 0)
      DeviceAtomics::add(a.chunk_sums + base / kChunk + chunk, sum);
  }
}

/// One block per chunk.
__global__ void __launch_bounds__(kTableThreads)
    table_wide_kernel(const __grid_constant__ WideArguments a) {
  __shared__ std::uint32_t warp_sums[kTableThreads / 32];
  __shared__ unsigned long long first;  // the first bin that is not empty, and below it its count
  const int chunk = blockIdx.x;
  const int chunks = gridDim.x;  // 2 to 64
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int own = chunk * kChunk + static_cast<int>(threadIdx.x) * kTableBins;
  launch_dependents();
  grid_dependency_wait();
  const uint4 four = *reinterpret_cast<const uint4*>(a.counts + own);

  // Every warp finds out alike how many samples lie below this chunk and which chunk is the first.
  std::uint32_t before = 0;
  int first_chunk = -1;
  for (int start = 0; start < chunks; start += 32) {
    const std::uint32_t sum = start + lane < chunks ? a.chunk_sums[start + lane] : 0;
    if (start + lane < chunk)
      before += sum;
    const unsigned occupied = __ballot_sync(0xffffffffu, sum != 0);
    if (first_chunk < 0 && occupied)
      first_chunk = start + __ffs(occupied) - 1;
  }
  for (int distance = 16; distance > 0; distance /= 2)
    before += __shfl_xor_sync(0xffffffffu, before, distance);

  if (threadIdx.x == 0)
    first = ~0ull;
  const uint4 candidates =
      *reinterpret_cast<const uint4*>(a.counts + first_chunk * kChunk + threadIdx.x * kTableBins);
  __syncthreads();
  const std::uint32_t candidate[kTableBins] = {candidates.x, candidates.y, candidates.z,
                                               candidates.w};
#pragma unroll
  for (int b = kTableBins - 1; b >= 0; --b)
    if (candidate[b] != 0)
      atomicMin(&first,
                static_cast<unsigned long long>(threadIdx.x * kTableBins + b) << 32 | candidate[b]);

  const std::uint32_t counts[kTableBins] = {four.x, four.y, four.z, four.w};
  const std::uint32_t sum = four.x + four.y + four.z + four.w;
  std::uint32_t inclusive = sum;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t below = __shfl_up_sync(0xffffffffu, inclusive, distance);
    if (lane >= distance)
      inclusive += below;
  }
  if (lane == 31)
    warp_sums[warp] = inclusive;
  __syncthreads();
  for (int w = 0; w < warp; ++w)
    before += warp_sums[w];

  const auto first_count = static_cast<std::uint32_t>(first);
  const bool one_level = first_count == a.total;
  const float scale = one_level ? 0.0f : equalisation_scale(a.total, first_count, a.low, a.high);
  std::uint32_t counted = before + inclusive - sum;
#pragma unroll
  for (int b = 0; b < kTableBins; ++b) {
    counted += counts[b];
    const std::uint32_t above_first = counted > first_count ? counted - first_count : 0;
    const int level = one_level ? own + b : equalised_level(above_first, scale, a.low, a.high);
    a.table[own + b] = static_cast<std::uint16_t>(blended(own + b, level, a.blend));
    if (a.histogram != nullptr)
      a.histogram[own + b] = counts[b];
  }
}

__device__ void clear_counters(const WideArguments& a) {
  const int words = a.bins + a.bins / kChunk;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
    a.counts[i] = 0;
}

/// kShared: whether the table goes through shared memory, where an SM has room for it.
template <class Group, Rows kRows, bool kShared>
__global__ void __launch_bounds__(kThreads, 1)
    apply_wide_kernel(const __grid_constant__ WideArguments a) {
  extern __shared__ uint4 shared_table[];
  launch_dependents();
  const std::uint16_t* table =
      kShared ? reinterpret_cast<const std::uint16_t*>(shared_table) : a.table;
  const GroupCursor<kRows> first(a.picture, blockIdx.x * kThreads + threadIdx.x);
  stream_groups<Group>(
      a.picture, first, a.applying_stride,
      [&] {
        grid_dependency_wait();
        if (kShared) {
          const uint4* from = reinterpret_cast<const uint4*>(a.table);
#pragma unroll 8
          for (int i = threadIdx.x; i < a.bins / 8; i += kThreads)
            shared_table[i] = __ldg(from + i);
          __syncthreads();
        }
        clear_counters(a);
      },
      [&](std::uint32_t* data, const GroupCursor<kRows>& at) {
        const int existing = pixels_in<Group, kRows>(a.picture, at);
#pragma unroll
        for (int i = 0; i < Group::pixels; ++i) {
          if (i >= existing)
            break;
          const std::uint32_t value = Group::value(data, i, a.picture);
          Group::set(data, i, kShared ? table[value] : __ldg(table + value), a.picture);
        }
        Group::template store<kRows>(a.picture, at, data);
      });
}

__global__ void take_histogram_kernel(const __grid_constant__ WideArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int bin = blockIdx.x * blockDim.x + threadIdx.x;
  if (bin < a.bins) {
    a.histogram[bin] = a.counts[bin];
    a.counts[bin] = 0;
  }
  if (bin < a.bins / kChunk)
    a.chunk_sums[bin] = 0;
}

struct WideKernels {
  void (*count)(WideArguments);
  void (*apply)(WideArguments);
};

template <class Group, Rows kRows, bool kShared>
constexpr WideKernels wide_kernels = {count_wide_kernel<Group, kRows>,
                                      apply_wide_kernel<Group, kRows, kShared>};

template <class Group, bool kShared>
WideKernels find_dense_kernels(Rows rows) {
  return rows == Rows::linear  ? wide_kernels<Group, Rows::linear, kShared>
         : rows == Rows::whole ? wide_kernels<Group, Rows::whole, kShared>
                               : wide_kernels<Group, Rows::ragged, kShared>;
}

template <bool kShared>
WideKernels find_wide_kernels(AccessPattern kind, Rows rows, bool all_bits) {
  return kind == AccessPattern::scattered_luma_2
             ? wide_kernels<ScatteredLuma<2>, Rows::ragged, kShared>
         : all_bits ? find_dense_kernels<LumaWords<true>, kShared>(rows)
                    : find_dense_kernels<LumaWords<false>, kShared>(rows);
}

class WideLauncher {
 public:
  WideLauncher(Device& device, const FrameLayout& layout)
      : device_(device),
        layout_(layout),
        maker_(layout),
        bins_(1 << layout.bits),
        counters_(zeroed_words(device, bins_ + bins_ / kChunk)),
        table_(device.allocate(sizeof(std::uint16_t) * bins_)),
        launch_(device.stream(), table_wide_kernel),
        multiprocessors_(multiprocessor_count()) {
    int current = 0;
    int shared_bytes = 0;
    cuda_check(cudaGetDevice(&current), "finding the current GPU");
    cuda_check(
        cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, current),
        "asking for the shared memory of the GPU");
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
      }
  }

  void histogram(const ConstFrame& in, View<std::uint32_t> bins) {
    const Picture picture = maker_.make(in, Frame{});
    const WideArguments a = arguments(picture, bins, {});
    count(picture, a);
    launch_(take_histogram_kernel, (bins_ + kTableThreads - 1) / kTableThreads, kTableThreads, 0,
            a);
  }

  void equalize(const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram,
                const Parameters& parameters) {
    const Picture picture = maker_.make(in, out);
    const WideArguments a = arguments(picture, histogram, parameters);
    copy_unequalized(picture, in, out);
    count(picture, a);
    launch_(table_wide_kernel, bins_ / kChunk, kTableThreads, 0, a);
    launch_(find_kernels(picture.kind, picture.rows).apply, applying_blocks(picture), kThreads,
            shared_table_bytes_, a);
  }

 private:
  template <class Kernel>
  static void allow_shared(Kernel kernel, int bytes) {
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
               "asking for shared memory on the GPU");
  }

  int ranges() const { return bins_ / range_bins_; }

  /// Into how many parts the picture is shared out, each of them to one block per range.
  unsigned counting_parts(const Picture& picture) const {
    return std::clamp<std::uint32_t>((picture.groups.count + kThreads - 1) / kThreads, 1,
                                     std::max(1, multiprocessors_ / ranges()));
  }

  unsigned applying_blocks(const Picture& picture) const {
    return std::min<std::uint32_t>(multiprocessors_,
                                   (picture.groups.count + kThreads - 1) / kThreads);
  }

  int range_bytes() const { return range_bins_ * static_cast<int>(sizeof(std::uint32_t)); }

  WideArguments arguments(const Picture& picture, View<std::uint32_t> histogram,
                          const Parameters& parameters) const {
    WideArguments a{};
    a.picture = picture.groups;
    a.counting_stride = GroupStride(counting_parts(picture) * kThreads, a.picture.per_row);
    a.applying_stride = GroupStride(applying_blocks(picture) * kThreads, a.picture.per_row);
    a.counts = counters_.as<std::uint32_t>();
    a.chunk_sums = a.counts + bins_;
    a.table = table_.as<std::uint16_t>();
    a.histogram = histogram.data;
    a.total =
        static_cast<std::uint32_t>(layout_.width) * static_cast<std::uint32_t>(layout_.height);
    a.bins = bins_;
    a.range_bins = range_bins_;
    a.low = parameters.low;
    a.high = parameters.high;
    a.blend = parameters.blend;
    return a;
  }

  void copy_unequalized(const Picture& picture, const ConstFrame& in, const Frame& out) {
    // Formats of this depth have luma planes only, or chroma planes for which a copy of their own
    // is small beside the three launches.
    if (picture.scattered())
      for (const int p : maker_.mixed_planes())
        device_.copy(in.planes[p], out.planes[p]);
    else
      for (int c = 0; c < picture.copy_count; ++c) {
        const CopyPieces& copy = picture.copies[c];

        device_.copy({copy.plane.in, copy.row_bytes, copy.rows, copy.plane.in_pitch},
                     {copy.plane.out, copy.row_bytes, copy.rows, copy.plane.out_pitch});
      }
  }

  void count(const Picture& picture, const WideArguments& a) {
    launch_(find_kernels(picture.kind, picture.rows).count, counting_parts(picture) * ranges(),
            kThreads, range_bytes(), a);
  }

  WideKernels find_kernels(AccessPattern kind, Rows rows) const {
    const bool all_bits = layout_.bits == 16;
    return shared_table_bytes_ ? find_wide_kernels<true>(kind, rows, all_bits)
                               : find_wide_kernels<false>(kind, rows, all_bits);
  }

  Device& device_;
  FrameLayout layout_;
  PictureMaker maker_;
  int bins_;
  Buffer counters_;
  Buffer table_;
  Launcher<WideArguments> launch_;
  int multiprocessors_;
  int range_bins_ = 0;
  int shared_table_bytes_ = 0;
};

class HistogramWideCuda final : public Histogram::Backend {
 public:
  HistogramWideCuda(Device& device, const FrameLayout& layout) : launcher_(device, layout) {}

  void run(const ConstFrame& in, View<std::uint32_t> bins) override {
    launcher_.histogram(in, bins);
  }

 private:
  WideLauncher launcher_;
};

class HistogramEqualizeWideCuda final : public HistogramEqualize::Backend {
 public:
  HistogramEqualizeWideCuda(Device& device, const FrameLayout& layout)
      : launcher_(device, layout) {}

  void run(const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram,
           const Parameters& parameters) override {
    launcher_.equalize(in, out, histogram, parameters);
  }

 private:
  WideLauncher launcher_;
};

}  // namespace

std::unique_ptr<Histogram::Backend> make_histogram_wide_cuda(Device& device,
                                                             const FrameLayout& layout) {
  return std::make_unique<HistogramWideCuda>(device, layout);
}

std::unique_ptr<HistogramEqualize::Backend> make_histogram_equalize_wide_cuda(
    Device& device, const FrameLayout& layout) {
  return std::make_unique<HistogramEqualizeWideCuda>(device, layout);
}

}  // namespace cudavision::histequalize
