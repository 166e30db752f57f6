// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The remap on CUDA: resamples all groups of channels in one launch.

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "cuda/remap/backend.h"
#include "cuda/remap/group_kernel.cuh"

namespace cudavision::remap {
namespace {

/// Returns the kind of a group's pixels, or nothing in cases that need sample_kernel:
/// - Pixels also contain other channels or bytes that must not be written.
/// - No kind has the size of the pixels, or rows are not aligned to whole pixels.
/// - The map has wide offsets, or the input's pitch is not below pitch_limit.
std::optional<PixelKind> kind_of(const SampleCoding& coding, const GroupPlanes& group) {
  const ChannelGroup& channels = *group.channels;
  const int bytes = channels.step * (coding.bits > 8 ? 2 : 1);
  const auto addresses = reinterpret_cast<std::uintptr_t>(group.in.data) |
                         static_cast<std::uintptr_t>(group.in.pitch) |
                         reinterpret_cast<std::uintptr_t>(group.out.data) |
                         static_cast<std::uintptr_t>(group.out.pitch);
  if ((channels.step > 1 && !channels.whole_pixels) || bytes > 8 ||
      addresses % static_cast<unsigned>(bytes == 3 ? 1 : bytes) != 0 || channels.map->view().wide ||
      std::abs(group.in.pitch) >= pitch_limit)
    return {};
  using enum PixelKind;
  using Kinds = std::optional<PixelKind>[4];  // for steps of 1 to 4
  const Kinds of_bytes{byte, byte_pair, byte_triple, byte_quad};
  const Kinds of_words{word, coding.bits <= 11 ? narrow_word_pair : word_pair, {}, word_quad};
  if (channels.step > 4)
    return {};
  return (coding.bits == 8 ? of_bytes : of_words)[channels.step - 1];
}

/// The kernel for one group (of_one) or for several groups (of_some). The other pointer is nullptr.
struct PixelKernel {
  PixelKind first, others;
  Launcher<OneGroup>::Kernel of_one;
  Launcher<SomeGroups>::Kernel of_some;
};

template <PixelKind kFirst, PixelKind kOthers>
constexpr PixelKernel kernel_of = {kFirst, kOthers, nullptr, pixel_kernel<kFirst, kOthers>};
template <PixelKind kKind>
constexpr PixelKernel kernel_of_one = {kKind, kKind, pixel_kernel_of_one<kKind>, nullptr};

constexpr PixelKernel pixel_kernels[] = {
    kernel_of_one<PixelKind::byte>,
    kernel_of_one<PixelKind::byte_triple>,
    kernel_of_one<PixelKind::byte_quad>,
    kernel_of_one<PixelKind::word>,
    kernel_of_one<PixelKind::word_quad>,
    kernel_of<PixelKind::byte, PixelKind::byte>,
    kernel_of<PixelKind::byte, PixelKind::byte_pair>,
    kernel_of<PixelKind::word, PixelKind::word>,
    kernel_of<PixelKind::word, PixelKind::narrow_word_pair>,
    kernel_of<PixelKind::word, PixelKind::word_pair>,
};

/// Returns nullptr if no kernel supports these groups.
const PixelKernel* find_pixel_kernel(const SampleCoding& coding,
                                     std::span<const GroupPlanes> groups) {
  for (const PixelKernel& candidate : pixel_kernels) {
    bool fits = (candidate.of_one != nullptr) == (groups.size() == 1);
    for (std::size_t i = 0; i < groups.size(); ++i)
      fits = fits && kind_of(coding, groups[i]) == (i == 0 ? candidate.first : candidate.others);
    if (fits)
      return &candidate;
  }
  return nullptr;
}

void describe_pixels(const SampleCoding& coding, const GroupPlanes& planes, GroupArguments& group) {
  const ChannelGroup& channels = *planes.channels;
  const int sample_bits = coding.bits > 8 ? 16 : 8;
  std::uint64_t border = 0, of_channels = 0;
  for (int c = 0; c < channels.count; ++c) {
    const int low = sample_bits * channels.offset[c];
    border |= std::uint64_t(channels.border[c] << coding.shift) << low;
    of_channels |= ((std::uint64_t{1} << sample_bits) - 1) << low;
  }
  const int pixel_bits = sample_bits * channels.step;
  const std::uint64_t all =
      pixel_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << pixel_bits) - 1;
  const std::uint64_t padding = all & ~of_channels;
  for (int w = 0; w < 2; ++w) {
    group.border[w] = static_cast<std::uint32_t>(border >> (32 * w));
    group.always_set[w] = static_cast<std::uint32_t>(padding >> (32 * w));
  }
  const auto addresses = reinterpret_cast<std::uintptr_t>(planes.out.data) |
                         static_cast<std::uintptr_t>(planes.out.pitch);
  group.joins_pixels = addresses % 4 == 0;
}

GroupArguments arguments_of(const GroupPlanes& planes) {
  const ChannelGroup& channels = *planes.channels;
  const MapView& map = channels.map->view();
  GroupArguments group{};
  group.in = planes.in.data;
  group.out = planes.out.data;
  group.in_pitch = static_cast<int>(planes.in.pitch);
  group.out_pitch = static_cast<int>(planes.out.pitch);
  group.in_width = map.picture.width;
  group.in_height = map.picture.height;
  group.out_width = map.width;
  group.out_height = map.height;
  group.segments = map.segments;
  group.offsets = map.offsets;
  group.segments_per_row = make_division(static_cast<std::uint32_t>(map.segments_per_row));
  group.wide = map.wide;
  group.step = channels.step;
  group.count = channels.count;
  for (int c = 0; c < channels.count; ++c) {
    group.offset[c] = channels.offset[c];
    group.sample_border[c] = channels.border[c];
  }
  return group;
}

struct FillArguments {
  std::uint8_t* out;
  std::int64_t pitch;
  int row_bytes;
  int blocks_per_row;
};

__global__ void __launch_bounds__(threads) fill_kernel(const __grid_constant__ FillArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int x =
      static_cast<int>(blockIdx.x % a.blocks_per_row * threads) + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  if (x < a.row_bytes)
    a.out[a.pitch * y + x] = 0xff;
}

class BackendCuda final : public Backend {
 public:
  explicit BackendCuda(Device& device)
      : launch_one_(device.stream(), pixel_kernel_of_one<PixelKind::byte>),
        launch_some_(device.stream(), sample_kernel<std::uint8_t>),
        launch_fill_(device.stream(), fill_kernel) {}

  void run(const SampleCoding& coding, int out_shift,
           std::span<const GroupPlanes> groups) override {
    SomeGroups a{};
    a.group_count = static_cast<int>(groups.size());
    a.coding = word_coding(coding.bits, coding.shift, out_shift);
    const PixelKernel* const pixels = find_pixel_kernel(coding, groups);
    unsigned blocks = 0;
    for (int i = 0; i < a.group_count; ++i) {
      GroupArguments& group = a.group[i];
      group = arguments_of(groups[i]);
      if (pixels)
        describe_pixels(coding, groups[i], group);
      group.first_block = blocks;
      blocks += static_cast<unsigned>(divide_up(group.out_height, block_rows)) *
                group.segments_per_row.divisor;
    }
    if (pixels && pixels->of_one)
      return launch_one_(pixels->of_one, blocks, threads, 0, {{a.group[0]}, 1, a.coding});
    const auto samples =
        coding.bits > 8 ? sample_kernel<std::uint16_t> : sample_kernel<std::uint8_t>;
    launch_some_(pixels ? pixels->of_some : samples, blocks, threads, 0, a);
  }

  bool writes_whole_pixels(const SampleCoding& coding,
                           std::span<const GroupPlanes> groups) const override {
    return find_pixel_kernel(coding, groups) != nullptr;
  }

  void fill(View<std::uint8_t> rows) override {
    const FillArguments a{rows.data, rows.pitch, rows.width, divide_up(rows.width, threads)};
    launch_fill_(fill_kernel, static_cast<unsigned>(a.blocks_per_row) * rows.height, threads, 0, a);
  }

 private:
  Launcher<OneGroup> launch_one_;
  Launcher<SomeGroups> launch_some_;
  Launcher<FillArguments> launch_fill_;
};

}  // namespace

std::unique_ptr<Backend> make_remap_cuda(Device& device) {
  return std::make_unique<BackendCuda>(device);
}

}  // namespace cudavision::remap
