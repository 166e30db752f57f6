// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend: one launch. Where rows are aligned, a thread takes a chunk of neighbouring
// chroma samples of both channels; the others have a thread each.

#include <utility>

#include "cuda/chroma/arithmetic.h"
#include "cuda/chroma/backend.h"
#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::chroma {
namespace {

constexpr int threads = 256;

/// The samples of a channel. Distances are in bytes.
template <class Byte>
struct ChannelBytes {
  Byte* first;
  int pitch, step;

  __device__ Byte* at(int x, int y) const {
    return first + static_cast<std::int64_t>(y) * pitch + static_cast<std::int64_t>(x) * step;
  }
};

struct ChromaArguments {
  ChannelBytes<const std::uint8_t> luma, new_luma;
  ChannelBytes<const std::uint8_t> from[2];
  ChannelBytes<std::uint8_t> to[2];
  int width;   // of the chroma
  int chunks;  // in a row
  Division blocks_per_row;
  int subsampling_x, subsampling_y;
  int shift;
  std::uint32_t largest;
  Range range;
};

/// Chroma samples of a chunk, whose luma fills 16 bytes.
CUDAVISION_HOST_DEVICE constexpr int chunk_samples(int sample_bytes) {
  return 8 / sample_bytes;
}

template <class Sample, int kCount>
struct alignas(kCount * sizeof(Sample)) Samples {
  Sample of[kCount];
};

template <class Sample>
__device__ int value_of(const ChromaArguments& a, std::uint32_t word) {
  return sizeof(Sample) == 1 ? static_cast<int>(word)
                             : static_cast<int>(sample_value(word, a.shift, a.largest));
}

/// Divides numbers of samples by one multiplication if they have 8 bits.
template <class Sample>
struct Divider {
  const std::uint32_t* multipliers;  // in shared memory

  __device__ std::uint32_t operator()(std::uint32_t n, std::uint32_t d) const {
    return sizeof(Sample) == 1 ? __umulhi(2 * n, multipliers[d]) : n / d;
  }
};

/// Takes one chroma sample of both channels. Words may be at odd addresses.
template <class Sample>
__device__ void scale_one(const ChromaArguments& a, int x, int y, const Divider<Sample>& divider) {
  const auto load = [&](const auto& channel, int at_x, int at_y) {
    const std::uint8_t* const from = channel.at(at_x, at_y);
    return value_of<Sample>(a,
                            sizeof(Sample) == 1 ? from[0] : from[0] | std::uint32_t{from[1]} << 8);
  };
  const int luma_x = x * a.subsampling_x, luma_y = y * a.subsampling_y;
  const int r =
      growth(load(a.luma, luma_x, luma_y), load(a.new_luma, luma_x, luma_y), a.range, divider);
  for (int c = 0; c < 2; ++c) {
    const std::uint32_t word = scaled(load(a.from[c], x, y), r, a.range) << a.shift;
    std::uint8_t* const to = a.to[c].at(x, y);
    to[0] = static_cast<std::uint8_t>(word);
    if (sizeof(Sample) == 2)
      to[1] = static_cast<std::uint8_t>(word >> 8);
  }
}

/// Takes a chunk of both channels, from column x on. If kInterleaved, they alternate in
/// one plane.
template <class Sample, bool kInterleaved>
__device__ void scale_chunk(const ChromaArguments& a, int x, int y,
                            const Divider<Sample>& divider) {
  constexpr int count = chunk_samples(sizeof(Sample));
  using Luma = Samples<Sample, 2 * count>;
  using Chroma = Samples<Sample, kInterleaved ? 2 * count : count>;
  constexpr int planes = kInterleaved ? 1 : 2;
  const int luma_y = y * a.subsampling_y;
  const auto before = *reinterpret_cast<const Luma*>(a.luma.at(2 * x, luma_y));
  const auto after = *reinterpret_cast<const Luma*>(a.new_luma.at(2 * x, luma_y));
  Chroma chroma[planes];
#pragma unroll
  for (int p = 0; p < planes; ++p)
    chroma[p] = *reinterpret_cast<const Chroma*>(a.from[p].at(x, y));
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const int r = growth(value_of<Sample>(a, before.of[2 * i]),
                         value_of<Sample>(a, after.of[2 * i]), a.range, divider);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      Sample& sample = kInterleaved ? chroma[0].of[2 * i + c] : chroma[c % planes].of[i];
      sample = static_cast<Sample>(scaled(value_of<Sample>(a, sample), r, a.range) << a.shift);
    }
  }
#pragma unroll
  for (int p = 0; p < planes; ++p)
    *reinterpret_cast<Chroma*>(a.to[p].at(x, y)) = chroma[p];
}

template <class Sample, bool kInterleaved>
__global__ void __launch_bounds__(threads)
    chroma_kernel(const __grid_constant__ ChromaArguments a) {
  __shared__ std::uint32_t multipliers[256];
  static_assert(threads == 256);
  launch_dependents();
  if (sizeof(Sample) == 1)
    multipliers[threadIdx.x] = multiplier_of(max(threadIdx.x, 1u));
  __syncthreads();
  const unsigned row = quotient(blockIdx.x, a.blocks_per_row);
  const unsigned block = blockIdx.x - row * a.blocks_per_row.divisor;
  const int unit = static_cast<int>(block * threads + threadIdx.x), y = static_cast<int>(row);
  grid_dependency_wait();
  const Divider<Sample> divider{multipliers};
  constexpr int samples = chunk_samples(sizeof(Sample));
  if (unit < a.chunks)
    scale_chunk<Sample, kInterleaved>(a, samples * unit, y, divider);
  else if (const int x = unit + a.chunks * (samples - 1); x < a.width)
    scale_one<Sample>(a, x, y, divider);
}

class ChromaScaleCuda final : public ChromaScale::Backend {
 public:
  ChromaScaleCuda(Device& device, const FrameLayout& layout)
      : layout_(layout),
        channels_(layout),
        launch_(device.stream(), chroma_kernel<std::uint8_t, false>) {
    const Channel& first = channels_.chroma[0];
    arguments_.width = first.width;
    arguments_.subsampling_x = first.subsampling_x;
    arguments_.subsampling_y = first.subsampling_y;
    arguments_.shift = layout.shift;
    arguments_.largest = (1u << layout.bits) - 1;
    interleaved_ = first.step == 2;
    if (interleaved_ && first.offset > channels_.chroma[1].offset)
      std::swap(channels_.chroma[0], channels_.chroma[1]);
  }

  void set(const Parameters& parameters) override {
    arguments_.range = Range(layout_.bits, parameters.limited_range);
  }

  void run(const ConstFrame& in, const Frame& out) override {
    ChromaArguments& a = arguments_;
    a.luma = bytes_of(in, channels_.luma);
    a.new_luma = bytes_of(ConstFrame(out), channels_.luma);
    for (int c = 0; c < 2; ++c) {
      a.from[c] = bytes_of(in, channels_.chroma[c]);
      a.to[c] = bytes_of(out, channels_.chroma[c]);
    }
    // A chunk reads the luma of two pixels for each chroma sample, which the last one may lack.
    const int samples = chunk_samples(layout_.sample_bytes());
    a.chunks = has_chunks() ? channels_.luma.width / 2 / samples : 0;
    const int blocks = divide_up(a.width - a.chunks * (samples - 1), threads);
    a.blocks_per_row = make_division(static_cast<std::uint32_t>(blocks));
    launch_(kernel(), static_cast<unsigned>(blocks * channels_.chroma[0].height), threads, 0, a);
  }

 private:
  Launcher<ChromaArguments>::Kernel kernel() const {
    if (layout_.bits == 8)
      return interleaved_ ? chroma_kernel<std::uint8_t, true> : chroma_kernel<std::uint8_t, false>;
    return interleaved_ ? chroma_kernel<std::uint16_t, true> : chroma_kernel<std::uint16_t, false>;
  }

  /// True if the samples of a chunk are contiguous and aligned, in all channels.
  bool has_chunks() const {
    const ChromaArguments& a = arguments_;
    const int bytes = layout_.sample_bytes(), chroma_step = interleaved_ ? 2 * bytes : bytes;
    const auto fits = [&](const auto& channel, int step, int chunk) {
      const auto place = reinterpret_cast<std::uintptr_t>(channel.first) |
                         static_cast<std::uintptr_t>(channel.pitch);
      return channel.step == step && place % static_cast<unsigned>(chunk) == 0;
    };
    const int samples = chunk_samples(bytes);
    const auto chroma_fits = [&](const auto(&channels)[2]) {
      return fits(channels[0], chroma_step, samples * chroma_step) &&
             (interleaved_ ? channels[1].first == channels[0].first + bytes
                           : fits(channels[1], chroma_step, samples * chroma_step));
    };
    return a.subsampling_x == 2 && fits(a.luma, bytes, 2 * samples * bytes) &&
           fits(a.new_luma, bytes, 2 * samples * bytes) && chroma_fits(a.from) && chroma_fits(a.to);
  }

  template <class Byte>
  ChannelBytes<Byte> bytes_of(const BasicFrame<Byte>& frame, const Channel& channel) const {
    const View<Byte>& plane = frame.planes[channel.plane];
    const int bytes = layout_.sample_bytes();
    return {plane.data + channel.offset * bytes, kernel_pitch("scaling of chroma", plane.pitch),
            channel.step * bytes};
  }

  FrameLayout layout_;
  Channels channels_;
  bool interleaved_ = false;  // both channels alternate in one plane
  Launcher<ChromaArguments> launch_;
  ChromaArguments arguments_{};
};

}  // namespace

std::unique_ptr<ChromaScale::Backend> make_chroma_scale_cuda(Device& device,
                                                             const FrameLayout& layout) {
  return std::make_unique<ChromaScaleCuda>(device, layout);
}

}  // namespace cudavision::chroma
