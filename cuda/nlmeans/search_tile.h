// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Compares patches of bytes, four adjacent patches at a time, in words of four bytes.

#include <cstdint>

#include "cuda/core/border.h"
#include "cuda/core/view.h"
#include "cuda/nlmeans/kernel_arguments.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::nlmeans {

CUDAVISION_HOST_DEVICE inline std::uint32_t byte_differences(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  return __vabsdiffu4(a, b);
#else
  std::uint32_t differences = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t x = byte_of(a, i), y = byte_of(b, i);
    differences |= (x < y ? y - x : x - y) << (8 * i);
  }
  return differences;
#endif
}

/// Returns four of the eight bytes of low and high, from byte `first` (0 to 3) on.
CUDAVISION_HOST_DEVICE inline std::uint32_t bytes_from(std::uint32_t low, std::uint32_t high,
                                                       int first) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, 8 * first);
#else
  return first == 0 ? low : low >> (8 * first) | high << (32 - 8 * first);
#endif
}

/// Mask of the bytes of word `word` (0 to 2) within kRadius bytes of byte `byte` of word 1.
template <int kRadius>
CUDAVISION_HOST_DEVICE constexpr std::uint32_t window_mask(int byte, int word) {
  std::uint32_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    const int distance = 4 * (word - 1) + i - byte;
    if (distance >= -kRadius && distance <= kRadius)
      mask |= 0xffu << (8 * i);
  }
  return mask;
}

/// Sets sums[i] to Σ b² of all channels' bytes b within kRadius of byte i of the middle word.
template <int kRadius, int kChannels>
CUDAVISION_HOST_DEVICE inline void sum_squares(const std::uint32_t (&words)[kChannels][3],
                                               std::uint32_t (&sums)[4]) {
  static_assert(kRadius >= 0 && kRadius <= 4, "wider windows do not fit three words");
  constexpr bool share_middle = kRadius == 3;
  std::uint32_t middle = 0;
  if (share_middle) {
    CUDAVISION_UNROLL
    for (int c = 0; c < kChannels; ++c)
      middle = dot_bytes(words[c][1], words[c][1], middle);
  }
  CUDAVISION_UNROLL
  for (int i = 0; i < 4; ++i)
    sums[i] = middle;
  CUDAVISION_UNROLL
  for (int c = 0; c < kChannels; ++c) {
    if (share_middle) {
      // Each window has three bytes outside the middle word, which fit into one word. The word's
      // fourth byte is byte 0 of the first word, which is in no window and therefore set to 0.
      const std::uint32_t first = words[c][0] & 0xffffff00u, last = words[c][2];
      const std::uint32_t others[4] = {first, select_bytes(first, last, 0x0432u),
                                       select_bytes(first, last, 0x0543u),
                                       select_bytes(first, last, 0x0654u)};
      CUDAVISION_UNROLL
      for (int i = 0; i < 4; ++i)
        sums[i] = dot_bytes(others[i], others[i], sums[i]);
    } else {
      CUDAVISION_UNROLL
      for (int i = 0; i < 4; ++i)
        CUDAVISION_UNROLL
      for (int w = 0; w < 3; ++w)
        if (const std::uint32_t mask = window_mask<kRadius>(i, w))
          sums[i] = dot_bytes(words[c][w] & mask, words[c][w], sums[i]);
    }
  }
}

/// Rows of words in shared memory, including a halo. Rows begin left_margin bytes left of the tile.
struct DenoisingTile {
  static constexpr int warps = 4;
  static constexpr int width = 128;       ///< bytes: one word per lane of a warp
  static constexpr int left_margin = 32;  ///< bytes; the right margin is as wide
  static constexpr int pitch = (width + 2 * left_margin) / 4;  ///< words
  /// A thread reads one word on either side of its own words.
  static constexpr int max_search_radius = left_margin - 4;

  CUDAVISION_HOST_DEVICE static int rows(int thread_rows, int halo) {
    return warps * thread_rows + 2 * halo;
  }

  /// Index of the word left of the lane's word, displaced by dx, in the tile copy for dx mod 4.
  CUDAVISION_HOST_DEVICE static int word(int lane, int dx) {
    return lane + left_margin / 4 - 1 + (dx >> 2);
  }
};

/// Loads a tile that begins at (left, top) of the searched frame, possibly outside the picture.
CUDAVISION_HOST_DEVICE inline void load_tile(const DenoisedPicture& picture,
                                             const DenoisedPlane& plane,
                                             const SearchedPlane& searched, int left, int top,
                                             int rows, int lane, int warp, std::uint32_t* words) {
  for (int word = lane; word < DenoisingTile::pitch; word += 32) {
    int offsets[4];
    CUDAVISION_UNROLL
    for (int i = 0; i < 4; ++i)
      offsets[i] = plane.offset + plane.step * border_index(left + 4 * word + i, picture.width,
                                                            Border::reflect_101);
    for (int y = warp; y < rows; y += DenoisingTile::warps) {
      const std::uint8_t* const row =
          searched.rows +
          static_cast<std::int64_t>(border_index(top + y, picture.height, Border::reflect_101)) *
              searched.pitch;
      std::uint32_t bytes = 0;
      CUDAVISION_UNROLL
      for (int i = 0; i < 4; ++i)
        bytes |= static_cast<std::uint32_t>(row[offsets[i]]) << (8 * i);
      words[y * DenoisingTile::pitch + word] = bytes;
    }
  }
}

struct PatchRows {
  const std::uint32_t* own;
  const std::uint32_t* other;  ///< the row at the current shift of the search
  int channel_words;           ///< words from one channel to the next
};

template <int kRadius, int kChannels, int kRows>
class PatchSums {
 public:
  CUDAVISION_HOST_DEVICE PatchSums() {
    CUDAVISION_UNROLL
    for (int y = 0; y < kRows; ++y)
      CUDAVISION_UNROLL
    for (int i = 0; i < 4; ++i) {
      weights_[y][i] = 0;
      CUDAVISION_UNROLL
      for (int c = 0; c < kChannels; ++c)
        sums_[y][c][i] = 0;
    }
  }

  /// Adds the contribution of one shift. weight(distance) returns the weight of a patch.
  template <class Weight>
  CUDAVISION_HOST_DEVICE void add(const PatchRows& rows, const Weight& weight) {
    std::uint32_t columns[4] = {};
    std::uint32_t window[patch][4];                 // sums of the rows within the patches
    std::uint32_t centres[kRadius + 1][kChannels];  // samples to weight
    CUDAVISION_UNROLL
    for (int y = 0; y < kRows + 2 * kRadius; ++y) {
      std::uint32_t differences[kChannels][3];
      CUDAVISION_UNROLL
      for (int c = 0; c < kChannels; ++c) {
        const int at = c * rows.channel_words + y * DenoisingTile::pitch;
        CUDAVISION_UNROLL
        for (int w = 0; w < 3; ++w) {
          const std::uint32_t other = rows.other[at + w];
          differences[c][w] = byte_differences(rows.own[at + w], other);
          if (w == 1)
            centres[y % (kRadius + 1)][c] = other;
        }
      }
      std::uint32_t sums[4];
      sum_squares<kRadius>(differences, sums);
      CUDAVISION_UNROLL
      for (int i = 0; i < 4; ++i) {
        columns[i] += sums[i] - (y < patch ? 0 : window[y % patch][i]);
        window[y % patch][i] = sums[i];
      }
      if (y < 2 * kRadius)
        continue;
      const int row = y - 2 * kRadius;
      CUDAVISION_UNROLL
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t w = weight(columns[i]);
        weights_[row][i] += w;
        CUDAVISION_UNROLL
        for (int c = 0; c < kChannels; ++c)
          sums_[row][c][i] += w * byte_of(centres[(y - kRadius) % (kRadius + 1)][c], i);
      }
    }
  }

  CUDAVISION_HOST_DEVICE std::uint32_t mean(int row, int channel, int i) const {
    const std::uint32_t weight = weights_[row][i];
    return (sums_[row][channel][i] + weight / 2) / weight;
  }

 private:
  static constexpr int patch = 2 * kRadius + 1;

  std::uint32_t weights_[kRows][4];
  std::uint32_t sums_[kRows][kChannels][4];
};

struct TileShare {
  const std::uint32_t* words;
  int channel_words;
  int lane;
  int first_row;  ///< first row that the thread denoises
};

/// Adds all shifts with dx mod 4 = phase. shifted is the tile copy that is shifted by phase bytes.
template <class Sums, class Weight>
CUDAVISION_HOST_DEVICE inline void add_shifts(Sums& sums, const TileShare& share,
                                              const std::uint32_t* shifted, int phase,
                                              int search_radius, const Weight& weight) {
  PatchRows rows;
  rows.own = share.words + (share.first_row + search_radius) * DenoisingTile::pitch +
             DenoisingTile::word(share.lane, 0);
  rows.channel_words = share.channel_words;
  for (int dx = -search_radius + ((search_radius + phase) & 3); dx <= search_radius; dx += 4) {
    rows.other =
        shifted + share.first_row * DenoisingTile::pitch + DenoisingTile::word(share.lane, dx);
    for (int dy = -search_radius; dy <= search_radius; ++dy) {
      sums.add(rows, weight);
      rows.other += DenoisingTile::pitch;
    }
  }
}

}  // namespace cudavision::nlmeans
