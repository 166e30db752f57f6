// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The blur on CUDA: makes tables and launch plans from the parameters. One launch blurs a frame.

#include <algorithm>
#include <optional>

#include "cuda/core/cuda_check.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/core/tableuploader.h"
#include "cuda/gaussblur/arguments.h"
#include "cuda/gaussblur/backend.h"
#include "cuda/gaussblur/plan.cuh"
#include "cuda/regions/planebytes.h"

namespace cudavision::gaussblur {
namespace {

bool multiple_of(int bytes, const void* data, std::int64_t pitch) {
  return (reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uint64_t>(pitch)) % bytes == 0;
}

std::uint8_t access_bytes(const void* data, std::int64_t pitch) {
  return multiple_of(16, data, pitch) ? 16 : multiple_of(4, data, pitch) ? 4 : 1;
}

class GaussBlurCuda final : public GaussBlur::Backend {
 public:
  GaussBlurCuda(Device& device, const FrameLayout& layout)
      : device_(device),
        layout_(layout),
        uploader_(device, largest_table_words(layout)),
        launcher_(device.stream(), kernel_set_for(layout.sample_bytes(), false).large) {
    std::size_t scratch = 0;
    for (const bool fine : {false, true}) {
      const KernelSet& kernels = kernel_set_for(layout.sample_bytes(), fine);
      for (const KernelFunction kernel : {kernels.large, kernels.large_with_scratch})
        cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        gpu_.shared_bytes),
                   "reserving shared memory on the GPU");
      const Launch largest =
          choose_launch(kernels, gpu_, largest_halo(layout), GaussKernel::max_radius, false);
      if (largest.uses_scratch)
        scratch = std::max<std::size_t>(
            scratch, kernels.large_scratch(largest.row_slices, largest.column_slices));
    }
    if (scratch == 0)
      return;
    const int bytes = static_cast<int>(scratch * scratch_blocks(gpu_));
    scratch_ = device.allocate(bytes);
    // Words that are never written are multiplied by zero. The fill gives them defined values.
    device.fill({scratch_.as<std::uint8_t>(), bytes, 1, bytes}, 0);
  }

  void set(const Parameters& parameters, const ChannelKernels& kernels) override {
    const KernelSet& kernel_set = kernel_set_for(layout_.sample_bytes(), parameters.fine);

    Arguments a{};
    RowKernels row_kernels[Arguments::max_planes];
    const GaussKernel* column_kernels[Arguments::max_planes];
    std::array<Source, Arguments::max_planes> sources{};
    int halo = 0, radius = 0;
    bool of_pixels = true;
    bool is_direct = layout_.sample_bytes() == 1 && !parameters.fine && !parameters.sharpen;
    const int field_count = regions::field_count(parameters.fields);
    for (int number = 0; number < layout_.plane_count; ++number)
      for (int field = 0; field < field_count; ++field) {
        ChannelBlur channels[FrameLayout::max_channels];
        int count = 0;
        for (int c = 0; c < layout_.channel_count; ++c)
          if (layout_.channels[c].plane == number)
            channels[count++] = channel_blur(layout_, parameters, kernels, field, c);
        if (count == 0 || channels[0].channel.height == 0)
          continue;
        Plane& plane = a.planes[a.plane_count];
        RowKernels& along_x = row_kernels[a.plane_count];
        const GaussKernel* along_y = channels[0].y;
        describe_plane(layout_, number, channels, count, plane, along_x);
        plane.rows = channels[0].channel.height;
        plane.row_pixels *= field_count;
        plane.row_radius = along_x.halo_bytes();
        plane.column_radius = along_y->radius();
        plane.column_identity = along_y->identity();
        column_kernels[a.plane_count] = along_y;
        sources[a.plane_count++] = {number, field};
        halo = std::max(halo, plane.row_radius);
        radius = std::max(radius, plane.column_radius);
        of_pixels = of_pixels && are_pixels(plane, along_x);
        if (is_direct) {
          const auto direct = describe_direct(plane, parameters.border, along_x, *along_y);
          is_direct = direct.has_value();
          plane.direct = direct.value_or(DirectPlane());
        }
      }

    const Launch launch = choose_launch(kernel_set, gpu_, halo, radius, of_pixels);
    std::uint32_t* const words = uploader_.next();
    std::uint32_t used = 0;
    for (int i = 0; i < a.plane_count; ++i)
      kernel_set.fill_tables(launch, row_kernels[i], *column_kernels[i], a.planes[i], words, used);
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
    sources_ = sources;
    usual_ = LaunchPlan(launch, a, kernel_set, gpu_);
    direct_.reset();
    if (is_direct)
      direct_.emplace(direct(), a, kernel_set, gpu_);
  }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) override {
    const LaunchPlan& whole = direct_ && is_aligned(in, out) ? *direct_ : usual_;
    LaunchPlan plan = active ? whole.limited_to(*active, gpu_) : whole;
    for (int i = 0; i < plan.arguments.plane_count; ++i) {
      const Source& source = sources_[i];
      set_addresses(
          plan.arguments.planes[i],
          regions::field_view(in.planes[source.plane], source.field, parameters_.fields),
          regions::field_view(out.planes[source.plane], source.field, parameters_.fields));
    }
    launcher_(plan.launch.kernel, plan.blocks, plan.launch.warps * 32, plan.launch.shared_bytes,
              plan.arguments);
    if (!active)
      regions::copy_unused_rows(device_, layout_, in, out);
  }

 private:
  /// Plane and field of the frame for an entry of Arguments::planes.
  struct Source {
    int plane, field;
  };

  bool is_aligned(const ConstFrame& in, const Frame& out) const {
    for (int plane = 0; plane < layout_.plane_count; ++plane)
      if (!multiple_of(8, in.planes[plane].data, in.planes[plane].pitch) ||
          !multiple_of(8, out.planes[plane].data, out.planes[plane].pitch))
        return false;
    return true;
  }

  static int largest_halo(const FrameLayout& layout) {
    int step = 1;
    for (int c = 0; c < layout.channel_count; ++c)
      step = std::max(step, layout.channels[c].step);
    return step * layout.sample_bytes() * GaussKernel::max_radius;
  }

  static std::size_t largest_table_words(const FrameLayout& layout) {
    std::size_t maximum = 0;
    for (const bool fine : {false, true}) {
      const KernelSet& kernels = kernel_set_for(layout.sample_bytes(), fine);
      const std::size_t words = kernels.table_words(row_slices_for(largest_halo(layout)),
                                                    large_column_slices(GaussKernel::max_radius));
      maximum = std::max(maximum, words * 2 * layout.plane_count);
    }
    return maximum;
  }

  static void set_addresses(Plane& plane, View<const std::uint8_t> in, View<std::uint8_t> out) {
    plane.in = in.data;
    plane.out = out.data;
    plane.in_pitch = kernel_pitch("Gaussian blur", in.pitch);
    plane.out_pitch = kernel_pitch("Gaussian blur", out.pitch);
    plane.load_bytes = access_bytes(in.data, in.pitch);
    plane.store_bytes = access_bytes(out.data, out.pitch);
    const bool mask_repeats = plane.copied == 0 || 8 % plane.period == 0;
    plane.stores_words =
        mask_repeats && multiple_of(8, in.data, in.pitch) && multiple_of(8, out.data, out.pitch);
  }

  Device& device_;
  FrameLayout layout_;
  Gpu gpu_;
  TableUploader uploader_;
  Buffer scratch_;
  Launcher<Arguments> launcher_;

  Parameters parameters_;
  std::array<Source, Arguments::max_planes> sources_{};
  LaunchPlan usual_;
  std::optional<LaunchPlan> direct_;  // for rows aligned to 8 bytes; may be empty
};

}  // namespace

std::unique_ptr<GaussBlur::Backend> make_gauss_blur_cuda(Device& device,
                                                         const FrameLayout& layout) {
  return std::make_unique<GaussBlurCuda>(device, layout);
}

}  // namespace cudavision::gaussblur
