// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Non-local means on CUDA: chooses the kernels for a frame and launches them.

#include <algorithm>

#include "cuda/core/cuda_check.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/core/tableuploader.h"
#include "cuda/nlmeans/any.cuh"
#include "cuda/nlmeans/backend.h"
#include "cuda/nlmeans/productkernels.cuh"
#include "cuda/nlmeans/strengths.cuh"
#include "cuda/nlmeans/tile.cuh"
#include "cuda/nlmeans/weights.h"

namespace cudavision::nlmeans {
namespace {

using Kernel = Launcher<NlMeansArguments>::Kernel;

/// The tile kernels support patch radii from 1 to this one.
constexpr int max_tile_radius = 3;

template <int kRadius>
Kernel tile_kernel_of(int channels, bool shared_table) {
  if (channels == 1)
    return shared_table ? denoise_tiles<kRadius, 1, true> : denoise_tiles<kRadius, 1, false>;
  return shared_table ? denoise_tiles<kRadius, 3, true> : denoise_tiles<kRadius, 3, false>;
}

Kernel tile_kernel(int radius, int channels, bool shared_table) {
  switch (radius) {
    case 1:
      return tile_kernel_of<1>(channels, shared_table);
    case 2:
      return tile_kernel_of<2>(channels, shared_table);
    default:
      return tile_kernel_of<max_tile_radius>(channels, shared_table);
  }
}

Kernel any_kernel(int sample_bytes, int channels) {
  if (sample_bytes == 1)
    return channels == 1 ? denoise_any<std::uint8_t, std::uint32_t, 1>
                         : denoise_any<std::uint8_t, std::uint32_t, 3>;
  return channels == 1 ? denoise_any<std::uint16_t, std::uint64_t, 1>
                       : denoise_any<std::uint16_t, std::uint64_t, 3>;
}

Kernel padding_kernel(int sample_bytes) {
  return sample_bytes == 1 ? pad_pictures<std::uint8_t> : pad_pictures<std::uint16_t>;
}

unsigned tiles(const DenoisedPicture& picture, int width, int height) {
  return static_cast<unsigned>((picture.width + width - 1) / width) *
         ((picture.height + height - 1) / height);
}

/// How the tile kernels keep a table of weights.
struct TablePlace {
  Table table = Table::global;
  int copies_log2 = 0;
  int words = 0;
};

/// The groups of a kind, and the launches for them.
struct Plan {
  int channels = 1;
  int groups[FrameLayout::max_channels] = {};  ///< the group of each of the arguments' pictures
  NlMeansArguments arguments{};
  Kernel kernel = nullptr;
  unsigned blocks = 0;
  unsigned resident_blocks = 0;  ///< 0, or those that share the strips
  int threads = 0;
  int shared_bytes = 0;
  unsigned padding_blocks = 0;  ///< 0: the kernel reads the frame itself
};

class NlMeansCuda final : public NlMeans::Backend {
 public:
  NlMeansCuda(Device& device, const FrameLayout& layout, int frame_count)
      : device_(device),
        layout_(layout),
        frame_(layout, own_chroma_strength),
        shared_bytes_(
            device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory")),
        multiprocessor_bytes_(
            device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, "the shared memory")),
        reserved_bytes_(
            device_attribute(cudaDevAttrReservedSharedMemoryPerBlock, "the shared memory")),
        multiprocessors_(multiprocessor_count()),
        uploader_(device, max_weights(frame_)),
        launcher_(device.stream(), padding_kernel(layout.sample_bytes())),
        choice_launcher_(device.stream(), choose_tables) {
    for (int radius = 1; radius <= max_tile_radius; ++radius)
      for (const int channels : {1, DenoisedChannels::max_count})
        for (const bool shared_table : {false, true})
          cuda_check(
              cudaFuncSetAttribute(tile_kernel(radius, channels, shared_table),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes_),
              "setting up a kernel on the GPU");
    for (const int channels : {1, DenoisedChannels::max_count})
      for (int side = min_product_side; side <= max_product_side; ++side)
        for (const int search_radius : {1, Parameters::Ranges::search.max / 2})
          with_product_kind(2 * side - 2, search_radius, channels, layout.sample_bytes(),
                            [&](auto kind) { allow_shared_memory<decltype(kind)>(); });
    padded_frame_bytes_ = place_padded();
    padded_ = device.allocate(std::max<std::size_t>(1, frame_count * padded_frame_bytes_));
    for (const ChannelKind kind : kinds)
      if (has_channels(kind))
        chosen_tables_[index(kind)] =
            device.allocate(sizeof(std::uint32_t) * max_weights_of_last_step(channels_of(kind)));
    chosen_ = device.allocate(sizeof(int) * kind_count);
  }

  void set(const Parameters& parameters) override {
    frame_ = DenoisedFrame(layout_, parameters);
    place_padded();
    std::uint32_t* const weights = uploader_.next();
    std::size_t used = 0;
    plan_count_ = choices_.count = 0;
    choices_.steps = StrengthSteps(parameters.search, parameters.frames);
    for (const ChannelKind kind : kinds) {
      if (!has_channels(kind))
        continue;
      const double strength = strength_of(parameters, kind);
      if (strength == Parameters::automatic_strength)
        make_plans(parameters, kind, weights, used);
      else
        make_plan(parameters, kind, strength, weights, used);
    }
    if (used > 0)
      uploader_.upload(used);
  }

  void run(std::span<const ConstFrame> frames, const Frame& out, const regions::ActiveCells* active,
           const noise::State* noise) override {
    for (int p = 0; p < layout_.plane_count; ++p)
      if (frame_.copies(p, active == nullptr))
        device_.copy(frames[0].planes[p], out.planes[p]);
    if (choices_.count > 0) {
      choices_.noise = noise;
      choice_launcher_(choose_tables, static_cast<unsigned>(choices_.count * choice_blocks),
                       choice_threads, 0, choices_);
    }
    for (int i = 0; i < plan_count_; ++i)
      launch(plans_[i], frames, out, active);
  }

  void copy(const ConstFrame& in, const Frame& out) override {
    for (int p = 0; p < layout_.plane_count; ++p)
      device_.copy(in.planes[p], out.planes[p]);
  }

 private:
  static constexpr std::size_t index(ChannelKind kind) { return static_cast<std::size_t>(kind); }
  bool has_channels(ChannelKind kind) const { return frame_.noisy[index(kind)].count > 0; }

  void launch(Plan& plan, std::span<const ConstFrame> frames, const Frame& out,
              const regions::ActiveCells* active) {
    NlMeansArguments& a = plan.arguments;
    a.everywhere = active == nullptr;
    if (plan.resident_blocks > 0)
      share_strips(plan);
    if (active)
      a.active = *active;
    for (int i = 0; i < a.picture_count; ++i)
      place(frame_.groups[plan.groups[i]], out, a.pictures[i]);
    for (std::size_t f = 0; f < frames.size(); ++f)
      for (int p = 0; p < layout_.plane_count; ++p)
        a.frames[f][p] = {frames[f].planes[p].data,
                          kernel_pitch("non-local means", frames[f].planes[p].pitch)};
    if (plan.padding_blocks > 0)
      launcher_(padding_kernel(layout_.sample_bytes()), plan.padding_blocks, any_threads, 0, a);
    launcher_(plan.kernel, plan.blocks, plan.threads, plan.shared_bytes, a);
  }

  template <class Kind>
  void allow_shared_memory() const {
    for (const Table table : {Table::aligned, Table::shared, Table::global})
      if (const Kernel kernel = product_kernel<Kind>(table))
        cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        shared_bytes_),
                   "setting up a kernel on the GPU");
  }

  /// Returns the maximum size of all tables.
  static std::size_t max_weights(const DenoisedFrame& frame) {
    std::size_t maximum = 1;
    for (const ChannelKind kind : kinds)
      if (frame.noisy[index(kind)].count > 0)
        maximum +=
            std::max(max_patch_weights(channels_of(kind)), max_weights_of_steps(channels_of(kind)));
    return maximum;
  }

  /// Returns the maximum size of a padded group, rounded up so that the next one is aligned.
  std::size_t padded_bytes(const DenoisedChannels& group) const {
    const std::size_t bytes = static_cast<std::size_t>(group.count) * layout_.sample_bytes() *
                              (group.width() + 2 * std::size_t{max_halo}) *
                              (group.height() + 2 * std::size_t{max_halo});
    return (bytes + 255) / 256 * 256;
  }

  /// Places the padded groups in their memory, and returns its size.
  std::size_t place_padded() {
    std::size_t bytes = 0;
    for (int g = 0; g < frame_.group_count; ++g) {
      padded_at_[g] = bytes;
      bytes += padded_bytes(frame_.groups[g]);
    }
    return bytes;
  }

  /// Adds the plan for a known strength, and appends its table to the `used` words.
  void make_plan(const Parameters& parameters, ChannelKind kind, double strength,
                 std::uint32_t* weights, std::size_t& used) {
    const int count =
        make_patch_weights(parameters, strength, layout_.bits, channels_of(kind), weights + used);
    weights[used + count] = 0;  // the kernels need a distance without a weight
    const Plan& plan = add_plan(parameters, kind, uploader_.tables() + used, count);
    convert(plan, weights + used, count);
    used += static_cast<std::size_t>(count + 1);
  }

  /// Adds the plans for an automatic strength, and appends the tables of all steps to the `used`
  /// words. Each of them ends with a 0, which is what the table of a plan is filled up with.
  void make_plans(const Parameters& parameters, ChannelKind kind, std::uint32_t* weights,
                  std::size_t& used) {
    TableChoice& choice = choices_.choices[choices_.count++];
    choice.channels = frame_.noisy[index(kind)];
    choice.tables = uploader_.tables();
    choice.table = chosen_tables_[index(kind)].as<std::uint32_t>();
    choice.chosen = chosen_.as<int>() + index(kind);
    for (int number = 0; number < strength_class_count; ++number) {
      const std::size_t first = used;
      int count = 0;
      for (int step = first_step_of_class(number); step < first_step_of_class(number + 1); ++step) {
        choice.offsets[step] = static_cast<std::uint32_t>(used);
        count = make_patch_weights(parameters, strength_of_step(step), layout_.bits,
                                   channels_of(kind), weights + used);
        used += static_cast<std::size_t>(count);
        choice.offsets[step + 1] = static_cast<std::uint32_t>(used);
      }
      choice.lengths[number] = static_cast<std::uint32_t>(count + 1);
      Plan& plan = add_plan(parameters, kind, choice.table, count);
      plan.arguments.chosen = choice.chosen;
      plan.arguments.number = number;
      convert(plan, weights + first, static_cast<int>(used - first));
    }
  }

  /// Converts weights to the form that the plan's kernel reads.
  static void convert(const Plan& plan, std::uint32_t* weights, int count) {
    if (plan.resident_blocks > 0)
      std::transform(weights, weights + count, weights, weight_digits);
  }

  /// Adds a plan whose table has `count` entries, with a 0 behind them.
  Plan& add_plan(const Parameters& parameters, ChannelKind kind, const std::uint32_t* table,
                 int count) {
    Plan& plan = plans_[plan_count_++];
    plan = {};
    plan.channels = channels_of(kind);
    NlMeansArguments& a = plan.arguments;
    for (int g = 0; g < frame_.group_count; ++g)
      if (frame_.groups[g].kind == kind) {
        DenoisedPicture& picture = a.pictures[a.picture_count];
        picture.width = frame_.groups[g].width();
        picture.height = frame_.groups[g].height();
        picture.padded = padded_.as<std::uint8_t>() + padded_at_[g];
        plan.groups[a.picture_count++] = g;
      }
    a.channels = plan.channels;
    a.frame_count = parameters.frames;
    a.padded_frame_bytes = static_cast<std::int64_t>(padded_frame_bytes_);
    a.search_radius = parameters.search / 2;
    a.patch_radius = parameters.patch / 2;
    a.weights = table;
    a.last_weight = static_cast<std::uint32_t>(count - 1);
    a.distance_shift = distance_shift(parameters, layout_.bits);
    a.bits = layout_.bits;
    a.shift = layout_.shift;
    choose_kernel(parameters, plan, count + 1);
    return plan;
  }

  void choose_kernel(const Parameters& parameters, Plan& plan, int weights) const {
    NlMeansArguments& a = plan.arguments;
    plan.padding_blocks = plan.resident_blocks = 0;
    if (choose_tile_kernel(parameters, plan))
      return;
    if (with_product_kind(a.patch_radius, a.search_radius, plan.channels, layout_.sample_bytes(),
                          [&](auto kind) {
                            plan.kernel = nullptr;
                            choose_product_kernel<decltype(kind)>(plan, weights);
                          }) &&
        plan.kernel)
      return;
    plan.kernel = any_kernel(layout_.sample_bytes(), plan.channels);
    plan.threads = any_threads;
    plan.shared_bytes = 0;
    plan.blocks = place_tiles(plan, any_tile, any_tile);
    for (int i = 0; i < a.picture_count; ++i) {
      a.pictures[i].first_padding_block = plan.padding_blocks;
      plan.padding_blocks += static_cast<unsigned>(parameters.frames * plan.channels) *
                             (a.pictures[i].height + 2 * denoising_halo(parameters));
    }
  }

  /// Chooses a tile kernel, or returns false if there is none for the plan or the products are
  /// faster. The tensor cores compare groups of candidates, more than the search has. Where they
  /// compare 1.3 times as many, they take 0.85 times as long as a tile kernel for one channel and
  /// 0.53 times as long for three (on an H100).
  bool choose_tile_kernel(const Parameters& parameters, Plan& plan) const {
    NlMeansArguments& a = plan.arguments;
    const int needed = a.search_radius * 2 + 4;
    const int compared = round_up(needed, 8) * needed;
    const int searched = parameters.search * parameters.search;
    const int tile_bytes = tile_shared_bytes(plan.channels, denoising_halo(parameters));
    if (layout_.bits != 8 || (a.frame_count > 1 && !searches_neighbours(plan.channels)) ||
        a.patch_radius < 1 || a.patch_radius > max_tile_radius ||
        a.search_radius > DenoisingTile::max_search_radius || tile_bytes > shared_bytes_ ||
        2 * compared <= (plan.channels == 1 ? 3 : 5) * searched)
      return false;
    const int table_bytes = static_cast<int>((a.last_weight + 1) * sizeof(std::uint32_t));
    const bool shared_table =
        a.last_weight < max_shared_weights && tile_bytes + table_bytes <= shared_bytes_;
    plan.kernel = tile_kernel(a.patch_radius, plan.channels, shared_table);
    plan.threads = tile_threads;
    plan.shared_bytes = tile_bytes + (shared_table ? table_bytes : 0);
    plan.blocks = place_tiles(plan, DenoisingTile::width,
                              DenoisingTile::warps * tile_thread_rows(plan.channels));
    return true;
  }

  /// Numbers the tiles of all pictures and returns their count.
  static unsigned place_tiles(Plan& plan, int width, int height) {
    unsigned count = 0;
    for (int i = 0; i < plan.arguments.picture_count; ++i) {
      plan.arguments.pictures[i].first_block = count;
      count += tiles(plan.arguments.pictures[i], width, height);
    }
    return count;
  }

  /// Returns the shared memory of a block of which so many are resident.
  int share(int resident_blocks) const {
    return std::min(shared_bytes_, multiprocessor_bytes_ / resident_blocks - reserved_bytes_);
  }

  /// Returns how to keep a table beside a tile of the given size. Lanes that read different copies
  /// of the table do not wait for each other, but more copies must not cost a resident block.
  TablePlace place_table(int weights, int tile_bytes, int resident_blocks,
                         int max_copies_log2) const {
    for (int copies_log2 = max_copies_log2; copies_log2 >= 0; --copies_log2) {
      const int words = ((weights << copies_log2) + 31) / 32 * 32;
      if (tile_bytes + 4 * words <= (copies_log2 > 0 ? share(resident_blocks) : shared_bytes_))
        return {Table::shared, copies_log2, words};
    }
    return {};
  }

  /// Returns the bytes of the largest tile that costs no resident block, or of the largest of all
  /// if there is none, and sets its shape.
  template <class Kind>
  int shape_tile(NlMeansArguments& a, int weights) const {
    const auto tile_bytes = [&](int strips) {
      a.shape = product_shape<Kind>(a.search_radius, strips);
      return 4 * (a.shape.words(Kind::planes, Kind::sample_bytes) +
                  (a.frame_count > 1 ? KeptFrame<Kind>(strips).words() : 0));
    };
    for (int strips = Kind::tile_strips; strips >= 1; --strips)
      if (tile_bytes(strips) + 4 * weights <= share(Kind::resident_blocks))
        return tile_bytes(strips);
    return tile_bytes(Kind::tile_strips);
  }

  /// Leaves plan.kernel as it is if the tile does not fit shared memory. `weights` is the number of
  /// entries of the table with its last one, which is 0.
  template <class Kind>
  void choose_product_kernel(Plan& plan, int weights) const {
    NlMeansArguments& a = plan.arguments;
    const int tile_bytes = shape_tile<Kind>(a, weights);
    if (tile_bytes > shared_bytes_)
      return;
    a.low_bits = Kind::sample_bytes == 2 ? layout_.bits - 8 : 0;
    const int shift = a.distance_shift - 2 * a.low_bits;
    // Joined planes have no more than 2 · low_bits bits below the distance's.
    const int max_copies_log2 = Kind::joins_planes ? std::min(5, 2 * a.low_bits + shift - 2) : 5;
    TablePlace place = place_table(weights, tile_bytes, Kind::resident_blocks, max_copies_log2);
    int scale_log2 = 0;
    a.index_shift = shift;
    if (place.table == Table::shared) {
      a.index_shift = shift - 2 - place.copies_log2;
      if (a.index_shift <= 0) {
        scale_log2 = -a.index_shift;
        a.index_shift = 0;
        place.table = Table::aligned;
      }
    }
    plan.kernel = product_kernel<Kind>(place.table);
    if constexpr (Kind::squares > 1)
      if (!plan.kernel)
        return choose_product_kernel<typename Kind::OneSquare>(plan, weights);
    a.scale_log2 = scale_log2;
    a.product_scale = -2 * (1 << scale_log2);
    a.joined_shift = 2 * a.low_bits - scale_log2;
    a.max_distance = (weights - 1) << (shift + scale_log2);
    a.table_mask = ~((4 << place.copies_log2) - 1);
    a.table_words = place.words;
    a.copies_log2 = place.copies_log2;
    a.strips = place_tiles(plan, Kind::strip_width, Kind::strip_height);
    plan.threads = product_threads;
    plan.shared_bytes = tile_bytes + 4 * place.words;
    int resident = 0;
    cuda_check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, plan.kernel, plan.threads,
                                                      static_cast<std::size_t>(plan.shared_bytes)),
        "setting up a kernel on the GPU");
    plan.resident_blocks = static_cast<unsigned>(std::max(1, resident) * multiprocessors_);
  }

  /// Gives each block that works at the same time as the others as many strips as they get. Where
  /// only parts of the frame are denoised, these parts are shared out instead.
  static void share_strips(Plan& plan) {
    NlMeansArguments& a = plan.arguments;
    const auto share = [&](unsigned parts) { return (a.strips + parts - 1) / parts; };
    a.strips_at_once = share(plan.resident_blocks);
    if (!a.everywhere)
      a.strips_at_once = std::min(a.strips_at_once, static_cast<unsigned>(a.shape.strips));
    plan.blocks = std::min(share(a.strips_at_once), plan.resident_blocks);
  }

  void place(const DenoisedChannels& group, const Frame& out, DenoisedPicture& picture) const {
    picture.sample_width = group.channels[0].subsampling_x;
    picture.sample_height = group.channels[0].subsampling_y;
    for (int c = 0; c < group.count; ++c) {
      const Channel& channel = group.channels[c];
      const View<std::uint8_t> to = out.planes[channel.plane];
      const int bytes = layout_.sample_bytes();
      picture.planes[c] = {channel.plane, to.data, kernel_pitch("non-local means", to.pitch),
                           channel.offset * bytes, channel.step * bytes};
    }
  }

  Device& device_;
  FrameLayout layout_;
  DenoisedFrame frame_;
  int shared_bytes_;  ///< limit of a block
  int multiprocessor_bytes_,
      reserved_bytes_;  ///< shared memory of all resident blocks, and what each loses
  int multiprocessors_;
  TableUploader uploader_;
  Buffer padded_;
  std::size_t padded_frame_bytes_ = 0;  ///< the padded groups of a frame
  std::array<std::size_t, FrameLayout::max_channels> padded_at_{};
  std::array<Buffer, kind_count> chosen_tables_;
  Buffer chosen_;  ///< which class each of them belongs to
  Launcher<NlMeansArguments> launcher_;
  Launcher<TableChoices> choice_launcher_;
  TableChoices choices_{};
  Plan plans_[kind_count * strength_class_count];
  int plan_count_ = 0;
};

}  // namespace

std::unique_ptr<NlMeans::Backend> make_nl_means_cuda(Device& device, const FrameLayout& layout,
                                                     int frame_count) {
  return std::make_unique<NlMeansCuda>(device, layout, frame_count);
}

}  // namespace cudavision::nlmeans
