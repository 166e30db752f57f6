// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend, with one launch per frame. If has_chunks(), a thread scales a chunk of adjacent
// chroma samples in both channels; otherwise, and at the end of rows, one sample of each channel.
// Instructions limit the speed, so chunks of bytes use packed instructions and no divisions.

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

/// The samples of a channel. pitch and step are in bytes.
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
  int width, height;  // size of the chroma
  int chunks;         // chunks per row
  // Half the number of threads per row. quotient() accepts dividends below 2^31, but a launch may
  // have almost 2^32 threads, so the kernel divides the index of a pair of threads.
  Division half_row;
  int subsampling_x, subsampling_y;
  int shift;
  std::uint32_t largest;
  Range range;
};

/// Chroma samples per chunk. The luma of a chunk fills 16 bytes.
CUDAVISION_HOST_DEVICE constexpr int chunk_samples(int sample_bytes) {
  return 8 / sample_bytes;
}

template <class Sample>
__device__ int value_of(const ChromaArguments& a, std::uint32_t word) {
  return sizeof(Sample) == 1 ? static_cast<int>(word)
                             : static_cast<int>(sample_value(word, a.shift, a.largest));
}

/// Returns growth() for sample `number` of a vector of luma words.
template <class Sample>
__device__ int growth_in(const ChromaArguments& a, const std::uint32_t* before,
                         const std::uint32_t* after, int number) {
  if constexpr (sizeof(Sample) == 1)
    return growth_of_byte(before[number / 4], after[number / 4], number % 4, a.range);
  const auto value = [&](const std::uint32_t* words) {
    return value_of<Sample>(a, words[number / 2] >> (16 * (number % 2)) & 0xffff);
  };
  return growth(value(before), value(after), a.range);
}

/// Scales one chroma sample of each channel. Samples of two bytes may be at odd addresses.
template <class Sample>
__device__ void scale_one(const ChromaArguments& a, int x, int y) {
  const auto load = [&](const auto& channel, int at_x, int at_y) {
    const std::uint8_t* const from = channel.at(at_x, at_y);
    return sizeof(Sample) == 1 ? from[0] : from[0] | std::uint32_t{from[1]} << 8;
  };
  const int luma_x = x * a.subsampling_x, luma_y = y * a.subsampling_y;
  const std::uint32_t before = load(a.luma, luma_x, luma_y),
                      after = load(a.new_luma, luma_x, luma_y);
  const int r = growth_in<Sample>(a, &before, &after, 0);
  for (int c = 0; c < 2; ++c) {
    const std::uint32_t word = scaled(value_of<Sample>(a, load(a.from[c], x, y)), r, a.range)
                               << a.shift;
    std::uint8_t* const to = a.to[c].at(x, y);
    to[0] = static_cast<std::uint8_t>(word);
    if (sizeof(Sample) == 2)
      to[1] = static_cast<std::uint8_t>(word >> 8);
  }
}

template <int kCount>
struct alignas(4 * kCount) Words {
  std::uint32_t of[kCount];
};

/// Scales four bytes, byte i by growths[i].
__device__ std::uint32_t scaled_word(const ChromaArguments& a, std::uint32_t word,
                                     const int (&growths)[4]) {
  // Bytes 1 and 2 of a product hold the result before it is clamped.
  const auto product = [&](int i) {
    const auto r = static_cast<std::uint32_t>(growths[i]);
    const std::uint32_t rest = 128 * 256 + 128 - 128 * r;
    return i < 2 ? dot_low_bytes(r << (16 * i), word, rest)
                 : dot_high_bytes(r << (16 * (i - 2)), word, rest);
  };
  const std::uint32_t low = a.range.low * 0x10001u, high = a.range.high * 0x10001u;
  const auto limited = [&](std::uint32_t chroma, std::uint32_t results) {
    return __vmins2(__vmaxs2(results, __vmins2(chroma, low)), __vmaxs2(chroma, high));
  };
  return select_bytes(
      limited(select_bytes(word, 0, 0x4140), select_bytes(product(0), product(1), 0x6521)),
      limited(select_bytes(word, 0, 0x4342), select_bytes(product(2), product(3), 0x6521)), 0x6420);
}

/// Scales two samples of two bytes each.
__device__ std::uint32_t scaled_word(const ChromaArguments& a, std::uint32_t word,
                                     const int (&growths)[2]) {
  const auto sample = [&](int i) {
    const int chroma = value_of<std::uint16_t>(a, word >> (16 * i) & 0xffff);
    return static_cast<std::uint32_t>(scaled(chroma, growths[i], a.range)) << a.shift;
  };
  return sample(0) | sample(1) << 16;
}

/// Scales a chunk of both channels from column x on. kInterleaved: both are in one plane.
template <class Sample, bool kInterleaved>
__device__ void scale_chunk(const ChromaArguments& a, int x, int y) {
  constexpr int count = chunk_samples(sizeof(Sample)), per_word = 4 / sizeof(Sample);
  constexpr int planes = kInterleaved ? 1 : 2;
  using Chroma = Words<4 / planes>;
  const int luma_y = y * a.subsampling_y;
  const auto before = *reinterpret_cast<const Words<4>*>(a.luma.at(2 * x, luma_y));
  const auto after = *reinterpret_cast<const Words<4>*>(a.new_luma.at(2 * x, luma_y));
  Chroma chroma[planes];
#pragma unroll
  for (int p = 0; p < planes; ++p)
    chroma[p] = *reinterpret_cast<const Chroma*>(a.from[p].at(x, y));
  int growths[count];
#pragma unroll
  for (int i = 0; i < count; ++i)
    growths[i] = growth_in<Sample>(a, before.of, after.of, 2 * i);
#pragma unroll
  for (int p = 0; p < planes; ++p) {
#pragma unroll
    for (int w = 0; w < 4 / planes; ++w) {
      int of_word[per_word];
#pragma unroll
      for (int i = 0; i < per_word; ++i)
        of_word[i] = growths[(w * per_word + i) / (kInterleaved ? 2 : 1)];
      chroma[p].of[w] = scaled_word(a, chroma[p].of[w], of_word);
    }
    *reinterpret_cast<Chroma*>(a.to[p].at(x, y)) = chroma[p];
  }
}

template <class Sample, bool kInterleaved>
__global__ void __launch_bounds__(threads)
    chroma_kernel(const __grid_constant__ ChromaArguments a) {
  launch_dependents();
  const std::uint32_t thread = blockIdx.x * threads + threadIdx.x;
  const auto y = static_cast<int>(quotient(thread / 2, a.half_row));
  const auto number = static_cast<int>(thread - 2 * y * a.half_row.divisor);
  grid_dependency_wait();
  if (y >= a.height)
    return;
  constexpr int samples = chunk_samples(sizeof(Sample));
  if (number < a.chunks)
    scale_chunk<Sample, kInterleaved>(a, samples * number, y);
  else if (const int x = number + a.chunks * (samples - 1); x < a.width)
    scale_one<Sample>(a, x, y);
}

class ChromaScaleCuda final : public ChromaScale::Backend {
 public:
  ChromaScaleCuda(Device& device, const FrameLayout& layout)
      : layout_(layout),
        channels_(layout),
        launch_(device.stream(), chroma_kernel<std::uint8_t, false>) {
    const Channel& first = channels_.chroma[0];
    arguments_.width = first.width;
    arguments_.height = first.height;
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
    // A chunk reads two luma samples per chroma sample. If the width is odd, the last chroma sample
    // has only one luma sample and is not part of a chunk.
    const int samples = chunk_samples(layout_.sample_bytes());
    a.chunks = has_chunks() ? channels_.luma.width / 2 / samples : 0;
    const int half_row = divide_up(a.width - a.chunks * (samples - 1), 2);
    a.half_row = make_division(static_cast<std::uint32_t>(half_row));
    launch_(kernel(), divide_up(2u * half_row * a.height, threads), threads, 0, a);
  }

 private:
  Launcher<ChromaArguments>::Kernel kernel() const {
    if (layout_.bits == 8)
      return interleaved_ ? chroma_kernel<std::uint8_t, true> : chroma_kernel<std::uint8_t, false>;
    return interleaved_ ? chroma_kernel<std::uint16_t, true> : chroma_kernel<std::uint16_t, false>;
  }

  /// Returns true if the samples of chunks are contiguous and aligned, and subsampling_x is 2.
  bool has_chunks() const {
    const ChromaArguments& a = arguments_;
    const int bytes = layout_.sample_bytes(), chroma_step = interleaved_ ? 2 * bytes : bytes;
    const auto fits = [&](const auto& channel, int step, int chunk) {
      const auto address = reinterpret_cast<std::uintptr_t>(channel.first) |
                           static_cast<std::uintptr_t>(channel.pitch);
      return channel.step == step && address % static_cast<unsigned>(chunk) == 0;
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
    return {plane.data + channel.offset * bytes, kernel_pitch("chroma scaling", plane.pitch),
            channel.step * bytes};
  }

  FrameLayout layout_;
  Channels channels_;
  bool interleaved_ = false;  // the two chroma channels alternate in one plane
  Launcher<ChromaArguments> launch_;
  ChromaArguments arguments_{};
};

}  // namespace

std::unique_ptr<ChromaScale::Backend> make_chroma_scale_cuda(Device& device,
                                                             const FrameLayout& layout) {
  return std::make_unique<ChromaScaleCuda>(device, layout);
}

}  // namespace cudavision::chroma
