// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend. Each conversion is one launch.

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/repack/backend.h"
#include "cuda/repack/channels.cuh"
#include "cuda/repack/fields.h"
#include "cuda/repack/luminance.cuh"

namespace cudavision::repack {
namespace {

/// The threads of a launch, and its blocks so far.
struct LaunchShape {
  unsigned threads;
  unsigned blocks = 0;
};

/// Returns how many threads a row takes that has chunks of chunk_pixels. 0: It has none.
Units make_units(int width, int chunk_pixels) {
  Units units{};
  units.width = width;
  units.chunks = chunk_pixels > 0 ? width / chunk_pixels : 0;
  units.in_chunks = units.chunks * chunk_pixels;
  return units;
}

unsigned count(const Units& units) {
  return static_cast<unsigned>(units.chunks + units.width - units.in_chunks);
}

/// Chooses blocks as large as possible of which those of a row have few threads too many.
LaunchShape shape_for(const Units& units) {
  constexpr unsigned warp = 32;
  const unsigned blocks = divide_up(count(units), max_threads);
  return {round_up(divide_up(count(units), blocks), warp)};
}

/// Adds the blocks of a number of rows, and returns the first one's number.
unsigned add_blocks(LaunchShape& shape, Units& units, int rows) {
  const unsigned first = shape.blocks;
  units.blocks_per_row = make_division(divide_up(count(units), shape.threads));
  shape.blocks += units.blocks_per_row.divisor * static_cast<unsigned>(rows);
  return first;
}

bool is_aligned(const View<const std::uint8_t>& plane) {
  return (reinterpret_cast<std::uintptr_t>(plane.data) | static_cast<std::uintptr_t>(plane.pitch)) %
             16 ==
         0;
}

/// Returns true if all rows lie at multiples of 16 bytes.
bool is_aligned(const ConstFrame& frame) {
  return std::all_of(frame.planes.begin(), frame.planes.end(),
                     [](const View<const std::uint8_t>& plane) { return is_aligned(plane); });
}

/// Converts all channels of words of two bytes, or the luma alone.
template <bool kPacks>
class WordChannelsLaunch {
 public:
  WordChannelsLaunch(Device& device, const StoredLayout& storage, bool only_luma)
      : layout_(storage.frame),
        launch_one_(device.stream(), word_channels_kernel<kPacks, 1>),
        launch_some_(device.stream(), word_channels_kernel<kPacks, max_planes>) {
    arguments_.coding = pair_coding(storage.words == Words::swapped, layout_.bits, layout_.shift);
    for (int c = 0; c < layout_.channel_count; ++c)
      if (!only_luma || layout_.channels[c].role == Role::luma)
        add_channel(c);
    for (int i = 0; i < arguments_.count; ++i)
      sort_channels(i);
  }

  template <class Stored, class Unpacked>
  void run(const Stored& stored, const Unpacked& unpacked) const {
    SomePlanes a = arguments_;
    const bool aligned = is_aligned(stored) && is_aligned(unpacked);
    LaunchShape shape{};
    for (int i = 0; i < a.count; ++i) {
      WordPlane<kPacks>& plane = a.plane[i];
      plane.units = make_units(width_[i], aligned && chunked_[i] ? 8 / plane.step : 0);
      if (i == 0)
        shape = shape_for(plane.units);
      plane.first_block = add_blocks(shape, plane.units, plane.height);
      plane.stored = stored.planes[stored_plane_[i]];
      for (int k = 0; k < plane.count; ++k)
        if (number_[i][k] >= 0)
          plane.unpacked[k] = unpacked.planes[number_[i][k]];
    }
    if (a.count == 1)
      launch_one_(word_channels_kernel<kPacks, 1>, shape.blocks, shape.threads, 0,
                  {{a.plane[0]}, 1, a.coding});
    else
      launch_some_(word_channels_kernel<kPacks, max_planes>, shape.blocks, shape.threads, 0, a);
  }

 private:
  static constexpr int max_planes = FrameLayout::max_channels;
  using SomePlanes = WordChannels<kPacks, max_planes>;

  void add_channel(int c) {
    const Channel& channel = layout_.channels[c];
    int i = 0;
    for (; i < arguments_.count; ++i)
      if (stored_plane_[i] == channel.plane && arguments_.plane[i].step == channel.step &&
          width_[i] == channel.width && arguments_.plane[i].height == channel.height)
        break;
    WordPlane<kPacks>& plane = arguments_.plane[i];
    if (i == arguments_.count) {
      ++arguments_.count;
      stored_plane_[i] = channel.plane;
      width_[i] = channel.width;
      plane.step = channel.step;
      plane.height = channel.height;
    }
    // The luma alone is the first plane of the unpacked frame.
    number_[i][plane.count] = channel_count_++;
    plane.offset[plane.count++] = channel.offset;
  }

  /// Brings channels into the order that chunks need.
  void sort_channels(int i) {
    WordPlane<kPacks>& plane = arguments_.plane[i];
    const bool whole_chunks =
        layout_.planes[stored_plane_[i]].row_bytes >= 2 * plane.step * width_[i];
    chunked_[i] = (plane.step == 1 || plane.step == 2 || plane.step == 4) && whole_chunks &&
                  !(kPacks && plane.count != plane.step);
    if (!chunked_[i])
      return;
    int numbers[FrameLayout::max_channels] = {-1, -1, -1, -1};
    for (int k = 0; k < plane.count; ++k) {
      if (numbers[plane.offset[k]] >= 0) {  // Channels share their samples.
        chunked_[i] = false;
        return;
      }
      numbers[plane.offset[k]] = number_[i][k];
    }
    plane.count = plane.step;
    for (int k = 0; k < plane.count; ++k) {
      plane.offset[k] = k;
      number_[i][k] = numbers[k];
    }
  }

  FrameLayout layout_;
  SomePlanes arguments_{};
  int channel_count_ = 0;
  // Of the planes in the arguments.
  int stored_plane_[FrameLayout::max_channels]{}, width_[FrameLayout::max_channels]{};
  int number_[FrameLayout::max_channels][FrameLayout::max_channels]{};  ///< −1: not wanted
  bool chunked_[FrameLayout::max_channels]{};
  Launcher<WordChannels<kPacks, 1>> launch_one_;
  Launcher<SomePlanes> launch_some_;
};

/// Converts all channels that share a word, or the luma alone.
template <bool kPacks>
class PackedChannelsLaunch {
 public:
  PackedChannelsLaunch(Device& device, const StoredLayout& storage, bool only_luma)
      : launch_(device.stream(), packed_channels_kernel<kPacks, Scaled::any>) {
    const Fields fields = fields_of(storage);
    for (int c = 0; c < fields.count; ++c)
      if (!only_luma || c == fields.luma) {
        const PackedField field = packed_field(fields.field[c], fields.largest);
        if (field.scaled && arguments_.count < FrameLayout::max_channels - 1)
          kernel_ = packed_channels_kernel<kPacks, Scaled::any>;
        arguments_.field[arguments_.count++] = field;
      }
    arguments_.height = storage.frame.height;
    arguments_.largest = fields.largest;
    width_ = storage.frame.width;
  }

  template <class Stored, class Unpacked>
  void run(const Stored& stored, const Unpacked& unpacked) const {
    PackedChannels<kPacks> a = arguments_;
    a.stored = stored.planes[0];
    for (int c = 0; c < a.count; ++c)
      a.unpacked[c] = unpacked.planes[c];
    a.units = make_units(width_, is_aligned(stored) && is_aligned(unpacked) ? packed_chunk : 0);
    LaunchShape shape = shape_for(a.units);
    add_blocks(shape, a.units, a.height);
    launch_(kernel_, shape.blocks, shape.threads, 0, a);
  }

 private:
  PackedChannels<kPacks> arguments_{};
  typename Launcher<PackedChannels<kPacks>>::Kernel kernel_ =
      packed_channels_kernel<kPacks, Scaled::last>;
  int width_;
  Launcher<PackedChannels<kPacks>> launch_;
};

/// Makes the luminance of red, green and blue, or adjusts them to another one. Arguments are those
/// of the kernel.
template <class Arguments>
class LuminanceLaunch {
 public:
  using Kernel = typename Launcher<Arguments>::Kernel;

  /// Threads of the kernel have chunks of chunk_pixels. 0: There are none.
  LuminanceLaunch(Device& device, Kernel kernel, const Arguments& arguments,
                  const FrameLayout& layout, bool keeps, int chunk_pixels)
      : arguments_(arguments),
        kernel_(kernel),
        width_(layout.width),
        plane_count_(layout.plane_count),
        chunk_pixels_(chunk_pixels),
        launch_(device.stream(), kernel) {
    arguments_.frames.keeps = keeps;
    arguments_.frames.height = layout.height;
  }

  void unpack(const ConstFrame& stored, const Frame& unpacked) const {
    Arguments a = arguments_;
    a.frames.luminance = unpacked.planes[0];
    for (int p = 0; p < plane_count_; ++p) {
      a.frames.in[p] = stored.planes[p];
      if (a.frames.keeps)
        a.frames.out[p] = unpacked.planes[p + 1];
    }
    launch(a, is_aligned(stored) && is_aligned(unpacked));
  }

  void pack(const ConstFrame& unpacked, const Frame& stored) const {
    Arguments a = arguments_;
    a.frames.luminance = unpacked.planes[0];
    for (int p = 0; p < plane_count_; ++p) {
      a.frames.in[p] = unpacked.planes[p + 1];
      a.frames.out[p] = stored.planes[p];
    }
    launch(a, is_aligned(stored) && is_aligned(unpacked));
  }

 private:
  void launch(Arguments& a, bool aligned) const {
    Units& units = a.frames.units;
    units = make_units(width_, aligned ? chunk_pixels_ : 0);
    LaunchShape shape = shape_for(units);
    add_blocks(shape, units, a.frames.height);
    launch_(kernel_, shape.blocks, shape.threads, 0, a);
  }

  Arguments arguments_;
  Kernel kernel_;
  int width_, plane_count_, chunk_pixels_;
  Launcher<Arguments> launch_;
};

/// The colours of words of two bytes, and the kernel's chunks of them.
struct WordColors {
  explicit WordColors(const FrameLayout& layout);

  int count;
  WordColor channel[FrameLayout::max_channels]{};
  bool planar = true, interleaved = true;
  /// Of the planes, or of the samples of a pixel.
  std::uint32_t weights[FrameLayout::max_channels]{};
};

WordColors::WordColors(const FrameLayout& layout) : count(layout.channel_count) {
  planar = layout.plane_count == 3 && count == 3;
  interleaved = layout.plane_count == 1 && count == 4;
  for (int c = 0; c < count; ++c) {
    const Channel& channel = layout.channels[c];
    const bool full = channel.width == layout.width && channel.height == layout.height;
    planar = planar && full && channel.step == 1;
    interleaved = interleaved && full && channel.step == 4;
  }
  bool taken[FrameLayout::max_channels]{};
  for (int c = 0; c < count; ++c) {
    const Channel& from = layout.channels[c];
    const std::uint32_t weight = from.role == Role::red     ? red_weight
                                 : from.role == Role::green ? green_weight
                                 : from.role == Role::blue  ? blue_weight
                                                            : 0;
    channel[c] = {from.plane, 2 * from.offset, 2 * from.step, weight};
    const int place = planar ? from.plane : from.offset % FrameLayout::max_channels;
    if (taken[place])
      planar = interleaved = false;
    taken[place] = true;
    weights[place] = weight;
  }
}

template <bool kAdjusts>
LuminanceLaunch<WordLuminance<kAdjusts>> word_luminance(Device& device, const StoredLayout& storage,
                                                        bool keeps) {
  const FrameLayout& layout = storage.frame;
  const WordColors colors(layout);
  WordLuminance<kAdjusts> a{};
  a.coding = pair_coding(storage.words == Words::swapped, layout.bits, layout.shift);
  a.largest = (1u << layout.bits) - 1;
  a.count = colors.count;
  std::copy_n(colors.channel, colors.count, a.channel);
  std::copy_n(colors.weights, FrameLayout::max_channels, a.weights);
  constexpr ColorShape planar = ColorShape::planar, interleaved = ColorShape::interleaved;
  if (colors.planar)
    return {device, word_luminance_kernel<planar, kAdjusts>, a, layout, keeps, color_chunk<planar>};
  return {device, word_luminance_kernel<interleaved, kAdjusts>,     a, layout,
          keeps,  colors.interleaved ? color_chunk<interleaved> : 0};
}

template <bool kAdjusts>
LuminanceLaunch<PackedLuminance<kAdjusts>> packed_luminance(Device& device,
                                                            const StoredLayout& storage,
                                                            bool keeps) {
  PackedLuminance<kAdjusts> a{};
  a.colors = packed_colors(fields_of(storage));
  const auto kernel = a.colors.scaled ? packed_luminance_kernel<kAdjusts, true>
                                      : packed_luminance_kernel<kAdjusts, false>;
  return {device, kernel, a, storage.frame, keeps, packed_color_chunk};
}

template <template <bool> class Launch>
class ChannelsCuda final : public Repack::Backend {
 public:
  ChannelsCuda(Device& device, const StoredLayout& storage, bool only_luma)
      : unpack_(device, storage, only_luma), pack_(device, storage, only_luma) {}

  void unpack(const ConstFrame& stored, const Frame& unpacked) override {
    unpack_.run(stored, unpacked);
  }
  void pack(const ConstFrame& unpacked, const Frame& stored) override {
    pack_.run(stored, unpacked);
  }

 private:
  Launch<false> unpack_;
  Launch<true> pack_;
};

template <template <bool> class Arguments>
class LuminanceCuda final : public Repack::Backend {
 public:
  LuminanceCuda(const LuminanceLaunch<Arguments<false>>& unpack,
                const LuminanceLaunch<Arguments<true>>& pack)
      : unpack_(unpack), pack_(pack) {}

  void unpack(const ConstFrame& stored, const Frame& unpacked) override {
    unpack_.unpack(stored, unpacked);
  }
  void pack(const ConstFrame& unpacked, const Frame& stored) override {
    pack_.pack(unpacked, stored);
  }

 private:
  LuminanceLaunch<Arguments<false>> unpack_;
  LuminanceLaunch<Arguments<true>> pack_;
};

}  // namespace

std::unique_ptr<Repack::Backend> make_repack_cuda(Device& device, const StoredLayout& storage,
                                                  UnpackedForm form) {
  const bool packed = storage.words == Words::packed;
  const bool channels = unpacks_channels(storage, form);
  if (channels || storage.frame.find(Role::luma) >= 0) {
    if (packed)
      return std::make_unique<ChannelsCuda<PackedChannelsLaunch>>(device, storage, !channels);
    return std::make_unique<ChannelsCuda<WordChannelsLaunch>>(device, storage, !channels);
  }
  const bool keeps = form == UnpackedForm::adjustable_luminance;
  if (packed)
    return std::make_unique<LuminanceCuda<PackedLuminance>>(
        packed_luminance<false>(device, storage, keeps),
        packed_luminance<true>(device, storage, keeps));
  return std::make_unique<LuminanceCuda<WordLuminance>>(
      word_luminance<false>(device, storage, keeps), word_luminance<true>(device, storage, keeps));
}

}  // namespace cudavision::repack
