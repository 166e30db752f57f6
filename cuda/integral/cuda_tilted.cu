// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tilted sums on CUDA, from upright ones. Let R(x, y) be the sum of the first x + 1 pixels of row
// y, 0 for x < 0, and the sum of the whole row beyond its end. Then
//   T(X, Y) = E(X − 1, Y) − F(X − 2, Y)
//   E(X, Y) = Σ R(X + (Y − 1 − y), y),  F(X, Y) = Σ R(X − (Y − 1 − y), y)  over y < Y.
// As E(X, Y) = E(X + 1, Y − 1) + R(X, Y − 1), E is a running sum along each rising diagonal, and F
// is one along each falling diagonal. The picture is cut into bands of rows: a first launch adds up
// the diagonals of each band, and a second starts each band from the sums of the bands above it.

#include "cuda/core/cuda_launch.h"
#include "cuda/integral/arithmetic.h"
#include "cuda/integral/cuda_tables.h"

namespace cudavision::integral {
namespace {

constexpr int band_rows = 64;
constexpr int block_columns = 256;                        // columns of the table
constexpr int block_threads = block_columns + band_rows;  // diagonals that cross those columns
constexpr int total_threads = 256;

struct TiltedArguments {
  const std::uint32_t* sums;  // upright, without the first row and column, modulo 2^32; dense
  int width, height;
  std::uint64_t* rising;   // for each band, E(X, its last row) within it, −1 ≤ X < width
  std::uint64_t* falling;  // for each band, F(X, its last row) within it, 0 ≤ X < width

  std::uint8_t* table;
  std::int64_t table_pitch;
  int padding;  // 1: the table has the row Y = 0 and the column X = 0
};

/// Returns R(x, y). It is less than 2^32, because the sum of a whole row is.
__device__ std::uint32_t row_sum(const TiltedArguments& a, int x, int y) {
  if (x < 0)
    return 0;
  const std::uint32_t* row = a.sums + static_cast<std::int64_t>(a.width) * y + min(x, a.width - 1);
  return y == 0 ? *row : *row - *(row - a.width);
}

__device__ std::uint64_t* rising_of(const TiltedArguments& a, int band, int x) {
  return a.rising + static_cast<std::int64_t>(a.width + 1) * band + (x + 1);
}
__device__ std::uint64_t* falling_of(const TiltedArguments& a, int band, int x) {
  return a.falling + static_cast<std::int64_t>(a.width) * band + x;
}

/// Adds up the diagonals of each band but the last.
__global__ void add_diagonals_kernel(const __grid_constant__ TiltedArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int blocks_per_band = a.width / total_threads + 1;
  const int band = blockIdx.x / blocks_per_band;
  const int x = (blockIdx.x % blocks_per_band) * total_threads + static_cast<int>(threadIdx.x) - 1;
  if (x >= a.width)
    return;
  const int last = (band + 1) * band_rows - 1;
  std::uint64_t rising = 0, falling = 0;
#pragma unroll 4
  for (int up = 0; up < band_rows; ++up) {
    rising += row_sum(a, x + up, last - up);
    falling += row_sum(a, x - up, last - up);
  }
  *rising_of(a, band, x) = rising;
  if (x >= 0)
    *falling_of(a, band, x) = falling;
}

/// These return E and F of column x at the top of the band. F is 0 for columns left of the picture.
__device__ std::uint64_t rising_above(const TiltedArguments& a, int band, int x) {
  std::uint64_t sum = 0;
  for (int above = 0; above < band; ++above)
    sum += *rising_of(a, above, min(x + (band - 1 - above) * band_rows, a.width - 1));
  return sum;
}
__device__ std::uint64_t falling_above(const TiltedArguments& a, int band, int x) {
  std::uint64_t sum = 0;
  for (int above = band - 1; above >= 0; --above) {
    const int from = x - (band - 1 - above) * band_rows;
    if (from < 0)
      break;
    sum += *falling_of(a, above, min(from, a.width - 1));
  }
  return sum;
}

/// Each thread follows one diagonal of E and one of F down the band. In row j of the band, thread t
/// is at column x0 − 1 + t − j of E and at column x0 − 2 − band_rows + t + j of F, where x0 is the
/// block's first column.
template <class Element>
__global__ void tilted_kernel(const __grid_constant__ TiltedArguments a) {
  __shared__ std::uint64_t rising_row[2][block_threads], falling_row[2][block_threads];
  launch_dependents();
  grid_dependency_wait();
  const int blocks_per_band = a.width / block_columns + 1;
  const int band = blockIdx.x / blocks_per_band;
  const int first_column = (blockIdx.x % blocks_per_band) * block_columns;
  const int thread = threadIdx.x;
  const int column = first_column + thread;  // the column of the table that this thread writes
  const bool writes = thread < block_columns && column <= a.width && column >= 1 - a.padding;

  const int rows = min(a.height - band * band_rows, band_rows);
  int rising_x = first_column - 1 + thread;
  int falling_x = first_column - 2 - band_rows + thread;
  std::uint64_t rising = rising_above(a, band, rising_x);
  std::uint64_t falling = falling_above(a, band, falling_x);
  if (a.padding && band == 0 && writes)
    reinterpret_cast<Element*>(a.table)[column] = 0;

  for (int j = 1; j <= rows; ++j) {
    const int y = band * band_rows + j - 1;
    rising += row_sum(a, --rising_x, y);
    falling += row_sum(a, ++falling_x, y);
    rising_row[j % 2][thread] = rising;
    falling_row[j % 2][thread] = falling;
    __syncthreads();
    if (writes) {
      const std::uint64_t sum =
          rising_row[j % 2][thread + j] - falling_row[j % 2][thread + band_rows - j];
      auto* row = reinterpret_cast<Element*>(a.table + a.table_pitch * (y + a.padding));
      row[column - 1 + a.padding] = table_element<Element>(sum);
    }
  }
}

using Kernel = Launcher<TiltedArguments>::Kernel;

Kernel kernel_for(TableElement element) {
  switch (element) {
    case TableElement::uint32:
      return tilted_kernel<std::uint32_t>;
    case TableElement::uint64:
      return tilted_kernel<std::uint64_t>;
    case TableElement::float32:
      return tilted_kernel<float>;
    default:
      return tilted_kernel<double>;
  }
}

Parameters upright_parameters() {
  Parameters parameters;
  parameters.same_size = true;
  return parameters;
}

class TiltedCuda final : public Integral::Backend {
 public:
  TiltedCuda(Device& device, const PlaneSize& size, const Parameters& parameters)
      : size_(size),
        padding_(parameters.same_size ? 0 : 1),
        bands_((size.height + band_rows - 1) / band_rows),
        upright_(make_upright_cuda(device, size, upright_parameters(), TableReader::next_launch)),
        sums_(device.allocate(sizeof(std::uint32_t) * size.width * size.height)),
        rising_(device.allocate(sizeof(std::uint64_t) * (size.width + 1) * bands_)),
        falling_(device.allocate(sizeof(std::uint64_t) * size.width * bands_)),
        kernel_(kernel_for(parameters.element)),
        launch_(device.stream(), kernel_) {}

  void run(const SamplePlane& in, View<std::uint8_t> table) override {
    const int row_bytes = static_cast<int>(sizeof(std::uint32_t)) * size_.width;
    upright_->run(in, {sums_.as<std::uint8_t>(), row_bytes, size_.height, row_bytes});
    TiltedArguments a{};
    a.sums = sums_.as<std::uint32_t>();
    a.width = size_.width;
    a.height = size_.height;
    a.rising = rising_.as<std::uint64_t>();
    a.falling = falling_.as<std::uint64_t>();
    a.table = table.data;
    a.table_pitch = table.pitch;
    a.padding = padding_;
    if (bands_ > 1)
      launch_(add_diagonals_kernel, (size_.width / total_threads + 1) * (bands_ - 1), total_threads,
              0, a);
    launch_(kernel_, (size_.width / block_columns + 1) * bands_, block_threads, 0, a);
  }

 private:
  PlaneSize size_;
  int padding_;
  int bands_;
  std::unique_ptr<Integral::Backend> upright_;
  Buffer sums_;
  Buffer rising_;
  Buffer falling_;
  Kernel kernel_;
  Launcher<TiltedArguments> launch_;
};

}  // namespace

std::unique_ptr<Integral::Backend> make_tilted_cuda(Device& device, const PlaneSize& size,
                                                    const Parameters& parameters) {
  return std::make_unique<TiltedCuda>(device, size, parameters);
}

}  // namespace cudavision::integral
