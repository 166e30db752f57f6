// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend. A thread converts one pixel, all channels of it, so that neighbouring threads
// read and write neighbouring words.

#include <cstdint>

#include "cuda/core/cuda_launch.h"
#include "cuda/repack/backend.h"
#include "cuda/repack/fields.h"

namespace cudavision::repack {
namespace {

constexpr unsigned threads = 256;

/// Returns the unpacked value of sample x of a channel. row is that of the channel's plane.
template <Words kWords, bool kAligned>
__device__ std::uint32_t load_sample(const Fields& fields, const Field& field,
                                     const std::uint8_t* row, int x) {
  const std::uint32_t word = load_word<Word<kWords>, kAligned>(
      row + field.offset + static_cast<std::int64_t>(field.step) * x);
  return rescaled(sample_of<kWords>(field, word), field.maximum, fields.largest);
}

/// Returns the word of an unpacked value, or its share in the word of its pixel.
template <Words kWords>
__device__ std::uint32_t packed_word(const Fields& fields, const Field& field,
                                     std::uint32_t value) {
  return word_of<kWords>(field,
                         rescaled(min(value, fields.largest), fields.largest, field.maximum));
}

/// Returns the luminance of a pixel. row(plane) is the row of that plane.
template <Words kWords, bool kAligned, class Row>
__device__ std::uint32_t load_luminance(const Fields& fields, const Row& row, int x) {
  const auto sample = [&](int number) {
    const Field& field = fields.field[number];
    return load_sample<kWords, kAligned>(fields, field, row(field.plane), x);
  };
  return fields.luma >= 0
             ? sample(fields.luma)
             : deep_luminance(sample(fields.red), sample(fields.green), sample(fields.blue));
}

/// Stores pixel x, of which value(number) is the unpacked value of that channel. row(plane) is the
/// row of that plane. All channels have the size of the picture.
template <Words kWords, bool kAligned, class Row, class Value>
__device__ void store_pixel(const Fields& fields, const Row& row, int x, const Value& value) {
  std::uint32_t pixel = 0;
  for (int c = 0; c < fields.count; ++c) {
    const Field& field = fields.field[c];
    const std::uint32_t word = packed_word<kWords>(fields, field, value(c));
    if constexpr (kWords == Words::packed)
      pixel |= word;
    else
      store_word<Word<kWords>, kAligned>(
          row(field.plane) + field.offset + static_cast<std::int64_t>(field.step) * x, word);
  }
  if constexpr (kWords == Words::packed)
    store_word<Word<kWords>, kAligned>(row(0) + static_cast<std::int64_t>(4) * x, pixel);
}

struct RepackArguments {
  Fields fields;
  const std::uint8_t* in[FrameLayout::max_planes];
  std::int64_t in_pitch[FrameLayout::max_planes];
  std::uint8_t* out[FrameLayout::max_planes];
  std::int64_t out_pitch[FrameLayout::max_planes];
  int width;
  unsigned blocks_per_row;
};

/// The pixel of a thread. Threads beyond the end of a row have none.
struct Pixel {
  __device__ explicit Pixel(const RepackArguments& a)
      : x(static_cast<int>(blockIdx.x % a.blocks_per_row * threads + threadIdx.x)),
        y(static_cast<int>(blockIdx.x / a.blocks_per_row)) {}

  int x, y;
};

__device__ const std::uint8_t* in_row(const RepackArguments& a, int plane, int y) {
  return a.in[plane] + a.in_pitch[plane] * y;
}

__device__ std::uint8_t* out_row(const RepackArguments& a, int plane, int y) {
  return a.out[plane] + a.out_pitch[plane] * y;
}

template <bool kAligned>
__device__ std::uint32_t unpacked_sample(const std::uint8_t* row, int x) {
  return load_word<std::uint16_t, kAligned>(row + std::int64_t{2} * x);
}

template <bool kAligned>
__device__ void put_unpacked_sample(std::uint8_t* row, int x, std::uint32_t value) {
  store_word<std::uint16_t, kAligned>(row + std::int64_t{2} * x, value);
}

template <Words kWords, bool kAligned>
__global__ void __launch_bounds__(threads)
    unpack_channels_kernel(const __grid_constant__ RepackArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const Pixel at(a);
  for (int c = 0; c < a.fields.count; ++c) {
    const Field& field = a.fields.field[c];
    if (at.x < field.width && at.y < field.height)
      put_unpacked_sample<kAligned>(
          out_row(a, c, at.y), at.x,
          load_sample<kWords, kAligned>(a.fields, field, in_row(a, field.plane, at.y), at.x));
  }
}

template <Words kWords, bool kAligned>
__global__ void __launch_bounds__(threads)
    unpack_luminance_kernel(const __grid_constant__ RepackArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const Pixel at(a);
  if (at.x < a.width)
    put_unpacked_sample<kAligned>(
        out_row(a, 0, at.y), at.x,
        load_luminance<kWords, kAligned>(
            a.fields, [&](int plane) { return in_row(a, plane, at.y); }, at.x));
}

template <Words kWords, bool kAligned>
__global__ void __launch_bounds__(threads)
    pack_channels_kernel(const __grid_constant__ RepackArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const Pixel at(a);
  if constexpr (kWords == Words::packed) {
    if (at.x < a.width)
      store_pixel<kWords, kAligned>(
          a.fields, [&](int plane) { return out_row(a, plane, at.y); }, at.x,
          [&](int c) { return unpacked_sample<kAligned>(in_row(a, c, at.y), at.x); });
  } else {
    for (int c = 0; c < a.fields.count; ++c) {
      const Field& field = a.fields.field[c];
      if (at.x < field.width && at.y < field.height)
        store_word<Word<kWords>, kAligned>(
            out_row(a, field.plane, at.y) + field.offset +
                static_cast<std::int64_t>(field.step) * at.x,
            packed_word<kWords>(a.fields, field,
                                unpacked_sample<kAligned>(in_row(a, c, at.y), at.x)));
    }
  }
}

/// Plane 0 of the input is the luminance; those of the stored frame follow.
template <Words kWords, bool kAligned>
__global__ void __launch_bounds__(threads)
    pack_adjusted_kernel(const __grid_constant__ RepackArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const Pixel at(a);
  if (at.x >= a.width)
    return;
  const auto kept = [&](int plane) { return in_row(a, plane + 1, at.y); };
  const auto change =
      static_cast<std::int32_t>(unpacked_sample<kAligned>(in_row(a, 0, at.y), at.x)) -
      static_cast<std::int32_t>(load_luminance<kWords, kAligned>(a.fields, kept, at.x));
  store_pixel<kWords, kAligned>(
      a.fields, [&](int plane) { return out_row(a, plane, at.y); }, at.x,
      [&](int c) {
        const Field& field = a.fields.field[c];
        const std::uint32_t value =
            load_sample<kWords, kAligned>(a.fields, field, kept(field.plane), at.x);
        return field.colour ? saturated(static_cast<std::int32_t>(value) + change, a.fields.largest)
                            : value;
      });
}

using Kernel = Launcher<RepackArguments>::Kernel;

struct Kernels {
  Kernel unpack_channels, unpack_luminance, pack_channels, pack_adjusted;
};

template <Words kWords, bool kAligned>
constexpr Kernels kernels_for = {
    unpack_channels_kernel<kWords, kAligned>, unpack_luminance_kernel<kWords, kAligned>,
    pack_channels_kernel<kWords, kAligned>, pack_adjusted_kernel<kWords, kAligned>};

template <bool kAligned>
const Kernels& find_kernels(Words words) {
  switch (words) {
    case Words::native:
      return kernels_for<Words::native, kAligned>;
    case Words::swapped:
      return kernels_for<Words::swapped, kAligned>;
    case Words::packed:
      break;
  }
  return kernels_for<Words::packed, kAligned>;
}

/// Returns true if all words of the frame lie at multiples of their size, whatever they are.
bool is_aligned(const ConstFrame& frame) {
  for (const View<const std::uint8_t>& plane : frame.planes)
    if ((reinterpret_cast<std::uintptr_t>(plane.data) | static_cast<std::uintptr_t>(plane.pitch)) %
            sizeof(std::uint32_t) !=
        0)
      return false;
  return true;
}

class RepackCuda final : public Repack::Backend {
 public:
  RepackCuda(Device& device, const StoredLayout& storage, UnpackedForm form)
      : device_(device),
        layout_(storage.frame),
        words_(storage.words),
        fields_(fields_of(storage)),
        channels_(unpacks_channels(storage, form)),
        keeps_planes_(form == UnpackedForm::adjustable_luminance && !channels_),
        launch_(device.stream(), kernels_for<Words::native, false>.unpack_channels) {}

  void unpack(const ConstFrame& stored, const Frame& unpacked) override {
    launch(channels_ ? &Kernels::unpack_channels : &Kernels::unpack_luminance, stored, unpacked);
    if (keeps_planes_)
      for (int p = 0; p < layout_.plane_count; ++p)
        device_.copy(stored.planes[p], unpacked.planes[p + 1]);
  }

  void pack(const ConstFrame& unpacked, const Frame& stored) override {
    launch(channels_ ? &Kernels::pack_channels : &Kernels::pack_adjusted, unpacked, stored);
  }

 private:
  void launch(Kernel Kernels::*kernel, const ConstFrame& in, const Frame& out) const {
    RepackArguments a{};
    a.fields = fields_;
    for (int p = 0; p < FrameLayout::max_planes; ++p) {
      a.in[p] = in.planes[p].data;
      a.in_pitch[p] = in.planes[p].pitch;
      a.out[p] = out.planes[p].data;
      a.out_pitch[p] = out.planes[p].pitch;
    }
    a.width = layout_.width;
    a.blocks_per_row = (static_cast<unsigned>(layout_.width) + threads - 1) / threads;
    const Kernels& kernels = is_aligned(in) && is_aligned(out) ? find_kernels<true>(words_)
                                                               : find_kernels<false>(words_);
    launch_(kernels.*kernel, a.blocks_per_row * static_cast<unsigned>(layout_.height), threads, 0,
            a);
  }

  Device& device_;
  FrameLayout layout_;
  Words words_;
  Fields fields_;
  bool channels_;      ///< the planes of unpacked frames are the channels
  bool keeps_planes_;  ///< those of the stored frame follow the luminance
  Launcher<RepackArguments> launch_;
};

}  // namespace

std::unique_ptr<Repack::Backend> make_repack_cuda(Device& device, const StoredLayout& storage,
                                                  UnpackedForm form) {
  return std::make_unique<RepackCuda>(device, storage, form);
}

}  // namespace cudavision::repack
