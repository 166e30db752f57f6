// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Non-local means on the CPU. Each group of channels is padded, so that the loops need not handle
// edges. For each tile and each shift of the search, sliding sums of squared differences move down
// the columns. The distance between two patches is the sum over the columns of a patch.

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "cuda/core/border.h"
#include "cuda/core/parallel.h"
#include "cuda/core/runningsums.h"
#include "cuda/nlmeans/backend.h"
#include "cuda/pixels/samples.h"

namespace cudavision::nlmeans {
namespace {

template <class Sample>
[[gnu::always_inline]] inline std::uint32_t squared_difference(Sample a, Sample b) {
  // The square is correct modulo 2^32 even if the difference is negative.
  const std::uint32_t difference = std::uint32_t{a} - std::uint32_t{b};
  return difference * difference;
}

template <class Sample, class Sum>
CUDAVISION_TARGET_CLONES void add_squares(const Sample* a, const Sample* b, int count,
                                          Sum* __restrict columns) {
  for (int x = 0; x < count; ++x)
    columns[x] += squared_difference(a[x], b[x]);
}

template <class Sample, class Sum>
CUDAVISION_TARGET_CLONES void slide_squares(const Sample* a, const Sample* b, const Sample* old_a,
                                            const Sample* old_b, int count,
                                            Sum* __restrict columns) {
  for (int x = 0; x < count; ++x) {
    const Sum added = squared_difference(a[x], b[x]);
    columns[x] += added - squared_difference(old_a[x], old_b[x]);
  }
}

/// A table of weights, indexed by shifted sums of squared differences.
struct PatchWeights {
  const std::uint32_t* weights;
  std::uint32_t last;  ///< last index; its entry also holds for all larger indices
  int shift;
};

/// Computes the table index of each patch. before[x] is the sum of all columns before column x.
template <class Sum>
CUDAVISION_TARGET_CLONES void find_weights(const Sum* before, int count, int patch,
                                           const PatchWeights& table,
                                           std::uint32_t* __restrict indices) {
  const Sum last = table.last;
  const int shift = table.shift;
  for (int x = 0; x < count; ++x)
    indices[x] = static_cast<std::uint32_t>(
        std::min(static_cast<Sum>(before[x + patch] - before[x]) >> shift, last));
}

// Target clones of this loop would use gather instructions, which are slow on many CPUs.
inline void look_up(const PatchWeights& table, const std::uint32_t* indices, int count,
                    std::uint32_t* __restrict values) {
  for (int x = 0; x < count; ++x)
    values[x] = table.weights[indices[x]];
}

template <class Sample, class Sum>
CUDAVISION_TARGET_CLONES void add_weighted(const std::uint32_t* weights, const Sample* samples,
                                           int count, Sum* __restrict sums) {
  for (int x = 0; x < count; ++x)
    sums[x] += Sum{weights[x]} * samples[x];
}

template <class Sum>
CUDAVISION_TARGET_CLONES void add_weights(const std::uint32_t* weights, int count,
                                          Sum* __restrict sums) {
  for (int x = 0; x < count; ++x)
    sums[x] += weights[x];
}

/// The sums of a tile fit into the L2 cache, its sliding columns into the L1 cache.
constexpr int tile_width = 256, tile_height = 32;

/// A thread's memory. Squared differences and weighted samples are summed in the type Sum.
template <class Sum>
class TileMemory {
 public:
  explicit TileMemory(Scratch& scratch)
      : columns(scratch.take<Sum>(max_columns)),
        columns_before(scratch.take<Sum>(max_columns + 1)),
        indices(scratch.take<std::uint32_t>(tile_width)),
        weights(scratch.take<std::uint32_t>(tile_width)),
        weight_sums_(scratch.take<std::uint32_t>(tile_width * tile_height)),
        weighted_sums_(scratch.take<Sum>(tile_width * tile_height * DenoisedChannels::max_count)) {}

  Sum *columns, *columns_before;
  std::uint32_t *indices, *weights;

  std::uint32_t* weight_sums(int y) const noexcept { return weight_sums_ + y * tile_width; }
  Sum* weighted_sums(int channel, int y) const noexcept {
    return weighted_sums_ + (channel * tile_height + y) * tile_width;
  }

 private:
  static constexpr int max_columns = tile_width + Parameters::Ranges::patch.max - 1;

  std::uint32_t* weight_sums_;
  Sum* weighted_sums_;
};

template <class Sample>
class PaddedPicture {
 public:
  PaddedPicture() = default;
  PaddedPicture(const DenoisedChannels& group, int halo, Sample* samples)
      : width_(group.width()),
        height_(group.height()),
        halo_(halo),
        pitch_(width_ + 2 * std::ptrdiff_t{halo}),
        samples_(samples) {}

  int width() const noexcept { return width_; }
  int rows() const noexcept { return height_ + 2 * halo_; }

  /// Sample 0 of row y. Negative indices and rows are in the halo.
  Sample* row(int channel, int y) const noexcept {
    return samples_ + (std::ptrdiff_t{channel} * rows() + y + halo_) * pitch_ + halo_;
  }

  void pad(Sample* row) const {
    for (int i = 1; i <= halo_; ++i) {
      row[-i] = row[border_index(-i, width_, Border::reflect_101)];
      row[width_ - 1 + i] = row[border_index(width_ - 1 + i, width_, Border::reflect_101)];
    }
  }

 private:
  int width_ = 0, height_ = 0, halo_ = 0;
  std::ptrdiff_t pitch_ = 0;
  Sample* samples_ = nullptr;
};

template <class Sample>
class Denoiser {
 public:
  using Sum = std::conditional_t<sizeof(Sample) == 1, std::uint32_t, std::uint64_t>;

  /// Denoises the first picture, and searches all pictures.
  Denoiser(std::span<const PaddedPicture<Sample>> pictures, const DenoisedChannels& group,
           const Parameters& parameters, const PatchWeights& table, Scratch& scratch,
           const regions::ActiveCells* active)
      : pictures_(pictures),
        picture_(pictures.front()),
        group_(group),
        search_radius_(parameters.search / 2),
        patch_(parameters.patch),
        patch_radius_(parameters.patch / 2),
        table_(table),
        memory_(scratch),
        active_(active) {}

  /// Calls put(channel, x, y, value) for each result in the active tiles of rows [begin, end).
  template <class Put>
  void run(int begin, int end, const Put& put) const {
    for (int y = begin; y < end; y += tile_height)
      for (int x = 0; x < picture_.width(); x += tile_width) {
        const Tile tile{x, y, std::min(tile_width, picture_.width() - x),
                        std::min(tile_height, end - y)};
        const int width = group_.channels[0].subsampling_x;
        const int height = group_.channels[0].subsampling_y;
        if (active_ && !active_->touch({x * width, y * height, (x + tile.width) * width,
                                        (y + tile.height) * height}))
          continue;
        add_up(tile);
        divide(tile, put);
      }
  }

 private:
  struct Tile {
    int x, y, width, height;
  };

  void add_up(const Tile& tile) const {
    for (int y = 0; y < tile.height; ++y) {
      std::fill_n(memory_.weight_sums(y), tile.width, 0u);
      for (int c = 0; c < group_.count; ++c)
        std::fill_n(memory_.weighted_sums(c, y), tile.width, Sum{0});
    }
    for (const PaddedPicture<Sample>& picture : pictures_)
      for (int dy = -search_radius_; dy <= search_radius_; ++dy)
        for (int dx = -search_radius_; dx <= search_radius_; ++dx)
          add_shift(tile, picture, dx, dy);
  }

  void add_shift(const Tile& tile, const PaddedPicture<Sample>& searched, int dx, int dy) const {
    Sum *const columns = memory_.columns, *const before = memory_.columns_before;
    const int column_count = tile.width + patch_ - 1;
    const int left = tile.x - patch_radius_;
    std::fill_n(columns, column_count, Sum{0});
    const auto row = [&](int c, int y) { return picture_.row(c, y) + left; };
    const auto shifted = [&](int c, int y) { return searched.row(c, y + dy) + left + dx; };
    for (int y = tile.y - patch_radius_; y <= tile.y + patch_radius_; ++y)
      for (int c = 0; c < group_.count; ++c)
        add_squares(row(c, y), shifted(c, y), column_count, columns);
    for (int y = 0; y < tile.height; ++y) {
      const int above = tile.y + y - patch_radius_ - 1, last = tile.y + y + patch_radius_;
      for (int c = 0; c < group_.count && y > 0; ++c)
        slide_squares(row(c, last), shifted(c, last), row(c, above), shifted(c, above),
                      column_count, columns);
      cudavision::add_up(columns, column_count, before);
      find_weights(before, tile.width, patch_, table_, memory_.indices);
      look_up(table_, memory_.indices, tile.width, memory_.weights);
      add_weights(memory_.weights, tile.width, memory_.weight_sums(y));
      for (int c = 0; c < group_.count; ++c)
        add_weighted(memory_.weights, searched.row(c, tile.y + y + dy) + tile.x + dx, tile.width,
                     memory_.weighted_sums(c, y));
    }
  }

  template <class Put>
  void divide(const Tile& tile, const Put& put) const {
    for (int c = 0; c < group_.count; ++c)
      for (int y = 0; y < tile.height; ++y) {
        const Sum* sums = memory_.weighted_sums(c, y);
        const std::uint32_t* weights = memory_.weight_sums(y);
        for (int x = 0; x < tile.width; ++x)
          put(c, tile.x + x, tile.y + y,
              static_cast<std::uint32_t>((sums[x] + weights[x] / 2) / weights[x]));
      }
  }

  const std::span<const PaddedPicture<Sample>> pictures_;
  const PaddedPicture<Sample>& picture_;
  const DenoisedChannels& group_;
  int search_radius_, patch_, patch_radius_;
  const PatchWeights& table_;
  const TileMemory<Sum> memory_;
  const regions::ActiveCells* active_;
};

class NlMeansCpu final : public NlMeans::Backend {
 public:
  NlMeansCpu(Device& device, const FrameLayout& layout, int frame_count)
      : layout_(layout),
        frame_(layout, own_chroma_strength),
        bands_(device, layout.height, scratch_bytes<TileMemory<std::uint64_t>>()) {
    for (int g = 0; g < frame_.group_count; ++g) {
      const DenoisedChannels& group = frame_.groups[g];
      max_samples_ = std::max(max_samples_, static_cast<std::size_t>(group.count) *
                                                (group.width() + 2 * std::size_t{max_halo}) *
                                                (group.height() + 2 * std::size_t{max_halo}));
      Buffer& weights = tables_[group.kind].weights;
      if (!weights.data())
        weights = device.allocate(sizeof(std::uint32_t) * max_patch_weights(group.count));
    }
    padded_ = device.allocate(
        std::max<std::size_t>(1, frame_count * max_samples_ * layout.sample_bytes()));
  }

  void set(const Parameters& parameters) override {
    parameters_ = parameters;
    steps_ = StrengthSteps(parameters.search, parameters.frames);
    frame_ = DenoisedFrame(layout_, parameters);
    for (const ChannelKind kind : kinds) {
      tables_[kind].step = -1;
      if (frame_.noisy[kind].count > 0 && !is_automatic(kind))
        make_table(kind, strength_of(parameters, kind));
    }
  }

  void run(std::span<const ConstFrame> frames, const Frame& out, const regions::ActiveCells* active,
           const noise::State* noise) override {
    for (const ChannelKind kind : kinds)
      if (frame_.noisy[kind].count > 0 && is_automatic(kind)) {
        const int step = steps_.step_for(frame_.noisy[kind].variance(noise));
        if (std::exchange(tables_[kind].step, step) != step)
          make_table(kind, strength_of_step(step));
      }
    for (int p = 0; p < layout_.plane_count; ++p)
      if (frame_.copies(p, active == nullptr))
        copy_plane(frames[0].planes[p], out.planes[p]);
    for (int g = 0; g < frame_.group_count; ++g)
      if (layout_.bits == 8)
        denoise<std::uint8_t>(g, frames, out, active);
      else
        denoise<std::uint16_t>(g, frames, out, active);
  }

 private:
  struct Table {
    Buffer weights;
    PatchWeights patches{};
    int step = -1;  ///< step of the automatic strength for which the table was made
  };

  bool is_automatic(ChannelKind kind) const {
    return strength_of(parameters_, kind) == Parameters::automatic_strength;
  }

  void make_table(ChannelKind kind, double strength) {
    Table& table = tables_[kind];
    auto* const weights = table.weights.as<std::uint32_t>();
    const int count =
        make_patch_weights(parameters_, strength, layout_.bits, channels_of(kind), weights);
    table.patches = {weights, static_cast<std::uint32_t>(count - 1),
                     distance_shift(parameters_, layout_.bits)};
  }

  template <class Sample>
  void pad(const DenoisedChannels& group, const ConstFrame& in,
           const PaddedPicture<Sample>& picture) const {
    for_rows(picture.rows(), [&](int number) {
      const int y = number - denoising_halo(parameters_);
      for (int c = 0; c < group.count; ++c) {
        const Channel& channel = group.channels[c];
        const int from = border_index(y, group.height(), Border::reflect_101);
        const std::uint8_t* const samples =
            in.planes[channel.plane].row(from) + channel.offset * layout_.sample_bytes();
        if constexpr (sizeof(Sample) == 1)
          gather8(samples, channel.step, channel.width, picture.row(c, y));
        else
          gather16(samples, channel.step, channel.width, layout_.shift, (1u << layout_.bits) - 1,
                   picture.row(c, y));
        picture.pad(picture.row(c, y));
      }
    });
  }

  template <class Sample>
  void denoise(int number, std::span<const ConstFrame> frames, const Frame& out,
               const regions::ActiveCells* active) {
    const DenoisedChannels& group = frame_.groups[number];
    std::array<PaddedPicture<Sample>, max_frames> pictures;
    for (std::size_t f = 0; f < frames.size(); ++f) {
      pictures[f] = {group, denoising_halo(parameters_), padded_.as<Sample>() + f * max_samples_};
      pad(group, frames[f], pictures[f]);
    }
    bands_.for_each([&](Band& band) {
      const Denoiser<Sample> denoiser({pictures.data(), frames.size()}, group, parameters_,
                                      tables_[group.kind].patches, band.scratch, active);
      const Band rows = band.of(group.height());
      denoiser.run(rows.begin, rows.end, [&](int c, int x, int y, std::uint32_t result) {
        const Channel& channel = group.channels[c];
        const auto word = static_cast<Sample>(result << layout_.shift);
        std::memcpy(
            out.planes[channel.plane].row(y) + (channel.offset + std::ptrdiff_t{channel.step} * x) *
                                                   static_cast<std::ptrdiff_t>(sizeof word),
            &word, sizeof word);
      });
    });
  }

  FrameLayout layout_;
  DenoisedFrame frame_;
  Bands bands_;
  StrengthSteps steps_{Parameters().search, Parameters().frames};
  std::array<Table, kind_count> tables_;
  std::size_t max_samples_ = 0;  ///< number of samples in the largest padded group
  Buffer padded_;
  Parameters parameters_;
};

}  // namespace

std::unique_ptr<NlMeans::Backend> make_nl_means_cpu(Device& device, const FrameLayout& layout,
                                                    int frame_count) {
  return std::make_unique<NlMeansCpu>(device, layout, frame_count);
}

}  // namespace cudavision::nlmeans
