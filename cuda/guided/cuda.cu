// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The guided filter on CUDA: chooses the kernels for a frame, shares its channels out to blocks,
// and launches them.

#include <algorithm>
#include <array>

#include "cuda/core/cuda_check.h"
#include "cuda/core/division.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/guided/backend.h"
#include "cuda/guided/filter.cuh"
#include "cuda/guided/gather.cuh"

namespace cudavision::guided {
namespace {

using Kernel = Launcher<GuidedArguments>::Kernel;

/// Returns number, rounded down to whole threads.
int whole_threads_below(int number) {
  return number >= 0 ? number / thread_columns * thread_columns
                     : -round_up(-number, thread_columns);
}

/// One of the two passes, for a depth and a kind of windows.
struct PassKernel {
  /// Groups of threads are warps, only for narrow windows, or blocks of up to so many threads.
  Kernel of_warps = nullptr, of_blocks = nullptr;
  int max_threads = 0;
  int warp_bytes = 0;                         ///< of the running sums of a warp
  int (*block_bytes)(int threads) = nullptr;  ///< of those of a block
  int window_bytes = 0;                       ///< of the constants of one kind of windows

  bool narrow() const { return of_warps != nullptr; }
};

template <class Pass>
PassKernel kernel_of() {
  PassKernel kernel;
  if constexpr (Pass::kNarrow) {
    kernel.of_warps = filter_rows<Pass, false>;
    kernel.warp_bytes = RunningSums<typename Pass::Sum, false>::bytes(32);
    kernel.window_bytes = sizeof(typename Pass::Window);
  }
  kernel.of_blocks = filter_rows<Pass, true>;
  kernel.max_threads = max_threads<Pass, true>();
  kernel.block_bytes = RunningSums<typename Pass::Sum, true>::bytes;
  return kernel;
}

template <class Sample, bool kNarrow>
std::array<PassKernel, 2> passes_of() {
  using LineSum = std::conditional_t<kNarrow && sizeof(Sample) == 1, std::uint32_t, std::uint64_t>;
  return {kernel_of<LinesPass<Sample, LineSum, kNarrow>>(),
          kernel_of<LevelsPass<Sample, kNarrow>>()};
}

class GuidedCuda final : public Guided::Backend {
 public:
  GuidedCuda(Device& device, const FrameLayout& layout)
      : device_(device),
        layout_(layout),
        frame_(layout),
        multiprocessors_(multiprocessor_count()),
        launcher_(device.stream(), gather_values<std::uint8_t>) {
    for (int c = 0; c < frame_.channel_count; ++c) {
      const Channel& channel = frame_.channels[c];
      const std::size_t samples = static_cast<std::size_t>(pitch_of(channel)) * channel.height;
      words_[c] = zeros(samples * sizeof(std::uint32_t));
      gathered_[c] = zeros(samples * layout.sample_bytes());
    }
  }

  void set(const Parameters& parameters) override {
    scale_ = Scale(parameters.epsilon, layout_.bits);
    bool narrow = true;
    for (int c = 0; c < frame_.channel_count; ++c) {
      const Reach reach(frame_.channels[c], parameters.radius);
      narrow = narrow && reach.is_narrow(frame_.channels[c]) && reach.x <= max_narrow_reach;
    }
    const auto kernels =
        layout_.bits == 8
            ? (narrow ? passes_of<std::uint8_t, true>() : passes_of<std::uint8_t, false>())
            : (narrow ? passes_of<std::uint16_t, true>() : passes_of<std::uint16_t, false>());
    for (int pass = 0; pass < 2; ++pass)
      make_plan(parameters, kernels[static_cast<std::size_t>(pass)], 1 - pass, plans_[pass]);
  }

  void copy(const ConstFrame& in, const Frame& out) override {
    for (int p = 0; p < layout_.plane_count; ++p)
      device_.copy(in.planes[p], out.planes[p]);
  }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) override {
    for (int p = 0; p < layout_.plane_count; ++p)
      if (frame_.has_other_bytes[p])
        device_.copy(in.planes[p], out.planes[p]);
    GuidedArguments gathering{};
    gathering.scale = scale_;
    gathering.shift = layout_.shift;
    unsigned gathering_blocks = 0;
    for (int c = 0; c < frame_.channel_count; ++c) {
      FilteredPicture& picture = plans_[0].arguments.pictures[c];
      if (place(c, in, out, picture)) {
        FilteredPicture& gathered = gathering.pictures[gathering.picture_count++];
        gathered = picture;
        gathered.first_gathering_block = gathering_blocks;
        gathering_blocks += static_cast<unsigned>(picture.height);
      }
      place(c, in, out, plans_[1].arguments.pictures[c]);
    }
    if (gathering_blocks > 0)
      launcher_(layout_.bits == 8 ? gather_values<std::uint8_t> : gather_values<std::uint16_t>,
                gathering_blocks, gathering_threads, 0, gathering);
    for (Plan& plan : plans_) {
      plan.arguments.everywhere = active == nullptr;
      if (active)
        plan.arguments.active = *active;
      const unsigned blocks = divide_rows(plan, active);
      if (blocks > 0)
        launcher_(plan.kernel(), blocks, static_cast<unsigned>(plan.block_threads),
                  static_cast<std::size_t>(plan.shared_bytes()), plan.arguments);
    }
  }

 private:
  struct Plan {
    PassKernel pass;
    GuidedArguments arguments{};
    bool of_blocks = false;
    int block_threads = 0, group_threads = 0;
    int resident_groups = 0;

    Kernel kernel() const { return of_blocks ? pass.of_blocks : pass.of_warps; }
    int groups_of_block() const { return block_threads / group_threads; }
    int shared_bytes() const { return groups_of_block() * arguments.group_bytes; }
  };

  /// Returns the samples of a row in our own memory.
  static int pitch_of(const Channel& channel) {
    return round_up(channel.width, 2 * thread_columns);
  }

  Buffer zeros(std::size_t bytes) const {
    Buffer buffer = device_.allocate(bytes);
    // Views have rows of less than 2 GiB.
    constexpr std::size_t row = 1 << 30;
    for (std::size_t at = 0; at < bytes; at += row) {
      const int width = static_cast<int>(std::min(row, bytes - at));
      device_.fill({buffer.as<std::uint8_t>() + at, width, 1, width}, 0);
    }
    return buffer;
  }

  void make_plan(const Parameters& parameters, const PassKernel& pass, int halo, Plan& plan) const {
    plan.pass = pass;
    GuidedArguments& a = plan.arguments;
    a = {};
    a.scale = scale_;
    a.shift = layout_.shift;
    a.halo = halo;
    a.picture_count = frame_.channel_count;
    for (int c = 0; c < frame_.channel_count; ++c) {
      const Channel& channel = frame_.channels[c];
      const Reach reach(channel, parameters.radius);
      FilteredPicture& picture = a.pictures[c];
      picture.width = channel.width;
      picture.height = channel.height;
      picture.sample_width = channel.subsampling_x;
      picture.sample_height = channel.subsampling_y;
      picture.reach_x = reach.x;
      picture.reach_y = reach.y;
      picture.words = words_[c].as<std::uint32_t>();
      picture.half_pitch = pitch_of(channel) / 2;
      picture.gathered = gathered_[c].as<std::uint8_t>();
    }
    choose_groups(plan);
    int max_reach = 0;
    for (int c = 0; c < a.picture_count; ++c)
      max_reach = std::max(max_reach, a.pictures[c].reach_x);
    const int running_bytes =
        plan.of_blocks ? pass.block_bytes(plan.group_threads) : pass.warp_bytes;
    a.group_bytes = round_up(running_bytes + pass.window_bytes * (max_reach + 1), 16);
    int resident = 0;
    cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   &resident, plan.kernel(), plan.block_threads,
                   static_cast<std::size_t>(plan.shared_bytes())),
               "setting up a kernel on the GPU");
    plan.resident_groups = std::max(1, resident) * multiprocessors_ * plan.groups_of_block();
    for (int c = 0; c < a.picture_count; ++c)
      divide_columns(pass.narrow(), plan.group_threads, a.pictures[c]);
  }

  /// Chooses bands so that all blocks run at once, and returns the number of blocks.
  unsigned divide_rows(Plan& plan, const regions::ActiveCells* active) const {
    GuidedArguments& a = plan.arguments;
    std::int64_t samples = 0;
    for (int c = 0; c < a.picture_count; ++c) {
      FilteredPicture& picture = a.pictures[c];
      const Channel& channel = frame_.channels[c];
      RowRange rows = rows_with_results(channel, active);
      if (a.halo > 0)
        rows = rows_with_windows(channel, picture.reach_y, rows);
      picture.begin = rows.begin;
      picture.end = rows.end;
      samples += std::int64_t{picture.width} * (rows.end - rows.begin);
    }
    unsigned blocks = 0;
    for (int c = 0; c < a.picture_count; ++c) {
      FilteredPicture& picture = a.pictures[c];
      const int rows = picture.end - picture.begin;
      const auto share =
          plan.resident_groups * (std::int64_t{picture.width} * rows) / (samples * picture.strips);
      // As many as whole blocks take: one block too many would begin when the others are done.
      const int groups = plan.groups_of_block();
      const auto whole = share < groups ? share : share / groups * groups;
      const int bands =
          static_cast<int>(std::clamp<std::int64_t>(whole, 1, std::max(rows / min_band_rows, 1)));
      picture.bands = Bands(rows, bands, picture.reach_y);
      picture.first_block = blocks;
      blocks +=
          static_cast<unsigned>(picture.strips) * static_cast<unsigned>(divide_up(bands, groups));
    }
    return blocks;
  }

  /// Chooses the groups that add up the fewest columns of the pictures. Blocks take longer for a
  /// column than warps, because their warps wait for each other.
  static void choose_groups(Plan& plan) {
    std::int64_t fewest = 0;
    const auto consider = [&](bool of_blocks, int threads, int block_threads) {
      std::int64_t columns = 0;
      for (int c = 0; c < plan.arguments.picture_count; ++c) {
        FilteredPicture picture = plan.arguments.pictures[c];
        divide_columns(plan.pass.narrow(), threads, picture);
        const int half = threads * thread_columns / 2;
        const int gap = std::max(0, picture.right - picture.left - half);
        if (gap > 0 && plan.pass.narrow())
          return;
        columns += std::int64_t{picture.strips} * picture.height * (2 * half + gap);
      }
      if (of_blocks)
        columns += columns * block_percent / 100;
      if (plan.block_threads > 0 && columns >= fewest)
        return;
      fewest = columns;
      plan.of_blocks = of_blocks;
      plan.group_threads = threads;
      plan.block_threads = block_threads;
    };
    plan.block_threads = 0;
    if (plan.pass.narrow())
      consider(false, 32, warp_block_threads);
    for (int threads = plan.pass.narrow() ? 64 : 32; threads <= plan.pass.max_threads; threads *= 2)
      consider(true, threads, threads);
  }

  /// Chooses the strips for groups of so many threads. In narrow windows, columns before and after
  /// those of the picture count as zeros; those of other windows are left out.
  static void divide_columns(bool narrow, int threads, FilteredPicture& picture) {
    const int columns = threads * thread_columns, half = columns / 2;
    picture.strips = 1;
    picture.strip_width = columns;
    picture.left = 0;
    picture.right = half;
    if (!narrow && picture.width <= columns)
      return;
    picture.left = whole_threads_below(-picture.reach_x);
    picture.right = picture.left + half;
    int width = whole_threads_below(columns + picture.left - picture.reach_x);
    if (width < half - thread_columns) {
      width = half - thread_columns;
      picture.right = std::max(picture.right, whole_threads_below(picture.reach_x));
    }
    picture.strips = divide_up(picture.width, width);
    picture.strip_width = round_up(divide_up(picture.width, picture.strips), thread_columns);
  }

  /// Returns true if the values must be gathered.
  bool place(int number, const ConstFrame& in, const Frame& out, FilteredPicture& picture) const {
    const Channel& channel = frame_.channels[number];
    const View<const std::uint8_t> from = in.planes[channel.plane];
    const View<std::uint8_t> to = out.planes[channel.plane];
    const int bytes = layout_.sample_bytes();
    picture.in = from.data + channel.offset * bytes;
    picture.out = to.data + channel.offset * bytes;
    picture.in_pitch = kernel_pitch("guided filter", from.pitch);
    picture.out_pitch = kernel_pitch("guided filter", to.pitch);
    picture.step = channel.step * bytes;
    const auto aligned = [&](const std::uint8_t* data, int pitch, int samples) {
      return channel.step == 1 && reinterpret_cast<std::uintptr_t>(data) % (samples * bytes) == 0 &&
             (channel.height == 1 || pitch % (samples * bytes) == 0);
    };
    picture.packed = aligned(picture.out, picture.out_pitch, 4);
    const bool direct = aligned(picture.in, picture.in_pitch, thread_columns) &&
                        channel.width % thread_columns == 0 &&
                        (layout_.bits == 8 || layout_.bits == 16);
    picture.values = direct ? picture.in : picture.gathered;
    picture.values_pitch = direct ? picture.in_pitch : pitch_of(channel) * bytes;
    return !direct;
  }

  static constexpr int min_band_rows = 4;
  static constexpr int warp_block_threads = 128;
  static constexpr int block_percent = 15;
  /// Up to this reach, the largest blocks need no gap between their columns.
  static constexpr int max_narrow_reach = 240;

  Device& device_;
  FrameLayout layout_;
  FilteredFrame frame_;
  int multiprocessors_;
  std::array<Buffer, FrameLayout::max_channels> words_, gathered_;
  Launcher<GuidedArguments> launcher_;
  Scale scale_;
  Plan plans_[2];
};

}  // namespace

std::unique_ptr<Guided::Backend> make_guided_cuda(Device& device, const FrameLayout& layout) {
  return std::make_unique<GuidedCuda>(device, layout);
}

}  // namespace cudavision::guided
