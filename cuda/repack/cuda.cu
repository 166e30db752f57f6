// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend. A conversion is one launch. Where all rows begin at multiples of 16 bytes and
// words are contiguous, a thread takes a chunk of pixels. The pixels after the last chunk of a row,
// or all pixels of other frames, have a thread each.

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/repack/backend.h"

namespace cudavision::repack {
namespace {

struct Arguments {
  Conversion conversion;
  int chunks;  ///< of a row
  Division blocks_per_row;
};

constexpr unsigned block_threads = 256;

CUDAVISION_HOST_DEVICE constexpr int chunk_pixels(int word_bytes) {
  return word_bytes == 8 ? 2 : 4;
}

template <Kind kKind, class Word>
__global__ void __launch_bounds__(block_threads)
    convert_kernel(const __grid_constant__ Arguments a) {
  launch_dependents();
  grid_dependency_wait();
  constexpr int pixels = chunk_pixels(sizeof(Word));
  const unsigned row = quotient(blockIdx.x, a.blocks_per_row);
  const unsigned block = blockIdx.x - row * a.blocks_per_row.divisor;
  const int unit = static_cast<int>(block * block_threads + threadIdx.x), y = static_cast<int>(row);
  if (unit < a.chunks)
    convert<kKind, Word, pixels>(a.conversion, pixels * unit, y, pixels);
  else if (const int x = unit + a.chunks * (pixels - 1); x < a.conversion.width)
    convert<kKind, Word, 1>(a.conversion, x, y, 1);
}

bool has_chunks(const Conversion& a) {
  std::uintptr_t unaligned = 0;
  for (const auto& plane : a.in)
    unaligned |= reinterpret_cast<std::uintptr_t>(plane.data) | plane.pitch;
  for (const auto& plane : a.out)
    unaligned |= reinterpret_cast<std::uintptr_t>(plane.data) | plane.pitch;
  const bool contiguous = std::all_of(a.field, a.field + a.field_count, [&](const Field& field) {
    return field.step == a.word_bytes;
  });
  return contiguous && unaligned % 16 == 0;
}

class RepackCuda final : public Repack::Backend {
 public:
  explicit RepackCuda(Device& device)
      : launch_(device.stream(), convert_kernel<Kind::unpack, std::uint16_t>) {}

  void run(const Conversion& conversion) override {
    const int width = conversion.width, pixels = chunk_pixels(conversion.word_bytes);
    Arguments a{conversion, has_chunks(conversion) ? width / pixels : 0, {}};
    const unsigned blocks = divide_up(width - a.chunks * (pixels - 1), block_threads);
    a.blocks_per_row = make_division(blocks);
    const auto kernel = with_constants(conversion, [](auto kind, auto word) {
      return convert_kernel<kind.value, decltype(word)>;
    });
    launch_(kernel, blocks * static_cast<unsigned>(conversion.height), block_threads, 0, a);
  }

 private:
  Launcher<Arguments> launch_;
};

}  // namespace

std::unique_ptr<Repack::Backend> make_repack_cuda(Device& device) {
  return std::make_unique<RepackCuda>(device);
}

}  // namespace cudavision::repack
