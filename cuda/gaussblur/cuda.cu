// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Gaussian blur on CUDA: from a frame and its parameters to the one launch that blurs it.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cuda/core/cuda_check.h"
#include "cuda/core/tableuploader.h"
#include "cuda/gaussblur/backend.h"
#include "cuda/gaussblur/direct.h"
#include "cuda/gaussblur/planes.h"
#include "cuda/gaussblur/plan.cuh"

namespace cudavision::gaussblur {
namespace {

bool multiple_of(int bytes, const void* data, std::int64_t pitch) {
  return (reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uint64_t>(pitch)) % bytes == 0;
}

/// 16, 4 or 1, which may be read or written at a time.
std::uint8_t access_bytes(const void* data, std::int64_t pitch) {
  return multiple_of(16, data, pitch) ? 16 : multiple_of(4, data, pitch) ? 4 : 1;
}

class GaussBlurCuda final : public GaussBlur::Backend {
 public:
  GaussBlurCuda(Device& device, const FrameLayout& layout)
      : device_(device),
        layout_(layout),
        uploader_(device, most_table_words(layout)),
        launcher_(device.stream(), blur_code_for(layout.sample_bytes(), false).any) {
    std::size_t scratch = 0;
    for (const bool fine : {false, true}) {
      const BlurCode& kernels = blur_code_for(layout.sample_bytes(), fine);
      for (const BlurKernel kernel : {kernels.any, kernels.any_with_scratch})
        cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        card_.shared_bytes),
                   "setting up a kernel on the GPU");
      const BlurLaunch largest =
          choose_launch(kernels, card_, most_reach(layout), GaussKernel::max_radius, false);
      if (largest.uses_scratch)
        scratch = std::max<std::size_t>(
            scratch, kernels.large_scratch(largest.row_slices, largest.column_slices));
    }
    if (scratch == 0)
      return;
    const int bytes = static_cast<int>(scratch * scratch_blocks(card_));
    scratch_ = device.allocate(bytes);
    // Products take in words that nothing was written to yet, with factors of zero.
    device.fill({scratch_.as<std::uint8_t>(), bytes, 1, bytes}, 0);
  }

  void set(const Parameters& parameters, const BlurKernels& kernels) override {
    const BlurCode& code = blur_code_for(layout_.sample_bytes(), parameters.fine);

    BlurArguments a{};
    RowKernels row_kernels[BlurArguments::max_pictures];
    const GaussKernel* column_kernels[BlurArguments::max_pictures];
    std::array<Place, BlurArguments::max_pictures> places{};
    int reach = 0, radius = 0;
    bool of_pixels = true;
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
        of_pixels = of_pixels && are_pixels(picture, along_x);
      }

    const BlurLaunch launch = choose_launch(code, card_, reach, radius, of_pixels);
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
    usual_ = BlurPlan(launch, a, code, card_);
    direct_.reset();
    if (describe_all_direct(a, row_kernels, column_kernels))
      direct_.emplace(direct_launch(), a, code, card_);
  }

  void run(const ConstFrame& in, const Frame& out) override {
    BlurPlan& plan = direct_ && is_aligned(in, out) ? *direct_ : usual_;
    for (int i = 0; i < plan.arguments.picture_count; ++i)
      place(plan.arguments.pictures[i],
            picture_rows(parameters_, in.planes[places_[i].plane], places_[i].number),
            picture_rows(parameters_, out.planes[places_[i].plane], places_[i].number));
    launcher_(plan.launch.kernel, plan.blocks, plan.launch.warps * 32, plan.launch.shared_bytes,
              plan.arguments);
    copy_rest(in, out);
  }

 private:
  struct Place {
    int plane, number;
  };

  /// Whether the kernel for few taps can blur all pictures, of which all else is described.
  bool describe_all_direct(BlurArguments& a, const RowKernels* along_x,
                           const GaussKernel* const* along_y) const {
    if (layout_.sample_bytes() != 1 || parameters_.fine || a.sharpen)
      return false;
    for (int i = 0; i < a.picture_count; ++i) {
      const auto direct = describe_direct(a.pictures[i], a.border, along_x[i], *along_y[i]);
      if (!direct)
        return false;
      a.pictures[i].direct = *direct;
    }
    return true;
  }

  /// Whether 8 bytes may be read and written at a time.
  bool is_aligned(const ConstFrame& in, const Frame& out) const {
    for (int plane = 0; plane < layout_.plane_count; ++plane)
      if (!multiple_of(8, in.planes[plane].data, in.planes[plane].pitch) ||
          !multiple_of(8, out.planes[plane].data, out.planes[plane].pitch))
        return false;
    return true;
  }

  /// Appends a picture's tables to the `used` words.
  static void make_tables(const BlurCode& code, const BlurLaunch& launch, const RowKernels& along_x,
                          const GaussKernel& along_y, BlurPicture& picture, std::uint32_t* words,
                          std::uint32_t& used) {
    picture.factors = used;
    if (launch.of_pixels) {
      make_pixel_factors(*along_x.kernel[0], launch.row_slices, along_y, launch.column_slices,
                         words + used);
      used += 128 * pixel_factor_quads(launch.row_slices, launch.column_slices);
      return;
    }
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
      const BlurCode& kernels = blur_code_for(layout.sample_bytes(), fine);
      const std::size_t words = kernels.row_words(row_slices_for(most_reach(layout))) +
                                kernels.column_words(large_column_slices(GaussKernel::max_radius));
      most = std::max(most, words * 2 * layout.plane_count);
    }
    return most;
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
    picture.load_bytes = access_bytes(in.data, in.pitch);
    picture.store_bytes = access_bytes(out.data, out.pitch);
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
  BlurCard card_;
  TableUploader uploader_;
  Buffer scratch_;
  Launcher<BlurArguments> launcher_;

  Parameters parameters_;
  std::array<Place, BlurArguments::max_pictures> places_{};
  BlurPlan usual_;
  std::optional<BlurPlan> direct_;  // for frames whose rows begin at multiples of 8 bytes
};

}  // namespace

std::unique_ptr<GaussBlur::Backend> make_gauss_blur_cuda(Device& device,
                                                         const FrameLayout& layout) {
  return std::make_unique<GaussBlurCuda>(device, layout);
}

}  // namespace cudavision::gaussblur
