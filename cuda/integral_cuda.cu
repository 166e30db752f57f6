// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sums and squared sums on CUDA: which kernel a picture takes, and its launch.

#include <algorithm>
#include <vector>

#include "cuda_check.h"
#include "integral_cuda.h"
#include "integral_kernel.cuh"

namespace cudavision {
namespace {

using Kernel = Launcher<IntegralArguments>::Kernel;

/// A kernel, and how many rows its warps hold.
struct Variant {
  Kernel kernel;
  int rows;
  std::size_t word_bytes;  // of the exchange
};

template <class Value, bool kSquared, class Element, int... kRows>
std::vector<Variant> variants_with_rows() {
  return {{integral_kernel<Value, kSquared, Element, kRows>, kRows,
           sizeof(typename Quad<Value, kSquared>::Sum)}...};
}

/// From the lowest tiles to the highest. What is seldom asked for has fewer of them.
template <class Value, bool kSquared, class Element>
std::vector<Variant> variants_of() {
  constexpr bool floating = std::is_floating_point_v<Element>;
  if constexpr (sizeof(Value) == 1 && !floating)
    return variants_with_rows<Value, kSquared, Element, 2, 4, 8, 16>();
  else if constexpr (sizeof(Value) == 1)
    return variants_with_rows<Value, kSquared, Element, 4, 16>();
  else if constexpr (!kSquared && !floating)
    return variants_with_rows<Value, kSquared, Element, 4, 8>();
  else
    return variants_with_rows<Value, kSquared, Element, 4>();
}

template <class Value, bool kSquared>
std::vector<Variant> variants_of(TableElement element) {
  switch (element) {
    case TableElement::uint32:
      return variants_of<Value, kSquared, std::uint32_t>();
    case TableElement::uint64:
      return variants_of<Value, kSquared, std::uint64_t>();
    case TableElement::float32:
      return variants_of<Value, kSquared, float>();
    default:
      return variants_of<Value, kSquared, double>();
  }
}

std::vector<Variant> variants_of(const PictureSize& size, const IntegralParameters& parameters) {
  const bool squared = parameters.kind == TableKind::squared_sum;
  if (size.bits == 8)
    return squared ? variants_of<std::uint8_t, true>(parameters.element)
                   : variants_of<std::uint8_t, false>(parameters.element);
  return squared ? variants_of<std::uint16_t, true>(parameters.element)
                 : variants_of<std::uint16_t, false>(parameters.element);
}

TileGrid grid_of(const PictureSize& size, int rows) {
  TileGrid grid;
  grid.tile_width = tile_columns;
  grid.tile_height = rows * tile_warps;
  grid.columns = (size.width + grid.tile_width - 1) / grid.tile_width;
  grid.rows = (size.height + grid.tile_height - 1) / grid.tile_height;
  return grid;
}

/// Blocks of that kernel that run at the same time.
int resident_blocks(Kernel kernel, int multiprocessors) {
  int blocks = 0;
  cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, tile_threads, 0),
             "asking how many blocks the GPU runs at once");
#ifdef CUDAVISION_TEST_DELAYS
  blocks = 1;  // so that most tiles come after others
#endif
  return std::max(blocks, 1) * multiprocessors;
}

class UprightCuda final : public Integral::Implementation {
 public:
  UprightCuda(Device& device, const PictureSize& size, const IntegralParameters& parameters)
      : size_(size),
        padding_(parameters.same_size ? 0 : 1),
        variants_(variants_of(size, parameters)),
        launch_(device.stream(), variants_[0].kernel),
        state_(zeroed_words(device, LaunchTag<DeviceAtomics>::words)) {
    const int multiprocessors = multiprocessor_count();
    // The lowest tiles of which all are under way at once; in large pictures the highest, which say
    // the least.
    for (const Variant& variant : variants_) {
      variant_ = variant;
      grid_ = grid_of(size, variant.rows);
      resident_ = resident_blocks(variant.kernel, multiprocessors);
#ifdef CUDAVISION_TEST_DELAYS
      break;
#endif
      if (grid_.count() <= resident_)
        break;
    }
    words_ = zeroed_words(device, grid_.words() * (variant_.word_bytes / sizeof(std::uint32_t)));
  }

  void run(const SamplePlane& in, View<std::uint8_t> table) override {
    IntegralArguments a{};
    a.in = in.rows.data;
    a.in_pitch = in.rows.pitch;
    a.width = size_.width;
    a.height = size_.height;
    a.shift = in.shift;
    a.largest = (1u << in.bits) - 1;
    const auto places = reinterpret_cast<std::uintptr_t>(in.rows.data) |
                        static_cast<std::uintptr_t>(size_.height > 1 ? in.rows.pitch : 0);
    a.aligned = places % sizeof(std::uint32_t) == 0;
    a.table = table.data;
    a.table_pitch = table.pitch;
    a.padding = padding_;
    a.grid = grid_;
    a.words = words_.data();
    a.state = state_.as<std::uint32_t>();
    // Blocks wait for each other, so the launch is cooperative.
    launch_(variant_.kernel, std::min(grid_.count(), resident_), tile_threads, 0, a, true);
  }

 private:
  PictureSize size_;
  int padding_;
  std::vector<Variant> variants_;
  Launcher<IntegralArguments> launch_;
  Buffer state_;
  Variant variant_{};
  TileGrid grid_;
  int resident_ = 0;
  Buffer words_;
};

}  // namespace

std::unique_ptr<Integral::Implementation> make_upright_cuda(Device& device, const PictureSize& size,
                                                            const IntegralParameters& parameters) {
  return std::make_unique<UprightCuda>(device, size, parameters);
}

std::unique_ptr<Integral::Implementation> make_integral_cuda(Device& device,
                                                             const PictureSize& size,
                                                             const IntegralParameters& parameters) {
  return parameters.kind == TableKind::tilted_sum ? make_tilted_cuda(device, size, parameters)
                                                  : make_upright_cuda(device, size, parameters);
}

}  // namespace cudavision
