// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Packs: a thread holds a few adjacent pixels in an array of 32-bit words, in which samples have
// constant byte positions. Except for scattered samples and at the end of ragged rows, it loads and
// stores vectors of 16 bytes. Tests compile this for the host, and compare it with bytewise code.

#include <cstdint>
#include <cstring>

#include "cuda/core/view.h"
#include "cuda/pixels/packed_image.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision {

/// Builds a word from the bytes of low (indices 0 to 3) and high (indices 4 to 7). Nibble i of the
/// selector is the index of the byte that becomes byte i of the result.
CUDAVISION_HOST_DEVICE inline std::uint32_t select_bytes(std::uint32_t low, std::uint32_t high,
                                                         std::uint32_t selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(low, high, selector);
#else
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<std::uint32_t>(bytes >> (8 * (selector >> (4 * i) & 7)) & 0xff)
              << (8 * i);
  return result;
#endif
}

CUDAVISION_HOST_DEVICE inline std::uint32_t byte_of(std::uint32_t word, int number) {
  // A single instruction; a shift and a mask would take two.
  return select_bytes(word, 0, 0x4440u + number);
}

/// Returns sum plus the dot product of the bytes of a and b.
CUDAVISION_HOST_DEVICE inline std::uint32_t dot_bytes(std::uint32_t a, std::uint32_t b,
                                                      std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  return __dp4a(a, b, sum);
#else
  for (int i = 0; i < 4; ++i)
    sum += byte_of(a, i) * byte_of(b, i);
  return sum;
#endif
}

/// Returns sum + low half of halves · byte 0 + high half of halves · byte 1.
CUDAVISION_HOST_DEVICE inline std::uint32_t dot_low_bytes(std::uint32_t halves, std::uint32_t bytes,
                                                          std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  return __dp2a_lo(halves, bytes, sum);
#else
  return sum + (halves & 0xffff) * (bytes & 0xff) + (halves >> 16) * (bytes >> 8 & 0xff);
#endif
}
/// Like dot_low_bytes(), with bytes 2 and 3.
CUDAVISION_HOST_DEVICE inline std::uint32_t dot_high_bytes(std::uint32_t halves,
                                                           std::uint32_t bytes, std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  return __dp2a_hi(halves, bytes, sum);
#else
  return dot_low_bytes(halves, bytes >> 16, sum);
#endif
}

/// Returns the luminance of a pixel of four bytes, in the order of PackedImage's weights.
CUDAVISION_HOST_DEVICE inline std::uint32_t packed_luminance(std::uint32_t pixel,
                                                             const PackedImage& picture) {
  const std::uint32_t high = dot_bytes(pixel, picture.weights_high, 0);
  return luminance_of_sum(dot_bytes(pixel, picture.weights_low, high << 8));
}

CUDAVISION_HOST_DEVICE inline void load_words(const std::uint8_t* from, std::uint32_t* words) {
#ifdef __CUDA_ARCH__
  const uint4 vector = __ldg(reinterpret_cast<const uint4*>(from));
  words[0] = vector.x;
  words[1] = vector.y;
  words[2] = vector.z;
  words[3] = vector.w;
#else
  std::memcpy(words, from, 16);
#endif
}

CUDAVISION_HOST_DEVICE inline void store_words(std::uint8_t* to, const std::uint32_t* words) {
#ifdef __CUDA_ARCH__
  *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
#else
  std::memcpy(to, words, 16);
#endif
}

CUDAVISION_HOST_DEVICE inline std::uint32_t load_word(const std::uint8_t* from) {
#ifdef __CUDA_ARCH__
  return __ldg(reinterpret_cast<const std::uint32_t*>(from));
#else
  std::uint32_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
#endif
}

CUDAVISION_HOST_DEVICE inline void store_word(std::uint8_t* to, std::uint32_t word) {
#ifdef __CUDA_ARCH__
  *reinterpret_cast<std::uint32_t*>(to) = word;
#else
  std::memcpy(to, &word, sizeof word);
#endif
}

/// Loads 16·kVectors bytes from an address divisible by 16. Only the first `existing` bytes are in
/// the row; the others become zero. In rows that are not ragged, all bytes exist.
template <int kVectors, Rows kRows>
CUDAVISION_HOST_DEVICE inline void load_row(const std::uint8_t* from, int existing,
                                            std::uint32_t* words) {
  if (kRows != Rows::ragged || existing >= 16 * kVectors) {
    CUDAVISION_UNROLL
    for (int p = 0; p < kVectors; ++p)
      load_words(from + 16 * p, words + 4 * p);
    return;
  }
  const int whole_words = existing > 0 ? existing / 4 : 0;
  std::uint32_t last = 0;
  CUDAVISION_UNROLL
  for (int b = 0; b < 3; ++b)
    if (4 * whole_words + b < existing)
      last |= static_cast<std::uint32_t>(from[4 * whole_words + b]) << (8 * b);
  CUDAVISION_UNROLL
  for (int w = 0; w < 4 * kVectors; ++w)
    words[w] = w < whole_words ? load_word(from + 4 * w) : w == whole_words ? last : 0;
}

template <int kVectors, Rows kRows>
CUDAVISION_HOST_DEVICE inline void store_row(std::uint8_t* to, int existing,
                                             const std::uint32_t* words) {
  if (kRows != Rows::ragged || existing >= 16 * kVectors) {
    CUDAVISION_UNROLL
    for (int p = 0; p < kVectors; ++p)
      store_words(to + 16 * p, words + 4 * p);
    return;
  }
  const int whole_words = existing > 0 ? existing / 4 : 0;
  std::uint32_t last = 0;
  CUDAVISION_UNROLL
  for (int w = 0; w < 4 * kVectors; ++w) {
    if (w < whole_words)
      store_word(to + 4 * w, words[w]);
    if (w == whole_words)
      last = words[w];
  }
  CUDAVISION_UNROLL
  for (int b = 0; b < 3; ++b)
    if (4 * whole_words + b < existing)
      to[4 * whole_words + b] = static_cast<std::uint8_t>(byte_of(last, b));
}

/// Returns how many pixels of a pack are in the picture: all, except at the end of ragged rows.
template <class Pack, Rows kRows>
CUDAVISION_HOST_DEVICE inline int pixels_in(const PackedImage& picture,
                                            const PackCursor<kRows>& at) {
  if (kRows != Rows::ragged)
    return Pack::pixels;
  const int left = picture.width - at.x * Pack::pixels;
  return left < 0 ? 0 : left < Pack::pixels ? left : Pack::pixels;
}

/// Packs of adjacent bytes: kWords words, divided equally over kPlanes planes.
template <int kWords, int kPlanes = 1>
struct DensePack {
  static constexpr int words = kWords;

  template <Rows kRows>
  CUDAVISION_HOST_DEVICE static void load(const PackedImage& picture, const PackCursor<kRows>& at,
                                          std::uint32_t* data) {
    CUDAVISION_UNROLL
    for (int p = 0; p < kPlanes; ++p) {
      const PlanePair& plane = picture.planes[p];
      load_row<share / 4, kRows>(plane.in_row(at.y) + row_offset(at.x, 4 * share),
                                 picture.row_bytes - static_cast<int>(row_offset(at.x, 4 * share)),
                                 data + share * p);
    }
  }
  template <Rows kRows>
  CUDAVISION_HOST_DEVICE static void store(const PackedImage& picture, const PackCursor<kRows>& at,
                                           const std::uint32_t* data) {
    CUDAVISION_UNROLL
    for (int p = 0; p < kPlanes; ++p) {
      const PlanePair& plane = picture.planes[p];
      store_row<share / 4, kRows>(plane.out_row(at.y) + row_offset(at.x, 4 * share),
                                  picture.row_bytes - static_cast<int>(row_offset(at.x, 4 * share)),
                                  data + share * p);
    }
  }

 private:
  static constexpr int share = kWords / kPlanes;
};

/// Luma of 8 bits: byte kOffset of every kStep bytes.
template <int kStep, int kOffset>
struct LumaBytes : DensePack<4> {
  static constexpr bool colour = false;
  static constexpr int pixels = 16 / kStep;
  static constexpr int pixel_bytes = kStep;  ///< in each plane; 0 for packs of scattered samples

  CUDAVISION_HOST_DEVICE static std::uint32_t value(const std::uint32_t* data, int pixel,
                                                    const PackedImage&) {
    const int at = pixel * kStep + kOffset;
    return byte_of(data[at / 4], at % 4);
  }
  CUDAVISION_HOST_DEVICE static void set(std::uint32_t* data, int pixel, std::uint32_t value,
                                         const PackedImage&) {
    const int at = pixel * kStep + kOffset;
    // The selector keeps every byte except the replaced one.
    const std::uint32_t selector = (0x3210u & ~(0xfu << (4 * (at % 4)))) | 4u << (4 * (at % 4));
    data[at / 4] = select_bytes(data[at / 4], value, selector);
  }
};

/// Contiguous luma of 9 to 16 bits. kAllBits: words are 16-bit values, without shift or limit.
template <bool kAllBits>
struct LumaWords : DensePack<4> {
  static constexpr bool colour = false;
  static constexpr int pixels = 8;
  static constexpr int pixel_bytes = 2;

  CUDAVISION_HOST_DEVICE static std::uint32_t value(const std::uint32_t* data, int pixel,
                                                    const PackedImage& picture) {
    const std::uint32_t word = pixel % 2 ? data[pixel / 2] >> 16 : data[pixel / 2] & 0xffff;
    return kAllBits ? word : sample_value(word, picture.shift, picture.largest);
  }
  CUDAVISION_HOST_DEVICE static void set(std::uint32_t* data, int pixel, std::uint32_t value,
                                         const PackedImage& picture) {
    data[pixel / 2] = select_bytes(data[pixel / 2], kAllBits ? value : value << picture.shift,
                                   pixel % 2 ? 0x5410u : 0x3254u);
  }
};

/// Luma samples of one or two bytes at any address, one per word. Used for layouts and alignments
/// that the other packs do not support.
template <int kSampleBytes>
struct ScatteredLuma {
  static constexpr bool colour = false;
  static constexpr int pixels = 4;
  static constexpr int pixel_bytes = 0;
  static constexpr int words = 4;

  template <Rows kRows>
  CUDAVISION_HOST_DEVICE static void load(const PackedImage& picture, const PackCursor<kRows>& at,
                                          std::uint32_t* data) {
    const PlanePair& plane = picture.planes[0];
    const std::uint8_t* row = plane.in_row(at.y) + picture.offset[0];
    CUDAVISION_UNROLL
    for (int i = 0; i < pixels; ++i) {
      data[i] = 0;
      if (at.x * pixels + i >= picture.width)
        continue;
      const std::uint8_t* sample =
          row + static_cast<std::ptrdiff_t>(at.x * pixels + i) * picture.step[0];
      data[i] = sample[0];
      if (kSampleBytes == 2)
        data[i] |= static_cast<std::uint32_t>(sample[1]) << 8;
    }
  }
  template <Rows kRows>
  CUDAVISION_HOST_DEVICE static void store(const PackedImage& picture, const PackCursor<kRows>& at,
                                           const std::uint32_t* data) {
    const PlanePair& plane = picture.planes[0];
    std::uint8_t* row = plane.out_row(at.y) + picture.offset[0];
    CUDAVISION_UNROLL
    for (int i = 0; i < pixels; ++i) {
      if (at.x * pixels + i >= picture.width)
        continue;
      std::uint8_t* sample = row + static_cast<std::ptrdiff_t>(at.x * pixels + i) * picture.step[0];
      sample[0] = static_cast<std::uint8_t>(byte_of(data[i], 0));
      if (kSampleBytes == 2)
        sample[1] = static_cast<std::uint8_t>(byte_of(data[i], 1));
    }
  }
  CUDAVISION_HOST_DEVICE static std::uint32_t value(const std::uint32_t* data, int pixel,
                                                    const PackedImage& picture) {
    return kSampleBytes == 1 ? data[pixel]
                             : sample_value(data[pixel], picture.shift, picture.largest);
  }
  CUDAVISION_HOST_DEVICE static void set(std::uint32_t* data, int pixel, std::uint32_t value,
                                         const PackedImage& picture) {
    data[pixel] = kSampleBytes == 1 ? value : value << picture.shift;
  }
};

/// Colour pixels of kStep bytes. pixel() returns the bytes in memory order. If kStep is 3, the
/// fourth byte belongs to the next pixel: its weight is zero, and PackedImage::keep preserves it.
template <int kStep>
struct PackedColour : DensePack<kStep == 4 ? 4 : 12> {
  static constexpr bool colour = true;
  static constexpr int bytes = kStep;  ///< bytes per pixel, each of which may be a colour
  static constexpr int pixels = kStep == 4 ? 4 : 16;
  static constexpr int pixel_bytes = kStep;

  CUDAVISION_HOST_DEVICE static std::uint32_t pixel(const std::uint32_t* data, int number) {
    const int at = number * kStep;
    if (at % 4 == 0)
      return data[at / 4];
    const std::uint32_t next = at / 4 + 1 < PackedColour::words ? data[at / 4 + 1] : 0;
    constexpr std::uint32_t selectors[4] = {0x3210u, 0x4321u, 0x5432u, 0x6543u};
    return select_bytes(data[at / 4], next, selectors[at % 4]);
  }
  CUDAVISION_HOST_DEVICE static void set(std::uint32_t* data, int number, std::uint32_t pixel) {
    const int at = number * kStep;
    if (kStep == 4) {
      data[at / 4] = pixel;
      return;
    }
    // The three bytes begin at byte `at % 4` and may continue in the next word.
    constexpr std::uint32_t into_first[4] = {0x3654u, 0x6540u, 0x5410u, 0x4210u};
    constexpr std::uint32_t into_second[4] = {0x3210u, 0x3210u, 0x3216u, 0x3265u};
    data[at / 4] = select_bytes(data[at / 4], pixel, into_first[at % 4]);
    if (at % 4 > 1)
      data[at / 4 + 1] = select_bytes(data[at / 4 + 1], pixel, into_second[at % 4]);
  }
};

/// Red, green and blue from three planes, in words 0 to 3, 4 to 7 and 8 to 11.
struct PlanarColour : DensePack<12, 3> {
  static constexpr bool colour = true;
  static constexpr int bytes = 3;
  static constexpr int pixels = 16;
  static constexpr int pixel_bytes = 1;

  CUDAVISION_HOST_DEVICE static std::uint32_t pixel(const std::uint32_t* data, int number) {
    const std::uint32_t b = number % 4;
    const std::uint32_t first_two =
        select_bytes(data[number / 4], data[4 + number / 4], b | (4 + b) << 4);
    return select_bytes(first_two, data[8 + number / 4], 0x0010u | (4 + b) << 8);
  }
  CUDAVISION_HOST_DEVICE static void set(std::uint32_t* data, int number, std::uint32_t pixel) {
    const int b = number % 4;
    CUDAVISION_UNROLL
    for (int c = 0; c < 3; ++c) {
      const std::uint32_t selector = (0x3210u & ~(0xfu << (4 * b))) | (4u + c) << (4 * b);
      data[4 * c + number / 4] = select_bytes(data[4 * c + number / 4], pixel, selector);
    }
  }
};

/// Red, green and blue at any address, one pixel per word.
struct ScatteredColour {
  static constexpr bool colour = true;
  static constexpr int bytes = 3;
  static constexpr int pixels = 4;
  static constexpr int pixel_bytes = 0;
  static constexpr int words = 4;

  template <Rows kRows>
  CUDAVISION_HOST_DEVICE static void load(const PackedImage& picture, const PackCursor<kRows>& at,
                                          std::uint32_t* data) {
    CUDAVISION_UNROLL
    for (int i = 0; i < pixels; ++i) {
      data[i] = 0;
      if (at.x * pixels + i >= picture.width)
        continue;
      CUDAVISION_UNROLL
      for (int c = 0; c < 3; ++c) {
        const PlanePair& plane = picture.planes[c];
        data[i] |= static_cast<std::uint32_t>(plane.in_row(
                       at.y)[picture.offset[c] +
                             static_cast<std::ptrdiff_t>(at.x * pixels + i) * picture.step[c]])
                   << (8 * c);
      }
    }
  }
  template <Rows kRows>
  CUDAVISION_HOST_DEVICE static void store(const PackedImage& picture, const PackCursor<kRows>& at,
                                           const std::uint32_t* data) {
    CUDAVISION_UNROLL
    for (int i = 0; i < pixels; ++i) {
      if (at.x * pixels + i >= picture.width)
        continue;
      CUDAVISION_UNROLL
      for (int c = 0; c < 3; ++c) {
        const PlanePair& plane = picture.planes[c];
        plane.out_row(at.y)[picture.offset[c] +
                            static_cast<std::ptrdiff_t>(at.x * pixels + i) * picture.step[c]] =
            static_cast<std::uint8_t>(byte_of(data[i], c));
      }
    }
  }
  CUDAVISION_HOST_DEVICE static std::uint32_t pixel(const std::uint32_t* data, int number) {
    return data[number];
  }
  CUDAVISION_HOST_DEVICE static void set(std::uint32_t* data, int number, std::uint32_t pixel) {
    data[number] = pixel;
  }
};

}  // namespace cudavision
