// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend for tilted sums: allocates the sums of bands and launches the kernels.

#include "cuda/integral/cuda_tilted.h"
#include "cuda/integral/tilted.cuh"

namespace cudavision::integral {
namespace {

using Kernel = Launcher<TiltedArguments>::Kernel;

template <class Value>
Kernel table_kernel(TableElement element) {
  switch (element) {
    case TableElement::uint32:
      return tilted_kernel<Value, std::uint32_t>;
    case TableElement::uint64:
      return tilted_kernel<Value, std::uint64_t>;
    case TableElement::float32:
      return tilted_kernel<Value, float>;
    default:
      return tilted_kernel<Value, double>;
  }
}

class TiltedCuda final : public Integral::Backend {
 public:
  TiltedCuda(Device& device, const PlaneSize& size, const Parameters& parameters)
      : add_diagonals_(size.bits == 8 ? add_diagonals_kernel<std::uint8_t>
                                      : add_diagonals_kernel<std::uint16_t>),
        make_table_(size.bits == 8 ? table_kernel<std::uint8_t>(parameters.element)
                                   : table_kernel<std::uint16_t>(parameters.element)),
        launch_(device.stream(), make_table_) {
    TiltedArguments& a = arguments_;
    a.in.width = size.width;
    a.in.height = size.height;
    a.bands = (size.height + band_rows - 1) / band_rows;
    a.blocks = (size.width + band_rows - 1) / band_rows + 1;
    a.padding = parameters.same_size ? 0 : 1;
    const auto blocks = static_cast<std::size_t>(a.bands) * static_cast<std::size_t>(a.blocks);
    columns_ = device.allocate(2 * blocks * band_rows * sizeof(std::uint32_t));
    blocks_ = device.allocate(2 * blocks * sizeof(std::uint64_t));
    beside_ = device.allocate(static_cast<std::size_t>(a.bands) * sizeof(std::uint32_t));
    a.rising = {columns_.as<std::uint32_t>(), blocks_.as<std::uint64_t>()};
    a.falling = {a.rising.columns + blocks * band_rows, a.rising.blocks + blocks};
    a.beside = beside_.as<std::uint32_t>();
  }

  void run(const SamplePlane& in, View<std::uint8_t> table) override {
    TiltedArguments& a = arguments_;
    set_input(in, a.in);
    a.table = table.data;
    a.table_pitch = table.pitch;
    const int warps = a.bands * BandColumns::count(a.in.width);
    const auto blocks = static_cast<unsigned>((warps + tilted_warps - 1) / tilted_warps);
    if (a.bands > 1) {
      launch_(add_diagonals_, blocks, tilted_threads, 0, a);
      launch_(add_bands_kernel, static_cast<unsigned>(2 * DiagonalChain::count(a.bands, a.blocks)),
              chain_threads, 0, a);
    }
    launch_(make_table_, blocks, tilted_threads, 0, a);
  }

 private:
  Kernel add_diagonals_, make_table_;
  Launcher<TiltedArguments> launch_;
  TiltedArguments arguments_{};
  Buffer columns_;
  Buffer blocks_;
  Buffer beside_;
};

}  // namespace

std::unique_ptr<Integral::Backend> make_tilted_cuda(Device& device, const PlaneSize& size,
                                                    const Parameters& parameters) {
  return std::make_unique<TiltedCuda>(device, size, parameters);
}

}  // namespace cudavision::integral
