// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Gaussian blur on CUDA: from a frame and its parameters to the one launch that blurs it.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cuda_check.h"
#include "gaussblur_implementation.h"
#include "gaussblur_large.cuh"
#include "gaussblur_tables.h"

namespace cudavision {
namespace {

using Kernel = Launcher<BlurArguments>::Kernel;

/* Which kernel, and how much of the frame a block gets */

/// A kernel for row and column slices up to these.
struct SmallKernel {
  int row_slices, column_slices;
  int tiles;  ///< beside each other, that a warp makes at a time
  Kernel kernel;
};

template <class Depth, int kRowSlices, int kColumnSlices, int kTiles, int kBlocks>
SmallKernel small() {
  return {kRowSlices, kColumnSlices, kTiles,
          blur_small<Depth, kRowSlices, kColumnSlices, kTiles, kBlocks>};
}

/// What is there for one depth of samples and coefficients.
struct Kernels {
  std::vector<SmallKernel> small;  ///< the cheapest first
  Kernel any;                      ///< for kernels of any size
  Kernel any_with_scratch;

  int (*row_words)(int slices);
  int (*column_words)(int slices);
  void (*make_row_table)(const RowKernels& kernels, int slices, std::uint32_t* words);
  void (*make_column_table)(const GaussKernel& kernel, int slices, std::uint32_t* words);
  int (*factor_words)(int row_slices, int column_slices);
  void (*make_factors)(const std::uint32_t* row_table, int row_slices,
                       const std::uint32_t* column_table, int column_slices, std::uint32_t* words);
  int (*large_shared)(int row_slices, int column_slices, int chunk_pairs, int warps, bool all);
  int (*large_scratch)(int row_slices, int column_slices);
};

template <class Depth>
Kernels kernels_of(std::vector<SmallKernel> small) {
  Kernels kernels;
  kernels.small = std::move(small);
  kernels.any = blur_any<Depth, true>;
  kernels.any_with_scratch = blur_any<Depth, false>;
  kernels.row_words = [](int slices) { return BlurTable<Depth>::row_words(slices); };
  kernels.column_words = [](int slices) { return BlurTable<Depth>::column_words(slices); };
  kernels.make_row_table = make_row_table<Depth>;
  kernels.make_column_table = make_column_table<Depth>;
  kernels.factor_words = BlurFactors<Depth>::words;
  kernels.make_factors = make_factors<Depth>;
  kernels.large_shared = [](int row_slices, int column_slices, int chunk_pairs, int warps,
                            bool all) {
    return LargeMemory<Depth>(row_slices, column_slices, chunk_pairs, warps).shared(all);
  };
  kernels.large_scratch = [](int row_slices, int column_slices) {
    return LargeMemory<Depth>(row_slices, column_slices, 1, scratch_warps).scratch();
  };
  return kernels;
}

const Kernels& kernels_for(int sample_bytes, bool fine) {
  using Bytes = BlurDepth<1, 1>;
  using FineBytes = BlurDepth<1, 2>;
  using Words = BlurDepth<2, 2>;
  static const Kernels bytes = kernels_of<Bytes>(
      {small<Bytes, 3, 2, 2, 4>(), small<Bytes, 4, 2, 2, 3>(), small<Bytes, 4, 3, 2, 3>(),
       small<Bytes, 6, 2, 2, 3>(), small<Bytes, 6, 3, 2, 3>(), small<Bytes, 10, 3, 1, 3>()});
  static const Kernels fine_bytes =
      kernels_of<FineBytes>({small<FineBytes, 4, 2, 1, 3>(), small<FineBytes, 4, 3, 1, 3>()});
  static const Kernels words = kernels_of<Words>(
      {small<Words, 4, 2, 1, 3>(), small<Words, 4, 3, 1, 3>(), small<Words, 6, 3, 1, 3>()});
  return sample_bytes == 2 ? words : fine ? fine_bytes : bytes;
}

/// Even, and enough for windows that reach so many bytes beyond a tile.
int row_slices_for(int reach) {
  return 2 + 2 * ((reach + slice_length - 1) / slice_length);
}

/// Windows are staged as a whole, if possible, but only if that leaves room for some warps; then
/// what lies beyond the edges has its mirror image in the same stage.
constexpr int largest_chunk_pairs = 32;
constexpr int usual_chunk_pairs = 16;
constexpr int fewest_warps_beside = 2;

struct Card {
  int multiprocessors = 0;
  int shared_bytes = 0;  ///< that a block may have

  Card() {
    int device = 0;
    cuda_check(cudaGetDevice(&device), "finding the current GPU");
    cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
               "asking for the number of multiprocessors of the GPU");
    cuda_check(
        cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "asking for the shared memory of the GPU");
#ifdef CUDAVISION_TEST_SHARED_BYTES
    shared_bytes = std::min(shared_bytes, CUDAVISION_TEST_SHARED_BYTES);
#endif
  }
};

/// A launch but for its arguments.
struct Launch {
  Kernel kernel = nullptr;
  int row_slices = 0;
  int column_slices = 0;
  int chunk_pairs = 0;
  int tiles = 0;          ///< beside each other, of a warp that works for itself; else 0
  int step_rows = 0;      ///< what a block makes at a time
  int leading_steps = 0;  ///< what it has to do before the first of them
  int warps = 0;
  int shared_bytes = 0;
  bool uses_scratch = false;

  bool is_small() const { return tiles > 0; }
  /// Tiles beside each other in an item.
  int item_tiles() const { return is_small() ? tiles : warps; }
};

int shared_bytes(const Kernels& kernels, const Launch& launch, int warps) {
  if (launch.is_small())
    return warps * small_stages * tile_rows *
           stage_pitch(chunks_for(launch.tiles * tile_bytes, window_lead(launch.row_slices)));
  return kernels.large_shared(launch.row_slices, launch.column_slices, launch.chunk_pairs, warps,
                              !launch.uses_scratch);
}

/// All but the number of warps, and what follows from it.
Launch choose_launch(const Kernels& kernels, const Card& card, int reach, int radius) {
  Launch launch;
  for (const SmallKernel& small : kernels.small) {
    if (window_lead(small.row_slices) < reach || column_lead(small.column_slices) < radius)
      continue;
    launch.kernel = small.kernel;
    launch.row_slices = small.row_slices;
    launch.column_slices = small.column_slices;
    launch.tiles = small.tiles;
    launch.step_rows = tile_rows;
    launch.leading_steps = small.column_slices - 1;
    return launch;
  }

  launch.kernel = kernels.any;
  launch.row_slices = row_slices_for(reach);
  launch.column_slices = large_column_slices(radius);
  launch.chunk_pairs = std::min(launch.row_slices / 2, largest_chunk_pairs);
  if (shared_bytes(kernels, launch, fewest_warps_beside) > card.shared_bytes)
    launch.chunk_pairs = std::min(launch.row_slices / 2, usual_chunk_pairs);
  launch.step_rows = large_rows;
  launch.leading_steps = large_column_lead(launch.column_slices) / tile_rows;
  const auto shrink_to = [&](int warps) {
    while (launch.chunk_pairs > 1 && shared_bytes(kernels, launch, warps) > card.shared_bytes)
      launch.chunk_pairs /= 2;
  };
  shrink_to(1);
  launch.uses_scratch = shared_bytes(kernels, launch, 1) > card.shared_bytes;
  if (!launch.uses_scratch)
    return launch;
  launch.kernel = kernels.any_with_scratch;
  shrink_to(scratch_warps);
  return launch;
}

/* The pictures of a frame */

/// What the channels of one plane say of its pictures; kernels: those along x, by phase.
void describe_plane(const FrameLayout& layout, int plane, const BlurChannel* channels, int count,
                    BlurPicture& picture, RowKernels& kernels) {
  const int bytes = layout.sample_bytes();
  picture.row_bytes = layout.planes[plane].row_bytes;
  picture.inner_bytes = picture.row_bytes;
  picture.period = 1;
  for (int c = 0; c < count; ++c) {
    const Channel& channel = channels[c].channel;
    picture.period = std::max(picture.period, channel.step * bytes);
    picture.inner_bytes = std::min(picture.inner_bytes, channel.step * bytes * channel.width);
  }

  // Bytes of no channel are staged and blurred like their neighbours, and then copied after all.
  const Channel& first = channels[0].channel;
  for (int phase = 0; phase < 4; ++phase) {
    picture.grids[phase] = {first.step * bytes, first.width};
    kernels.kernel[phase] = channels[0].x;
    kernels.step[phase] = first.step * bytes;
  }
  picture.copied = (1u << picture.period) - 1;
  for (int c = 0; c < count; ++c) {
    const Channel& channel = channels[c].channel;
    const std::uint32_t border = static_cast<std::uint32_t>(channels[c].border_value)
                                 << layout.shift;
    for (int at = channel.offset * bytes; at < picture.period; at += channel.step * bytes)
      for (int b = 0; b < bytes; ++b) {
        picture.border_value |= static_cast<std::uint64_t>(border >> (8 * b) & 0xff)
                                << (8 * (at + b));
        if (!channels[c].copied)
          picture.copied &= ~(1u << (at + b));
      }
    // Where the channels differ, the period is 4 bytes or fewer.
    if (channel.step == first.step && channels[c].x == channels[0].x &&
        channel.width == first.width)
      continue;
    for (int at = channel.offset * bytes; at < 4; at += channel.step * bytes)
      for (int b = 0; b < bytes; ++b) {
        picture.grids[at + b] = {channel.step * bytes, channel.width};
        kernels.kernel[at + b] = channels[c].x;
        kernels.step[at + b] = channel.step * bytes;
      }
  }
  for (int b = 0; b < 8; ++b)
    if (picture.copied >> (b % picture.period) & 1)
      picture.copied_of_eight |= static_cast<std::uint64_t>(0xff) << (8 * b);
  for (int phase = 0; phase < 4; ++phase)
    if (kernels.kernel[phase]->identity())
      picture.row_identity |= 1 << phase;
}

bool multiple_of(int bytes, const void* data, std::int64_t pitch) {
  return (reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uint64_t>(pitch)) % bytes == 0;
}

/// The host's side of the tables: several, since the GPU may still be reading those of the last
/// change.
class TableUploader {
 public:
  TableUploader(Device& device, std::size_t words)
      : device_(device), tables_(device.allocate(words * sizeof(std::uint32_t))) {
    for (Slot& slot : slots_) {
      slot.words = device.allocate_host(words * sizeof(std::uint32_t));
      slot.uploaded = device.make_event();
    }
  }

  const std::uint32_t* tables() const { return tables_.as<std::uint32_t>(); }

  /// Where the next tables are to be written.
  std::uint32_t* next() {
    Slot& slot = slots_[current_ = (current_ + 1) % slot_count];
    if (slot.used)
      slot.uploaded->wait();
    return slot.words.as<std::uint32_t>();
  }

  void upload(std::size_t words) {
    Slot& slot = slots_[current_];
    const int bytes = static_cast<int>(words * sizeof(std::uint32_t));
    device_.upload({slot.words.as<std::uint8_t>(), bytes, 1, bytes},
                   {tables_.as<std::uint8_t>(), bytes, 1, bytes});
    slot.uploaded->record();
    slot.used = true;
  }

 private:
  static constexpr int slot_count = 3;
  struct Slot {
    Buffer words;
    std::unique_ptr<Event> uploaded;
    bool used = false;
  };

  Device& device_;
  Buffer tables_;
  std::array<Slot, slot_count> slots_;
  int current_ = 0;
};

class GaussBlurCuda final : public GaussBlur::Implementation {
 public:
  GaussBlurCuda(Device& device, const FrameLayout& layout)
      : device_(device),
        layout_(layout),
        uploader_(device, most_table_words(layout)),
        launcher_(device.stream(), kernels_for(layout.sample_bytes(), false).any) {
    std::size_t scratch = 0;
    for (const bool fine : {false, true}) {
      const Kernels& kernels = kernels_for(layout.sample_bytes(), fine);
      for (const Kernel kernel : {kernels.any, kernels.any_with_scratch})
        cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        card_.shared_bytes),
                   "setting up a kernel on the GPU");
      const Launch largest =
          choose_launch(kernels, card_, most_reach(layout), GaussKernel::max_radius);
      if (largest.uses_scratch)
        scratch = std::max<std::size_t>(
            scratch, kernels.large_scratch(largest.row_slices, largest.column_slices));
    }
    if (scratch > 0)
      scratch_ = device.allocate(scratch * scratch_blocks());
  }

  void set(const GaussBlurParameters& parameters, const BlurKernels& kernels) override {
    const Kernels& code = kernels_for(layout_.sample_bytes(), parameters.fine);

    BlurArguments a{};
    RowKernels row_kernels[BlurArguments::max_pictures];
    const GaussKernel* column_kernels[BlurArguments::max_pictures];
    std::array<Place, BlurArguments::max_pictures> places{};
    int reach = 0, radius = 0;
    for (int plane = 0; plane < layout_.plane_count; ++plane)
      for (int number = 0; number < picture_count(parameters); ++number) {
        BlurChannel channels[FrameLayout::max_channels];
        int count = 0;
        for (int c = 0; c < layout_.channel_count; ++c)
          if (layout_.channels[c].plane == plane)
            channels[count++] = blur_channel(layout_, parameters, kernels, number, c);
        if (count == 0 || channels[0].channel.height == 0)
          continue;
        BlurPicture& picture = a.pictures[a.picture_count];
        RowKernels& along_x = row_kernels[a.picture_count];
        const GaussKernel* along_y = channels[0].y;
        describe_plane(layout_, plane, channels, count, picture, along_x);
        picture.rows = channels[0].channel.height;
        picture.row_radius = along_x.reach();
        picture.column_radius = along_y->radius();
        picture.column_identity = along_y->identity();
        column_kernels[a.picture_count] = along_y;
        places[a.picture_count++] = {plane, number};
        reach = std::max(reach, picture.row_radius);
        radius = std::max(radius, picture.column_radius);
      }

    const Launch launch = choose_launch(code, card_, reach, radius);
    std::uint32_t* const words = uploader_.next();
    std::uint32_t used = 0;
    for (int i = 0; i < a.picture_count; ++i)
      make_tables(code, launch, row_kernels[i], *column_kernels[i], a.pictures[i], words, used);
    uploader_.upload(used);

    a.tables = uploader_.tables();
    a.row_slices = launch.row_slices;
    a.column_slices = launch.column_slices;
    a.chunk_pairs = launch.chunk_pairs;
    a.scratch = scratch_.as<std::uint8_t>();
    a.border = parameters.border;
    a.sharpen = parameters.sharpen;
    a.bits = layout_.bits;
    a.shift = layout_.shift;
    parameters_ = parameters;
    places_ = places;
    launch_ = launch;
    arguments_ = a;
    share_out(code);
  }

  void run(const ConstFrame& in, const Frame& out) override {
    for (int i = 0; i < arguments_.picture_count; ++i)
      place(arguments_.pictures[i],
            picture_rows(parameters_, in.planes[places_[i].plane], places_[i].number),
            picture_rows(parameters_, out.planes[places_[i].plane], places_[i].number));
    launcher_(launch_.kernel, blocks_, launch_.warps * 32, launch_.shared_bytes, arguments_);
    copy_rest(in, out);
  }

 private:
  struct Place {
    int plane, number;
  };

  /// Appends a picture's tables to the `used` words.
  static void make_tables(const Kernels& code, const Launch& launch, const RowKernels& along_x,
                          const GaussKernel& along_y, BlurPicture& picture, std::uint32_t* words,
                          std::uint32_t& used) {
    picture.factors = used;
    if (launch.is_small())
      used += code.factor_words(launch.row_slices, launch.column_slices);
    picture.row_table = used;
    code.make_row_table(along_x, launch.row_slices, words + picture.row_table);
    used += code.row_words(launch.row_slices);
    picture.column_table = used;
    code.make_column_table(along_y, launch.column_slices, words + picture.column_table);
    used += code.column_words(launch.column_slices);
    if (!launch.is_small())
      return;
    code.make_factors(words + picture.row_table, launch.row_slices, words + picture.column_table,
                      launch.column_slices, words + picture.factors);
    used = picture.row_table;  // the tables themselves have done their work
  }

  static int most_reach(const FrameLayout& layout) {
    int step = 1;
    for (int c = 0; c < layout.channel_count; ++c)
      step = std::max(step, layout.channels[c].step);
    return step * layout.sample_bytes() * GaussKernel::max_radius;
  }

  static std::size_t most_table_words(const FrameLayout& layout) {
    std::size_t most = 0;
    for (const bool fine : {false, true}) {
      const Kernels& kernels = kernels_for(layout.sample_bytes(), fine);
      const std::size_t words = kernels.row_words(row_slices_for(most_reach(layout))) +
                                kernels.column_words(large_column_slices(GaussKernel::max_radius));
      most = std::max(most, words * 2 * layout.plane_count);
    }
    return most;
  }

  unsigned scratch_blocks() const {
    return card_.multiprocessors * scratch_blocks_per_multiprocessor;
  }

  /// How wide and how high the block's parts of the frame are: of few blocks each repeats less work
  /// at the seams, of many the work is shared more evenly, and each can wait while others go on.
  void share_out(const Kernels& code) {
    int most_steps = 0;
    for (int i = 0; i < arguments_.picture_count; ++i)
      most_steps = std::max(most_steps, steps_in(arguments_.pictures[i]));

    constexpr int overhead = 2;     // of starting and ending a block, in steps
    constexpr int busy_warps = 16;  // keep a multiprocessor busy
    constexpr double tail = 0.5;    // of the last blocks, and of those at the edges, in rounds
    double best = 0;
    int chosen_steps = 1;
    for (const int warps : {12, 8, 6, 4, 2, 1}) {
      if (launch_.is_small() ? warps != small_warps
                             : launch_.uses_scratch && warps != scratch_warps)
        continue;
      const int shared = shared_bytes(code, launch_, warps);
      if (shared > card_.shared_bytes)
        continue;
      int resident = 0;
      cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch_.kernel,
                                                               warps * 32, shared),
                 "setting up a kernel on the GPU");
      resident = std::max(resident, 1);
      for (int steps = 1;; steps += 1 + steps / 8) {
        steps = std::min(steps, most_steps);
        const double blocks = launch_.is_small() ? std::ceil(items(launch_.tiles, steps) / warps)
                                                 : items(warps, steps);
        // A last round that is not full takes less time than a full one, but more than its share.
        const double full = blocks / (static_cast<double>(resident) * card_.multiprocessors);
        const double rounds = full <= 1 ? 1 : (full + std::ceil(full)) / 2;
        const double neighbours =
            std::min<double>(resident, std::ceil(blocks / card_.multiprocessors));
        const double cost = (rounds + tail) * (steps + launch_.leading_steps + overhead) *
                            std::max<double>(busy_warps, neighbours * warps);
        if (best == 0 || cost < best) {
          best = cost;
          chosen_steps = steps;
          launch_.warps = warps;
          launch_.shared_bytes = shared;
        }
        if (steps == most_steps)
          break;
      }
    }

    arguments_.item_rows = chosen_steps * launch_.step_rows;
    int first = 0;
    for (int i = 0; i < arguments_.picture_count; ++i) {
      BlurPicture& picture = arguments_.pictures[i];
      picture.strips = strips_in(picture, launch_.item_tiles());
      picture.first_item = first;
      first += picture.strips * ((steps_in(picture) + chosen_steps - 1) / chosen_steps);
    }
    arguments_.item_count = first;
    blocks_ = launch_.is_small()     ? (first + launch_.warps - 1) / launch_.warps
              : launch_.uses_scratch ? std::min<unsigned>(first, scratch_blocks())
                                     : first;
  }

  static int strips_in(const BlurPicture& picture, int tiles) {
    return (picture.row_bytes + tiles * tile_bytes - 1) / (tiles * tile_bytes);
  }

  int steps_in(const BlurPicture& picture) const {
    return (picture.rows + launch_.step_rows - 1) / launch_.step_rows;
  }

  double items(int tiles, int steps) const {
    double items = 0;
    for (int i = 0; i < arguments_.picture_count; ++i)
      items += static_cast<double>(strips_in(arguments_.pictures[i], tiles)) *
               ((steps_in(arguments_.pictures[i]) + steps - 1) / steps);
    return items;
  }

  template <class Byte>
  static int pitch_of(View<Byte> plane) {
    if (plane.pitch != static_cast<int>(plane.pitch))
      throw Error(Error::Kind::invalid_argument,
                  "Gaussian blur: rows that begin " + std::to_string(plane.pitch) +
                      " bytes after each other; on a GPU less than 2 GB are supported");
    return static_cast<int>(plane.pitch);
  }

  static void place(BlurPicture& picture, View<const std::uint8_t> in, View<std::uint8_t> out) {
    picture.in = in.data;
    picture.out = out.data;
    picture.in_pitch = pitch_of(in);
    picture.out_pitch = pitch_of(out);
    picture.load_bytes = multiple_of(16, in.data, in.pitch)  ? 16
                         : multiple_of(4, in.data, in.pitch) ? 4
                                                             : 1;
    const bool mask_repeats = picture.copied == 0 || 8 % picture.period == 0;
    picture.stores_words =
        mask_repeats && multiple_of(8, in.data, in.pitch) && multiple_of(8, out.data, out.pitch);
  }

  /// Rows that belong to no channel.
  void copy_rest(const ConstFrame& in, const Frame& out) {
    for (int plane = 0; plane < layout_.plane_count; ++plane) {
      int rows = 0;
      for (int c = 0; c < layout_.channel_count; ++c)
        if (layout_.channels[c].plane == plane)
          rows = layout_.channels[c].height;
      const View<const std::uint8_t> from = in.planes[plane];
      const View<std::uint8_t> to = out.planes[plane];
      if (rows < from.height)
        device_.copy({from.row(rows), from.width, from.height - rows, from.pitch},
                     {to.row(rows), to.width, to.height - rows, to.pitch});
    }
  }

  Device& device_;
  FrameLayout layout_;
  Card card_;
  TableUploader uploader_;
  Buffer scratch_;
  Launcher<BlurArguments> launcher_;

  GaussBlurParameters parameters_;
  Launch launch_;
  BlurArguments arguments_;  // but for where the frames are
  std::array<Place, BlurArguments::max_pictures> places_{};
  unsigned blocks_ = 0;
};

}  // namespace

std::unique_ptr<GaussBlur::Implementation> make_gauss_blur_cuda(Device& device,
                                                                const FrameLayout& layout) {
  return std::make_unique<GaussBlurCuda>(device, layout);
}

}  // namespace cudavision
