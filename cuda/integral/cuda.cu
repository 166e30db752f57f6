// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <vector>

#include "cuda/core/cuda_check.h"
#include "cuda/core/division.h"
#include "cuda/integral/backend.h"
#include "cuda/integral/upright.cuh"

namespace cudavision::integral {
namespace {

using Kernel = Launcher<IntegralArguments>::Kernel;

struct Variant {
  Kernel kernel;
  int tile_columns, tile_rows;
  unsigned threads;
  std::size_t word_bytes;  // size of a word of TileExchange
  /// Maximum number of tiles per multiprocessor; 0: unlimited.
  int max_tiles;
};

template <class Value, bool kSquared, class Element, class Shape, int kBlocks>
Variant variant(int max_tiles) {
  return {integral_kernel<Value, kSquared, Element, Shape, kBlocks>,
          Shape::columns,
          Shape::rows,
          Shape::threads,
          sizeof(typename Quad<Value, kSquared>::Sum),
          max_tiles};
}

using LowTiles = TileShape<4, 1, 8, 8>;
using Tiles = TileShape<8, 1, 8, 8>;
/// With two blocks per multiprocessor, a thread has registers for 16 words of other tiles.
using SparseTiles = TileShape<8, 1, 8, 16>;
using WideTiles = TileShape<8, 2, 8, 6>;
/// Few warps with many rows leave registers for many words in flight. With 16 warps of eight rows,
/// 3840×2160 took 14.9 µs on an H200 instead of 12.3.
using LargeTiles = TileShape<16, 2, 8, 8>;

/// Variants in the order in which best_variant() tries them. With one or two tiles per
/// multiprocessor, small tiles are faster; with more, large tiles exchange fewer sums.
template <class Value, bool kSquared, class Element>
std::vector<Variant> variants_of() {
  constexpr bool wide_sums = !std::is_same_v<Element, std::uint32_t>;
  // As many blocks as the registers allow.
  constexpr int wide_blocks = kSquared || std::is_same_v<Element, double> ? 2 : 3;
  if constexpr (sizeof(Value) == 1 && !kSquared && !wide_sums)
    return {variant<Value, kSquared, Element, LowTiles, 4>(1),
            variant<Value, kSquared, Element, SparseTiles, 2>(2),
            variant<Value, kSquared, Element, LargeTiles, 2>(0)};
  else if constexpr (sizeof(Value) == 1)
    return {variant<Value, kSquared, Element, LowTiles, 3>(1),
            variant<Value, kSquared, Element, Tiles, (kSquared ? 2 : 3)>(2),
            variant<Value, kSquared, Element, WideTiles, wide_blocks>(0)};
  else
    return {variant<Value, kSquared, Element, LowTiles, 2>(2),
            variant<Value, kSquared, Element, Tiles, 2>(0)};
}

std::vector<Variant> variants_of(const PlaneSize& size, const Parameters& parameters) {
  const bool squared = parameters.kind == TableKind::squared_sum;
  return with_element(parameters.element, [&]<class Element>(Element) {
    if (size.bits == 8)
      return squared ? variants_of<std::uint8_t, true, Element>()
                     : variants_of<std::uint8_t, false, Element>();
    return squared ? variants_of<std::uint16_t, true, Element>()
                   : variants_of<std::uint16_t, false, Element>();
  });
}

TileGrid grid_of(const PlaneSize& size, const Variant& variant) {
  const int width = variant.tile_columns, height = variant.tile_rows;
  return {divide_up(size.width, width), divide_up(size.height, height), width, height};
}

Variant best_variant(const PlaneSize& size, const Parameters& parameters) {
  const std::vector<Variant> variants = variants_of(size, parameters);
#ifdef CUDAVISION_TEST_DELAYS
  return variants.front();  // the smallest tiles, and thus the most tiles
#else
  const int multiprocessors = multiprocessor_count();
  return *std::find_if(variants.begin(), variants.end(), [&](const Variant& variant) {
    return variant.max_tiles == 0 ||
           grid_of(size, variant).count() <= variant.max_tiles * multiprocessors;
  });
#endif
}

int blocks_at_once(const Variant& variant, std::size_t shared_bytes) {
  int blocks = 0;
  cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                 &blocks, variant.kernel, static_cast<int>(variant.threads), shared_bytes),
             "querying the occupancy of a kernel");
  return std::max(blocks, 1);
}

/// Returns the bytes of dynamic shared memory per block that limit a multiprocessor to `blocks`
/// blocks. Otherwise, the GPU puts several blocks on some multiprocessors and none on others.
std::size_t shared_bytes_to_spread(const Variant& variant, int blocks) {
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, variant.kernel),
             "querying the attributes of a kernel");
  const int reserved =
      device_attribute(cudaDevAttrReservedSharedMemoryPerBlock, "the reserved shared memory");
  const int all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                   "the shared memory of a multiprocessor");
  const int maximum =
      device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory") -
      static_cast<int>(attributes.sharedSizeBytes);
  const int wanted =
      all / (blocks + 1) + 1 - reserved - static_cast<int>(attributes.sharedSizeBytes);
  const int bytes = std::clamp(wanted, 0, std::max(maximum, 0));
  if (bytes > attributes.maxDynamicSharedSizeBytes)
    cuda_check(
        cudaFuncSetAttribute(variant.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "reserving shared memory on the GPU");
  return static_cast<std::size_t>(bytes);
}

class UprightCuda final : public Integral::Backend {
 public:
  UprightCuda(Device& device, const PlaneSize& size, const Parameters& parameters)
      : size_(size),
        padding_(parameters.same_size ? 0 : 1),
        variant_(best_variant(size, parameters)),
        grid_(grid_of(size, variant_)),
        launch_(device.stream(), variant_.kernel),
        state_(zeroed_words(device, LaunchEpoch<DeviceAtomics>::words)) {
    const int multiprocessors = multiprocessor_count();
    int at_once = blocks_at_once(variant_, 0);
#ifdef CUDAVISION_TEST_DELAYS
    at_once = 1;  // so that most tiles are taken from the counter
#endif
    blocks_ = std::min(grid_.count(), at_once * multiprocessors);
    const int spread = divide_up(blocks_, multiprocessors);
    if (spread < blocks_at_once(variant_, 0)) {
      shared_bytes_ = shared_bytes_to_spread(variant_, spread);
      blocks_ = std::min(blocks_, blocks_at_once(variant_, shared_bytes_) * multiprocessors);
    }
    words_ = zeroed_words(device, grid_.words() * (variant_.word_bytes / sizeof(std::uint32_t)));
  }

  void run(const SamplePlane& in, View<std::uint8_t> table) override {
    IntegralArguments a{};
    a.in.width = size_.width;
    a.in.height = size_.height;
    set_input(in, a.in);
    a.table = table.data;
    a.table_pitch = table.pitch;
    a.padding = padding_;
    a.grid = grid_;
    a.words = words_.data();
    a.state = state_.as<std::uint32_t>();
    // The blocks wait for each other, so the launch is cooperative.
    launch_(variant_.kernel, static_cast<unsigned>(blocks_), variant_.threads, shared_bytes_, a,
            true);
  }

 private:
  PlaneSize size_;
  int padding_;
  Variant variant_;
  TileGrid grid_;
  Launcher<IntegralArguments> launch_;
  Buffer state_;
  int blocks_ = 0;
  std::size_t shared_bytes_ = 0;
  Buffer words_;
};

}  // namespace

std::unique_ptr<Integral::Backend> make_integral_cuda(Device& device, const PlaneSize& size,
                                                      const Parameters& parameters) {
  if (parameters.kind == TableKind::tilted_sum)
    return make_tilted_cuda(device, size, parameters);
  return std::make_unique<UprightCuda>(device, size, parameters);
}

}  // namespace cudavision::integral
